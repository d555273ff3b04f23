from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from rtolab import cli_serve, run, sweep
from rtolab._rtolab import Error
from rtolab.campaign import Campaign, Settings
from rtolab.experiments import find
from rtolab.run import shipped_scenarios
from rtolab.serve.app import Explorer
from rtolab.serve.limits import Limits
from serving import HOLD, resident, server, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

CAPTURE = Path(__file__).parent / "captures" / "stall-3s-acks-sack-frto-off.sender.pcapng.gz"
HOST = "http://127.0.0.1:8642"
JSON = {"Content-Type": "application/json"}
BINARY = {"Content-Type": "application/octet-stream"}
POSTS = ("scenario", "check", "run", "what-if", "branch", "download/html")
HEAVY = """\
title = "More than a request may take"
duration = "100000 s"

[[link]]
name = "fat"
between = ["a", "b"]
rate = "10 Gbit/s"
delay = "1 ms"
queue = "100 MB"

[[flow]]
name = "endless"
from = "a"
to = "b"
"""


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(Explorer(Limits()).app(), base_url=HOST) as client:
        yield client


@pytest.fixture(scope="module")
def strict() -> Iterator[TestClient]:
    """A server that allows little."""
    limits = Limits(at_once=1, run_s=3, capture=10_000, request=20_000, packets=100)
    with TestClient(Explorer(limits).app(), base_url=HOST) as client:
        yield client


def told(response: Any) -> dict[str, Any]:
    error: dict[str, Any] = response.json()["error"]
    return error


def test_a_run_is_the_one_of_the_command_line(client: TestClient) -> None:
    found = unpack(client.post("/api/run", json=HOLD | {"seed": 7}).content)
    senders = ["newreno", "newreno+frto"]
    result = run("hold", sender=senders, seed=7, trace=True, windows=True, judge="all")
    for number, sender in enumerate(found["senders"]):
        connection = result.connections.row(number, named=True)
        assert sender["name"] == connection["sender"]
        assert {name: connection[name] for name in sender["totals"]} == sender["totals"]
        mine = result.segments.filter(pl.col("run") == number, pl.col("len") > 0)
        sent = mine.filter(pl.col("event") == "sent")
        assert sender["packets"]["at_s"].tolist() == sent["at_s"].to_list()
        unneeded = sender["packets"]["kind"] == sender["names"]["kind"].index("unneeded")
        assert unneeded.tolist() == sent["unneeded"].to_list()
        windows = result.windows.filter(pl.col("run") == number)
        assert sender["windows"]["cwnd"].tolist() == windows["cwnd"].to_list()
        assert np.isnan(sender["windows"]["ssthresh"][0])
    newreno, frto = (sender["totals"] for sender in found["senders"])
    assert newreno["unneeded"] > frto["unneeded"] == 1


def test_a_packet_knows_why_it_was_sent(client: TestClient) -> None:
    sender = unpack(client.post("/api/run", json=HOLD).content)["senders"][0]
    causes = [sender["names"]["cause"][code] for code in sender["packets"]["cause"]]
    again = [cause for cause in causes if cause != "new"]
    assert again[0] == "timeout"
    assert set(again[1:]) == {"after a timeout"}
    assert len(again) == sender["totals"]["retransmissions"]
    since = sender["packets"]["cause_s"]
    assert set(since[~np.isnan(since)]) == {sender["timeouts"][0]["at_s"]}


def test_each_timeout_has_its_truth_and_every_detectors_verdict(client: TestClient) -> None:
    senders = unpack(client.post("/api/run", json=HOLD).content)["senders"]
    first = senders[1]["timeouts"][0]
    assert (first["kind"], first["truth"], first["verdict"]) == ("timeout", "spurious", "spurious")
    verdicts = {one["detector"]: one["verdict"] for one in first["verdicts"]}
    assert verdicts["frto"] == "spurious"
    assert verdicts["eifel"] == "blind"


def test_packets_are_seen_at_either_host(client: TestClient) -> None:
    at_sender, at_receiver = (
        unpack(client.post("/api/run", json=HOLD | {"place": place}).content)["senders"][0]
        for place in ("sender", "receiver")
    )
    arrived = at_receiver["packets"]
    assert (arrived["at_s"] > arrived["sent_s"]).all()
    assert set(arrived["sent_s"]) <= set(at_sender["packets"]["at_s"])


def test_of_too_many_packets_some_are_left_out_until_one_looks_closer(
    client: TestClient, strict: TestClient
) -> None:
    whole = unpack(client.post("/api/run", json=HOLD).content)["senders"][0]
    thin = unpack(strict.post("/api/run", json=HOLD).content)["senders"][0]
    assert (whole["every"], thin["every"]) == (1, 8)
    assert len(thin["packets"]["at_s"]) < 130
    # Nothing that is left is told otherwise than in the whole.
    known = dict(zip(whole["packets"]["at_s"], whole["packets"]["acked_s"], strict=True))
    for at, acked in zip(thin["packets"]["at_s"], thin["packets"]["acked_s"], strict=True):
        if list(whole["packets"]["at_s"]).count(at) == 1:
            assert acked == known[at]
    kinds = thin["packets"]["kind"].tolist()
    assert kinds.count(thin["names"]["kind"].index("unneeded")) > 31 / 4
    near = unpack(strict.post("/api/run", json=HOLD | {"between": [2, 3.2]}).content)["senders"][0]
    assert near["every"] == 1
    inside = (whole["packets"]["at_s"] >= 2) & (whole["packets"]["at_s"] <= 3.2)
    assert near["packets"]["at_s"].tolist() == whole["packets"]["at_s"][inside].tolist()


def test_a_packet_knows_when_it_was_acknowledged(client: TestClient) -> None:
    sender = unpack(client.post("/api/run", json=HOLD).content)["senders"][0]
    packets, acks = sender["packets"], sender["acks"]
    for number in range(0, len(packets["at_s"]), 7):
        end = packets["seq"][number] + packets["len"][number]
        by_hand = next(at for at, ack in zip(acks["at_s"], acks["ack"], strict=True) if ack >= end)
        assert packets["acked_s"][number] == by_hand


@pytest.mark.parametrize("name", sorted(shipped_scenarios()))
def test_every_shipped_scenario_is_checked_and_begins_the_sliders(
    client: TestClient, name: str
) -> None:
    asked = {"scenario": name, "senders": ["newreno"]}
    assert client.post("/api/check", json=asked).json() == {}
    found = client.post("/api/scenario", json=asked).json()
    assert found["toml"] == shipped_scenarios()[name].read_text(encoding="utf-8")
    assert found["links"]
    assert found["duration"]


def test_sliders_begin_where_the_scenario_stands(client: TestClient) -> None:
    found = client.post("/api/scenario", json={"scenario": "hold"}).json()
    stall = {"at": "1 s", "for": "2 s"}
    link = {"name": "radio", "rate": "1 Mbit/s", "delay": "100 ms", "loss": None, "stall": stall}
    keys = {name: name for name in ("rate", "delay", "loss", "stalls")}
    assert found["links"] == [link | {"keys": keys, "troubled": True}]
    # Where data has values of its own, those are dragged.
    own = client.post("/api/scenario", json={"scenario": "stall"}).json()["links"][0]
    assert (own["keys"]["stalls"], own["keys"]["rate"]) == ("forward.stalls", "rate")


@pytest.mark.parametrize(
    ("asked", "place", "words"),
    [
        ({"toml": "title = "}, ("scenario", 1, None), "expected"),
        ({"toml": "duration = 3\n"}, ("scenario", 1, None), "without a unit"),
        ({"set": {"link.radio.rate": "fast"}}, ("set", None, "link.radio.rate"), "28.8 kbit/s"),
        ({"set": {"link.moon.rate": "1 Mbit/s"}}, ("set", None, "link.moon.rate"), "radio"),
        ({"senders": ["newrino"]}, ("sender", None, None), "newreno"),
        (
            {"toml": HEAVY.replace('to = "b"', 'to = "c"')},
            ("scenario", 14, None),
            "flow.endless.to",
        ),
    ],
)
def test_what_is_wrong_is_told_where_it_is(
    client: TestClient, asked: dict[str, Any], place: tuple[str, int, str], words: str
) -> None:
    for path in ("check", "run"):
        response = client.post(f"/api/{path}", json=HOLD | asked)
        assert response.status_code == 422
        error = told(response)
        assert (error["where"], error["line"], error["key"]) == place, error
        assert words in error["message"]
        assert "/tmp" not in error["message"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"scenario": "../../etc/passwd"}, "expected one of"),
        ({"scenario": None}, "expected one of"),
        ({"senders": ["sack"] * 9}, "at most 8"),
        ({"senders": "sack"}, "at most 8"),
        ({"seed": -1}, "from 0"),
        ({"seed": True}, "from 0"),
        ({"set": {"a": 1}}, "expected a text"),
        ({"toml": "x" * 200_000}, "at most"),
        ({"between": [1]}, "two times"),
        ({"place": "moon"}, "sender or receiver"),
        ({"path": "/etc/passwd"}, "no field"),
    ],
)
def test_a_request_of_another_form_is_refused(
    client: TestClient, asked: dict[str, Any], words: str
) -> None:
    response = client.post("/api/run", json=HOLD | asked)
    assert response.status_code == 400
    assert words in told(response)["message"]


@pytest.mark.parametrize("file", ["/etc/passwd", "../scenario.toml", "traces/../../x", "missing"])
def test_no_file_is_read_that_is_not_shipped(client: TestClient, file: str) -> None:
    text = shipped_scenarios()["mahimahi"].read_text(encoding="utf-8")
    named = text.replace("traces/half-second.down", file)
    for asked in (
        {"scenario": "mahimahi", "toml": named},
        {"scenario": "mahimahi", "set": {"link.cellular.forward.rate_trace": file}},
        {"scenario": "ping-replay", "set": {"link.path.delay_trace.file": file}},
    ):
        response = client.post("/api/run", json=asked)
        assert response.status_code == 422
        assert "root:" not in response.text
    assert client.post("/api/run", json={"scenario": "mahimahi", "toml": text}).is_success


def test_what_if_it_had_not_fired_or_the_sender_were_another(client: TestClient) -> None:
    timeout = unpack(client.post("/api/run", json=HOLD).content)["senders"][0]["timeouts"][0]
    asked = HOLD | {"senders": ["newreno"], "at_s": timeout["at_s"], "seq": timeout["seq"]}
    others = ["newreno", "newreno+frto", "sack+eifel", "nonsense"]
    found = client.post("/api/what-if", json=asked | {"others": others}).json()
    assert found["cost_s"] == timeout["cost_s"] > 0.4
    assert found["cost_segments"] == 31
    same, frto, eifel, nonsense = found["others"]
    assert (same["time_s"], same["segments"]) == (0, 0)
    assert frto["time_s"] < -0.3
    assert frto["segments"] == -30
    assert "cannot go on" in eifel["error"]
    assert "nonsense" in nonsense["error"]
    response = client.post("/api/what-if", json=asked | {"at_s": 1.5})
    assert "no timeout at 1.5 s" in told(response)["message"]


def test_the_run_as_it_would_have_been_is_drawn_beside_it(client: TestClient) -> None:
    found = unpack(client.post("/api/run", json=HOLD).content)
    newreno, frto = found["senders"]
    timeout = newreno["timeouts"][0]
    place = {"at_s": timeout["at_s"], "seq": timeout["seq"]}
    asked = HOLD | {"senders": ["newreno"]} | place

    def drawn(others: list[str]) -> list[dict[str, Any]]:
        answer = client.post("/api/branch", json=asked | {"others": others})
        senders: list[dict[str, Any]] = unpack(answer.content)["senders"]
        return senders

    original, without = drawn([])
    assert original["totals"] == newreno["totals"]
    assert without["timeouts"] == []
    ended = newreno["totals"]["elapsed_s"] - without["totals"]["elapsed_s"]
    assert ended == pytest.approx(timeout["cost_s"])
    again = newreno["totals"]["segments"] - without["totals"]["segments"]
    assert again == timeout["cost_segments"]
    # Until the timeout it is the same run, and F-RTO from there on is F-RTO from the beginning.
    before = np.count_nonzero(without["packets"]["at_s"] < timeout["at_s"])
    assert np.array_equal(without["packets"]["seq"][:before], original["packets"]["seq"][:before])
    _, other = drawn(["newreno+frto"])
    assert other["totals"] == frto["totals"]
    assert np.array_equal(other["packets"]["at_s"], frto["packets"]["at_s"])
    wrong = client.post("/api/branch", json=asked | {"at_s": 1.0})
    assert "no timeout at 1.0 s" in told(wrong)["message"]
    wrong = client.post("/api/branch", json=asked | {"others": ["sack"]})
    assert "needs SACK" in told(wrong)["message"]


def test_a_run_that_takes_too_long_is_stopped_and_the_next_is_answered(strict: TestClient) -> None:
    for _ in range(2):
        response = strict.post("/api/run", json={"scenario": "hold", "toml": HEAVY})
        assert response.status_code == 413
        assert "stopped" in told(response)["message"]
        assert strict.post("/api/run", json=HOLD).is_success


def test_a_run_that_takes_too_much_memory_is_stopped() -> None:
    limits = Limits(at_once=1, memory=120_000_000, run_s=60)
    with TestClient(Explorer(limits).app(), base_url=HOST) as client:
        response = client.post("/api/run", json={"scenario": "hold", "toml": HEAVY})
        assert response.status_code == 413
        assert "more memory than the 120 MB" in told(response)["message"]
        assert client.post("/api/run", json=HOLD).is_success


def test_who_would_wait_behind_too_many_is_told_to_come_back() -> None:
    with TestClient(Explorer(Limits(queue=0)).app(), base_url=HOST) as client:
        response = client.post("/api/run", json=HOLD)
        assert response.status_code == 503
        assert response.headers["retry-after"] == "1"
        assert "busy" in told(response)["message"]


@pytest.mark.parametrize("path", POSTS)
def test_a_request_has_a_size_and_a_type(strict: TestClient, path: str) -> None:
    large = json.dumps(HOLD | {"toml": "#" * 30_000})
    assert strict.post(f"/api/{path}", content=large, headers=JSON).status_code == 400
    plain = {"Content-Type": "text/plain"}
    assert strict.post(f"/api/{path}", content=json.dumps(HOLD), headers=plain).status_code == 400
    assert strict.post(f"/api/{path}", content="{", headers=JSON).status_code == 400
    assert strict.post(f"/api/{path}", content="[" * 15_000, headers=JSON).status_code == 400
    assert strict.get(f"/api/{path}").status_code == 405


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8642", "192.168.1.4:8642", ""]
)
def test_other_names_of_this_host_are_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/static/explorer.js", "/api/index"):
        assert client.get(path, headers={"Host": host}).status_code == 403
    assert client.post("/api/run", json=HOLD, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:9999", "[::1]:80", "LOCALHOST"])
def test_this_machine_may_call_itself_so(client: TestClient, host: str) -> None:
    assert client.get("/api/index", headers={"Host": host}).is_success


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", HOST + "/"]
)
def test_pages_of_other_hosts_are_refused(client: TestClient, origin: str) -> None:
    assert client.post("/api/run", json=HOLD, headers={"Origin": origin}).status_code == 403
    assert client.get("/api/index", headers={"Origin": origin}).status_code == 403


def test_our_own_page_is_not(client: TestClient) -> None:
    ours = {"Origin": HOST, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert client.post("/api/run", json=HOLD, headers=ours).is_success


def test_a_link_on_another_page_leads_here_and_a_picture_on_it_does_not(client: TestClient) -> None:
    visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=visit).is_success
    assert client.get("/api/index", headers=visit).status_code == 403
    picture = visit | {"Sec-Fetch-Mode": "no-cors"}
    assert client.get("/", headers=picture).status_code == 403


def test_every_answer_has_the_headers_that_keep_others_out(client: TestClient) -> None:
    answers = [
        client.get("/"),
        client.get("/static/explorer.js"),
        client.get("/static/missing.js"),
        client.get("/nowhere"),
        client.post("/api/run", json=HOLD),
        client.post("/api/run", json={}),
        client.get("/", headers={"Host": "evil.example"}),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in policy
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("name", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "app.py", "x"])
def test_only_the_pages_own_parts_are_served(client: TestClient, name: str) -> None:
    assert client.get(f"/static/{name}").status_code == 404


def test_the_page_asks_no_other_host_for_anything(client: TestClient) -> None:
    from rtolab.serve.assets import assets  # noqa: PLC0415

    for name, (content, _) in assets().items():
        text = content.decode()
        hosts = text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in hosts, name
        assert "https://" not in hosts, name
        assert "innerHTML" not in text, name
    page = client.get("/").text
    assert "style=" not in page
    assert "<script>" not in page


def test_a_run_can_be_kept_as_tables_and_captures(client: TestClient, tmp_path: Path) -> None:
    asked = HOLD | {"set": {"link.radio.delay": "50 ms"}}
    packed = client.post("/api/download/everything", json=asked)
    archive = zipfile.ZipFile(io.BytesIO(packed.content))
    names = set(archive.namelist())
    assert {"report.html", "connections.parquet", "scenario.toml", "command.txt"} <= names
    assert {"0-newreno-sender.pcapng", "1-newreno+frto-receiver.pcapng"} <= names
    archive.extractall(tmp_path)
    kept = pl.read_parquet(tmp_path / "connections.parquet")
    # What is kept says how the same comes out again.
    command = shlex.split((tmp_path / "command.txt").read_text(encoding="utf-8"))
    assert command[:5] == ["rtolab", "run", "scenario.toml", "--seed", "1"]
    senders = [word for option, word in pairwise(command) if option == "--sender"]
    set_ = dict(word.split("=", 1) for option, word in pairwise(command) if option == "--set")
    again = run(tmp_path / "scenario.toml", sender=senders, set=set_)
    assert again.connections["elapsed_s"].to_list() == kept["elapsed_s"].to_list()
    other = run("hold", sender=senders)
    assert other.connections["elapsed_s"].to_list() != kept["elapsed_s"].to_list()


@pytest.mark.parametrize("kind", ["parquet", "pcapng"])
def test_parts_of_a_run_can_be_kept(client: TestClient, kind: str) -> None:
    packed = client.post(f"/api/download/{kind}", json=HOLD)
    names = zipfile.ZipFile(io.BytesIO(packed.content)).namelist()
    assert any(name.endswith(kind) for name in names)
    assert client.post("/api/download/exe", json=HOLD).status_code == 400


def test_a_capture_is_diagnosed_and_forgotten() -> None:
    explorer = Explorer(Limits())
    with TestClient(explorer.app(), base_url=HOST) as own:
        response = own.post(
            "/api/capture?name=my.pcapng", content=CAPTURE.read_bytes(), headers=BINARY
        )
        assert response.is_success
        assert not list(explorer.folder.glob("capture-*"))
        assert not list(explorer.folder.glob("*/capture-*"))
    assert not explorer.folder.exists()
    found = unpack(response.content)
    assert found["name"] == "my.pcapng"
    picture = found["pictures"][0]
    sender = picture["senders"][0]
    unneeded = sender["packets"]["kind"] == sender["names"]["kind"].index("unneeded")
    assert unneeded.sum() >= 45
    assert picture["disturbances"][0]["to_s"] == pytest.approx(8.2, abs=0.01)
    assert sender["timeouts"][0]["truth"] == "spurious"
    assert "retransmission timer expired" in picture["stories"][0]["story"]


def test_what_is_no_capture_is_told(client: TestClient) -> None:
    response = client.post("/api/capture?name=a%0Ab.txt", content=b"hello", headers=BINARY)
    assert response.status_code == 422
    assert told(response)["message"].startswith("ab.txt: neither pcap nor pcapng")
    assert b"rtolab-serve" not in response.content


def test_a_capture_has_a_size_and_a_type(strict: TestClient) -> None:
    response = strict.post("/api/capture", content=bytes(20_000), headers=BINARY)
    assert response.status_code == 413
    assert "the most that is taken" in told(response)["message"]
    assert strict.post("/api/capture", json={}).status_code == 400


SWEEP = """\
scenario = "hold"
senders = ["newreno", "newreno+frto"]
runs = 3

[grid]
link.radio.delay = ["50 ms", "100 ms"]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    out = tmp_path_factory.mktemp("results")
    (out / "delays.toml").write_text(SWEEP, encoding="utf-8")
    sweep.run(sweep.load(out / "delays.toml"), out / "delays", sweep.Threads(1))
    campaign = Campaign(out / "report", Settings(quick=True))
    campaign.run(find(["frto2002/fig1"])[0])
    with TestClient(Explorer(Limits(), [out]).app(), base_url=HOST) as client:
        yield client


def test_a_sweep_is_browsed(results: TestClient) -> None:
    titles = results.get("/api/index").json()["results"]
    number = next(one["number"] for one in titles if one["kind"] == "sweep")
    found = results.get(f"/api/results/{number}?measure=unneeded").json()
    assert found["grid"] == ["link.radio.delay"]
    assert len(found["cells"]) == 4
    assert {cell["runs"] for cell in found["cells"]} == {3}
    frto = [cell["median"] for cell in found["cells"] if cell["sender"] == "newreno+frto"]
    assert frto == [1, 1]
    wrong = results.get(f"/api/results/{number}?measure=nonsense")
    assert "no measure 'nonsense'" in told(wrong)["message"]


def test_a_report_is_browsed_by_numbers_alone(results: TestClient) -> None:
    titles = results.get("/api/index").json()["results"]
    number = next(one["number"] for one in titles if one["kind"] == "experiment")
    found = results.get(f"/api/results/{number}").json()
    assert found["experiment"] == "frto2002/fig1"
    file = found["files"][0]
    kept = results.get(f"/api/results/{number}/{file['number']}")
    assert kept.is_success
    assert kept.headers["content-disposition"].startswith("attachment")
    for path in (f"{number}/999", "999", "999/0"):
        assert results.get(f"/api/results/{path}").status_code == 404
    assert results.get("/api/results/..%2f..%2fetc/passwd").status_code == 404


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(["link.radio.rate", "link.radio.delay", "tcp.rto.min", "duration", "title"])
ASKED = st.fixed_dictionaries(
    {"scenario": st.sampled_from(["hold", "tail"])},
    optional={
        "toml": st.none() | st.text(max_size=80),
        "set": st.dictionaries(KEYS | st.text(max_size=12), st.text(max_size=12), max_size=3),
        "senders": st.lists(
            st.sampled_from(["reno", "sack+frto"]) | st.text(max_size=8), max_size=3
        ),
        "seed": st.integers(0, 2**64 - 1),
        "flow": st.none() | st.text(max_size=8),
        "place": st.sampled_from(["sender", "receiver"]),
        "between": st.none() | st.lists(st.floats(), min_size=2, max_size=2),
    },
)
OFTEN = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@OFTEN
@given(asked=ASKED | JUNK, path=st.sampled_from(POSTS))
def test_nothing_that_is_asked_is_a_defect(client: TestClient, asked: Any, path: str) -> None:
    content = json.dumps(asked)
    response = client.post(f"/api/{path}", content=content, headers=JSON)
    assert response.status_code in (200, 400, 413, 422), response.text
    if not response.is_success:
        assert told(response)["message"]


@OFTEN
@given(content=st.binary(max_size=300))
def test_no_bytes_are_a_defect(client: TestClient, content: bytes) -> None:
    for path in POSTS:
        assert client.post(f"/api/{path}", content=content, headers=JSON).status_code in (400, 422)
    response = client.post("/api/capture", content=content, headers=BINARY)
    assert response.status_code in (200, 422)


def test_a_port_that_is_taken_is_told() -> None:
    with server() as (address, _):
        port = address.rstrip("/").rpartition(":")[2]
        again = subprocess.run(
            [sys.executable, "-m", "rtolab.cli", "serve", "--port", port],
            check=False,
            capture_output=True,
            text=True,
        )
    assert again.returncode == 2
    assert f"port {port} cannot be had" in again.stderr
    assert "--port 0" in again.stderr


def test_a_folder_without_results_is_told(tmp_path: Path) -> None:
    again = subprocess.run(
        [sys.executable, "-m", "rtolab.cli", "serve", "--port", "0", "--browse", str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert again.returncode == 2
    assert "found no results" in again.stderr


LOAD_S = float(os.environ.get("RTOLAB_LOAD_S", "5"))
CLIENTS = 20


def test_twenty_clients_at_once_are_answered_in_less_than_a_gigabyte() -> None:
    with server() as (address, pid):
        end = time.monotonic() + LOAD_S
        with ThreadPoolExecutor(CLIENTS) as threads:
            clients = [threads.submit(drags, address, number, end) for number in range(CLIENTS)]
            most = 0.0
            while not all(client.done() for client in clients):
                most = max(most, sum(resident(pid).values()))
                time.sleep(0.1)
        answers = [answer for client in clients for answer in client.result()]
    assert len(answers) >= CLIENTS
    assert {status for status, _ in answers} == {200}
    waits = sorted(wait for _, wait in answers)
    print(  # noqa: T201
        f"{len(answers)} answers in {LOAD_S:g} s; {1000 * waits[len(waits) // 2]:.0f} ms at the "
        f"median, {1000 * waits[-1]:.0f} ms at most; {most:.0f} MB in all processes"
    )
    assert most < 1000


def drags(address: str, number: int, end: float) -> list[tuple[int, float]]:
    """A client that drags the stall until the end: each answer's status, and the wait for it."""
    answers: list[tuple[int, float]] = []
    while time.monotonic() < end or not answers:
        length = f"{1 + (number + len(answers)) % 60 / 10} s"
        stall = {"link.radio.stalls.scripted": f'[{{ at = "1 s", for = "{length}" }}]'}
        content = json.dumps(HOLD | {"set": stall}).encode()
        began = time.monotonic()
        with urlopen(Request(f"{address}api/run", content, JSON)) as response:
            response.read()
            answers.append((response.status, time.monotonic() - began))
    return answers


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_serve, "find_spec", lambda _: None)
    with pytest.raises(Error, match=r"pip install 'rtolab\[serve\]'"):
        cli_serve.serve()


def test_a_process_that_somebody_kills_is_replaced() -> None:
    explorer = Explorer(Limits(at_once=1))
    with TestClient(explorer.app(), base_url=HOST) as client:
        assert client.post("/api/run", json=HOLD).is_success
        (worker,) = explorer.pool._all
        os.kill(worker.process.pid, signal.SIGKILL)
        time.sleep(0.3)
        assert client.post("/api/run", json=HOLD).is_success


def test_nothing_is_left_when_the_server_ends() -> None:
    with server() as (_, pid):
        workers = set(resident(pid)) - {pid}
        assert workers
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]
