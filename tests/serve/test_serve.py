"""The explorer's answers about runs."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

from explorer_client import HOLD, error_of, unpack
from rtolab import run
from rtolab.run import included_scenarios


def test_a_run_equals_that_of_the_command_line(client: TestClient) -> None:
    found = unpack(client.post("/api/run", json=HOLD | {"seed": 7}).content)
    assert (
        client.post("/api/run", json=HOLD | {"seed": "7"}).content
        == client.post("/api/run", json=HOLD | {"seed": 7}).content
    )
    senders = ["newreno", "newreno+frto"]
    result = run("hold", sender=senders, seed=7, trace=True, windows=True, judge="all")
    for number, sender in enumerate(found["senders"]):
        connection = result.connections.row(number, named=True)
        assert sender["name"] == connection["sender"]
        assert sender["totals"].pop("endless") is False
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


def test_a_packet_has_the_cause_of_its_transmission(client: TestClient) -> None:
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


def test_packets_are_thinned_out_until_the_view_is_zoomed(
    client: TestClient, strict: TestClient
) -> None:
    whole = unpack(client.post("/api/run", json=HOLD).content)["senders"][0]
    thin = unpack(strict.post("/api/run", json=HOLD).content)["senders"][0]
    assert (whole["every"], thin["every"]) == (1, 8)
    assert len(thin["packets"]["at_s"]) < 130
    # The remaining packets have the same values as in the full answer.
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


def test_a_packet_has_the_time_of_its_acknowledgment(client: TestClient) -> None:
    sender = unpack(client.post("/api/run", json=HOLD).content)["senders"][0]
    packets, acks = sender["packets"], sender["acks"]
    for number in range(0, len(packets["at_s"]), 7):
        end = packets["seq"][number] + packets["len"][number]
        by_hand = next(at for at, ack in zip(acks["at_s"], acks["ack"], strict=True) if ack >= end)
        assert packets["acked_s"][number] == by_hand


@pytest.mark.parametrize("name", sorted(included_scenarios()))
def test_every_included_scenario_is_checked_and_sets_the_sliders(
    client: TestClient, name: str
) -> None:
    requested = {"scenario": name, "senders": ["newreno"]}
    assert client.post("/api/check", json=requested).json() == {}
    found = client.post("/api/scenario", json=requested).json()
    assert found["toml"] == included_scenarios()[name].read_text(encoding="utf-8")
    assert found["links"]
    assert found["duration"]


def test_sliders_begin_with_the_values_of_the_scenario(client: TestClient) -> None:
    found = client.post("/api/scenario", json={"scenario": "hold"}).json()
    stall = {"at": "1 s", "for": "2 s"}
    link = {"name": "radio", "rate": "1 Mbit/s", "delay": "100 ms", "loss": None, "stall": stall}
    keys = {name: name for name in ("rate", "delay", "loss", "stalls")}
    assert found["links"] == [link | {"keys": keys, "troubled": True}]
    # If the forward direction has values of its own, the sliders set those.
    own = client.post("/api/scenario", json={"scenario": "stall"}).json()["links"][0]
    assert (own["keys"]["stalls"], own["keys"]["rate"]) == ("forward.stalls", "rate")


def test_what_if_the_timer_had_not_expired_or_the_sender_were_another(client: TestClient) -> None:
    timeout = unpack(client.post("/api/run", json=HOLD).content)["senders"][0]["timeouts"][0]
    requested = HOLD | {"senders": ["newreno"], "at_s": timeout["at_s"], "seq": timeout["seq"]}
    others = ["newreno", "newreno+frto", "sack+eifel", "nonsense"]
    found = client.post("/api/what-if", json=requested | {"others": others}).json()
    assert found["cost_s"] == timeout["cost_s"] > 0.4
    assert found["cost_segments"] == 31
    same, frto, eifel, nonsense = found["others"]
    assert (same["time_s"], same["segments"]) == (0, 0)
    assert frto["time_s"] < -0.3
    assert frto["segments"] == -30
    assert "cannot continue a connection" in eifel["error"]
    assert "nonsense" in nonsense["error"]
    response = client.post("/api/what-if", json=requested | {"at_s": 1.5})
    assert "no timeout at 1.5 s" in error_of(response)["message"]


def test_the_counterfactual_run_is_drawn_beside_the_original(client: TestClient) -> None:
    found = unpack(client.post("/api/run", json=HOLD).content)
    newreno, frto = found["senders"]
    timeout = newreno["timeouts"][0]
    place = {"at_s": timeout["at_s"], "seq": timeout["seq"]}
    requested = HOLD | {"senders": ["newreno"]} | place

    def drawn(others: list[str]) -> list[dict[str, Any]]:
        answer = client.post("/api/branch", json=requested | {"others": others})
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
    wrong = client.post("/api/branch", json=requested | {"at_s": 1.0})
    assert "no timeout at 1 s" in error_of(wrong)["message"]
    wrong = client.post("/api/branch", json=requested | {"others": ["sack"]})
    assert "needs SACK" in error_of(wrong)["message"]
