"""`rtolab import`: from the files of other programs to a scenario that runs."""

import gzip
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rtolab
from rtolab._rtolab import Error
from rtolab.cli import app
from rtolab.paths import FORMATS, Stated, read_path, write_scenario


def imported(folder: Path, form: str, *files: Path, stated: Stated | None = None) -> Any:
    """The scenario of these files, as a document; it is at `folder`/path.toml and runs."""
    out = folder / "path.toml"
    write_scenario(read_path(form, files), out, stated)
    rtolab.run(out, sender="linux", set={"duration": "1 s"})
    return tomllib.loads(out.read_text())


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_mahimahi_from_the_command_to_a_run(tmp_path: Path) -> None:
    up = written(tmp_path / "cell.up", "5\n10\n\n20\n")
    down = written(tmp_path / "cell.down", "0\n1\n1\n2\n4\n10\n")
    out = tmp_path / "path.toml"
    arguments = ["import", "mahimahi", str(up), str(down), "--out", str(out)]
    result = CliRunner().invoke(app, [*arguments, "--delay", "30 ms", "--queue", "100 packets"])
    assert result.exit_code == 0, result.output
    assert f"wrote {out}" in result.output.replace("\n", "")
    scenario = tomllib.loads(out.read_text())
    link = scenario["link"][0]
    assert scenario["duration"] == "60 s"
    assert (link["delay"], link["queue"]) == ("30 ms", "100 packets")
    assert link["forward"] == {"rate_trace": "path.forward.opportunities"}
    assert (tmp_path / "path.forward.opportunities").read_text() == "0\n1\n1\n2\n4\n10\n"
    assert (tmp_path / "path.backward.opportunities").read_text() == "5\n10\n20\n"
    # Six opportunities of 1500 B in 10 ms are 7.2 Mbit/s.
    flows = rtolab.run(out, sender="linux", set={"duration": "60 s"}).connections
    assert 6000 < 5e6 * 8 / 1000 / flows["elapsed_s"][0] < 7200


def test_one_mahimahi_trace_serves_both_directions(tmp_path: Path) -> None:
    link = imported(tmp_path, "mahimahi", written(tmp_path / "a", "1\n2\n"))["link"][0]
    assert set(link) >= {"forward", "backward"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5\n4\n", "a:2: found '4'; expected no time before 5, the one of the line above"),
        ("5\n\n6.5\n", "a:3: found '6.5'; expected a time in whole milliseconds such as 120"),
        ("-5\n", "a:1: found '-5'; expected a time in whole milliseconds such as 120"),
        ("²\n", "a:1: found '²'; expected a time in whole milliseconds such as 120"),
        ("9" * 5000, "expected a time in whole milliseconds such as 120, at most 1000000000"),
        ("0\n0\n", "a: found no time above zero; expected lines of milliseconds"),
        ("", "a: found no line; expected lines of milliseconds"),
    ],
)
def test_invalid_mahimahi_traces(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Error) as error:
        read_path("mahimahi", [written(tmp_path / "a", text)])
    assert message in str(error.value)


def test_invalid_files_and_values(tmp_path: Path) -> None:
    trace = written(tmp_path / "a", "1\n2\n")
    path = read_path("mahimahi", [trace])
    out = tmp_path / "path.toml"
    for stated, message in [
        (Stated(delay="20 mss"), f'{out}:10: link.path.delay: found "20 mss"'),
        (Stated(rate="1 Mbit/s"), "--rate: the measurement has the rate itself; expected none"),
    ]:
        with pytest.raises(Error) as error:
            write_scenario(path, out, stated)
        assert message in str(error.value)
        assert not out.exists()
    write_scenario(path, out, Stated(delay="20 ms"))
    assert re.search(r'^delay = "20 ms" +# stated, not measured$', out.read_text(), re.MULTILINE)
    with pytest.raises(Error, match=r"--out .*path: expected the name of a scenario"):
        write_scenario(path, tmp_path / "path")
    with pytest.raises(Error, match="mahimahi: found 3 files; expected UP DOWN or TRACE"):
        read_path("mahimahi", [trace] * 3)
    with pytest.raises(Error, match="FORMAT: found mahimai; expected mahimahi, cellreplay"):
        read_path("mahimai", [trace])
    (tmp_path / "b").write_bytes(b"1\n\xff\n")
    with pytest.raises(Error, match="b:2: found the byte 0xff; expected UTF-8 text"):
        read_path("mahimahi", [tmp_path / "b"])


PINGS = """PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
[1700182800.082] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=63 time=82.0 ms
[1700182801.095] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=63 time=95 ms
[1700182803.100] 64 bytes from host (192.0.2.1): icmp_seq=4 ttl=63 time=100.5 ms
[1700182803.100] 64 bytes from host (192.0.2.1): icmp_seq=4 ttl=63 time=100.5 ms (DUP!)
no answer yet for icmp_seq=5
[1700182808.080] 64 bytes from host (192.0.2.1): icmp_seq=9 ttl=63 time=80 ms
"""


def test_ping_has_delays_losses_and_outages(tmp_path: Path) -> None:
    scenario = imported(tmp_path, "ping", written(tmp_path / "p.txt", PINGS))
    link = scenario["link"][0]
    assert link["delay_trace"] == {"file": "path.delays", "of": "round-trip"}
    assert (tmp_path / "path.delays").read_text().splitlines()[1:] == [
        "0 82",
        "1 95",
        "2.9995 100.5",
        "8 80",
    ]
    # One of the five requests outside the outage is lost, there or back.
    assert float(link["loss"]) == pytest.approx(1 - 0.8**0.5, abs=1e-6)
    (outage,) = link["outages"]["scripted"]
    assert (outage["at"], outage["for"]) == ("4 s", "4 s")


@pytest.mark.parametrize(
    "reply",
    [
        "64 bytes from 192.0.2.1: icmp_seq={} ttl=57 time={} ms",
        "64 bytes from 192.0.2.1: seq={} ttl=57 time={} ms",  # busybox
        "64 Bytes von 192.0.2.1: icmp_seq={} ttl=57 Zeit={} ms",
    ],
)
def test_ping_without_times_has_an_interval(tmp_path: Path, reply: str) -> None:
    lines = [reply.format(seq % 65536, 50 + seq % 3) for seq in range(65530, 65545)]
    path = read_path("ping", [written(tmp_path / "p", "\n".join(lines))], 0.2)
    assert path.both.delays[:2] == [(0, 51), (pytest.approx(0.2), 52)]
    assert len(path.both.delays) == len(lines)
    assert path.both.loss == 0
    assert not path.both.outages


def irtt_rounds(count: int = 60, offset: int = 10**13, drift: float = 0.0) -> list[dict[str, Any]]:
    """Round trips of 20 ms there and 10 ms back, with a spike there; the clocks differ."""
    rounds = []
    for number in range(count):
        ahead = offset + int(drift * number * 1e9)
        spike = 300_000_000 if number == 10 else 0
        send, receive = 20_000_000 + spike + ahead, 10_000_000 - ahead
        rounds.append(
            {
                "seqno": number,
                "lost": "false",
                "timestamps": {"client": {"send": {"wall": 17 * 10**17 + number * 10**9}}},
                "delay": {"send": send, "receive": receive, "rtt": send + receive},
            }
        )
    return rounds


@pytest.mark.parametrize("drift", [0.0, 50e-6])
def test_irtt_has_both_directions_whatever_the_clocks(tmp_path: Path, drift: float) -> None:
    rounds = irtt_rounds(drift=drift)
    for number, lost in ((20, "true_up"), (30, "true_down"), (31, "true_down")):
        rounds[number] |= {"lost": lost, "delay": {}}
    for number in range(40, 45):
        rounds[number] |= {"lost": "true", "delay": {}}
    file = written(tmp_path / "r.json", json.dumps({"round_trips": rounds}))
    link = imported(tmp_path, "irtt", file)["link"][0]
    there, back = ((tmp_path / f"path.{one}.delays") for one in ("backward", "forward"))
    for series, spike in ((there, 315), (back, 15)):
        delays = [line.split() for line in series.read_text().splitlines()[1:]]
        assert len(delays) == 60 - 8
        assert [float(ms) for _, ms in delays] == pytest.approx(
            [spike if number == 10 else 15 for number in range(52)], abs=0.06
        )
    assert float(link["backward"]["loss"]) == pytest.approx(1 / 55, abs=1e-6)
    assert float(link["forward"]["loss"]) == pytest.approx(2 / 54, abs=1e-6)
    (outage,) = link["backward"]["outages"]["scripted"]
    assert (outage["at"], outage["for"]) == ("40 s", "5 s")
    assert "outages" not in link["forward"]


def test_irtt_without_the_servers_times_has_round_trips(tmp_path: Path) -> None:
    rounds = irtt_rounds(5)
    for one in rounds:
        one["delay"] = {"rtt": one["delay"]["rtt"]}
    text = json.dumps({"round_trips": rounds})
    (tmp_path / "r.json.gz").write_bytes(gzip.compress(text.encode()))
    link = imported(tmp_path, "irtt", tmp_path / "r.json.gz")["link"][0]
    assert link["delay_trace"]["of"] == "round-trip"


def test_hypatia_has_routes_and_outages(tmp_path: Path) -> None:
    rtts = written(
        tmp_path / "networkx_rtt_1_to_2.txt",
        "0,26000001\n100000000,27000000.0\n200000000,0.0\n300000000,0.0\n400000000,40000000\n",
    )
    routes = written(
        tmp_path / "networkx_path_1_to_2.txt", "0,1-9-2\n200000000,Unreachable\n400000000,1-8-2\n"
    )
    scenario = imported(tmp_path, "hypatia", rtts, routes)
    link = scenario["link"][0]
    assert "2 changes of its route" in scenario["title"]
    assert scenario["duration"] == "0.5 s"
    assert link["order"] == "free"
    assert link["outages"]["scripted"] == [{"at": "0.2 s", "for": "0.2 s"}]
    assert (tmp_path / "path.delays").read_text().splitlines()[1:] == [
        "0 26.000001",
        "0.1 27",
        "0.4 40",
    ]


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("ping", "PING\n", "a: found fewer than two replies; expected lines such as"),
        ("irtt", "{", "a: found no JSON"),
        ("irtt", "[" * 10**6, "a: found no JSON"),
        ("irtt", "{}", "a: found no key round_trips"),
        ("irtt", '{"round_trips": [{}]}', "a: round_trips[0]: expected lost, timestamps"),
        ("irtt", '{"round_trips": []}', "a: found 0 complete round trips"),
        ("hypatia", "0,1\n0,2\n", "a:2: found '0,2'; expected each time later"),
        ("hypatia", "0 1\n", "a:1: found '0 1'; expected nanoseconds and the round trip"),
        ("hypatia", "0,0\n1,0\n", "a: found no route"),
        ("hypatia", "0,5\n", "a: found fewer than two round trips"),
    ],
)
def test_invalid_series(tmp_path: Path, form: str, text: str, message: str) -> None:
    with pytest.raises(Error) as error:
        read_path(form, [written(tmp_path / "a", text)])
    assert message in str(error.value)


def test_the_help_names_each_format() -> None:
    help_text = CliRunner().invoke(app, ["import", "--help"]).output
    assert all(name in help_text for name in FORMATS)
    with pytest.raises(Error, match="--interval: only for ping"):
        read_path("irtt", [Path("a")], 0.1)


def cellreplay(folder: Path) -> list[Path]:
    """Four files: trains on both ways, then the opportunities of the saturated link."""
    texts = {
        "up-train": "0 30 0 1 5\n500 40 0 0\n1000 40 0 0\n",
        "down-train": "0 20 0 4 2 9\n500 60 0 0\n500 61 0 0\n1000 20 0 7\n",
        "up": "10\n20\n30\n",
        "down": "5\n10\n",
    }
    return [written(folder / name, text) for name, text in texts.items()]


def test_cellreplay_has_light_and_heavy_opportunities(tmp_path: Path) -> None:
    link = imported(tmp_path, "cellreplay", *cellreplay(tmp_path))["link"][0]
    assert link["forward"] == {
        "rate_trace": "path.forward.opportunities",
        "light_trace": "path.forward.light",
        "delay_trace": {"file": "path.forward.delays", "repeats": True},
    }
    assert (tmp_path / "path.forward.light").read_text().splitlines()[1:] == [
        "0 0 2 2 9",
        "500 0 0",
        "1000 0 7",
    ]
    assert (tmp_path / "path.forward.delays").read_text().splitlines()[1:] == [
        "0 20",
        "0.5 60",
        "1 20",
    ]
    assert (tmp_path / "path.backward.opportunities").read_text() == "10\n20\n30\n"
    # A SYN takes a light opportunity at once, and the base delay of 30 ms; its answer 20 ms.
    sent = rtolab.run(tmp_path / "path.toml", sender="linux").segments
    sent = sent.filter(event="sent").sort("at_s").head(2)
    took = (sent["fate_at_s"] - sent["at_s"]).to_list()
    assert took == pytest.approx([0.020, 0.030])
