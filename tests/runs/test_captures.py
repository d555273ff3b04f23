"""Captures of simulated transfers, read by tshark and tcptrace."""

import re
from pathlib import Path

import polars as pl
import pytest

from prerequisites import require_tool
from program import execute
from rtolab import _rtolab

SCENARIOS = Path(__file__).parents[2] / "scenarios"
FIELDS = (
    "frame.time_relative",
    "frame.len",
    "tcp.seq",
    "tcp.ack",
    "tcp.len",
    "tcp.window_size",
    "tcp.options.sack.count",
    "tcp.options.timestamp.tsval",
    "_ws.malformed",
    "ip.checksum.status",
    "tcp.checksum.status",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
)
GOOD = "1"


def tshark(tool: str, file: Path) -> pl.DataFrame:
    """One row per packet: the fields as tshark prints them."""
    preferences = ["tcp.check_checksum:TRUE", "ip.check_checksum:TRUE"]
    command = [tool, "-n", "-r", str(file), "-T", "fields", "-E", "separator=,"]
    command += [word for preference in preferences for word in ("-o", preference)]
    command += [word for field in FIELDS for word in ("-e", field)]
    done = execute(*command, check=True)
    rows = [line.split(",") for line in done.stdout.splitlines()]
    return pl.DataFrame(rows, schema=list(FIELDS), orient="row")


def tcptrace_counts(report: str, name: str) -> list[int]:
    """A count of both directions, that of the connection's first packet first."""
    counts = re.search(rf"{name}: +(\d+) +{name}: +(\d+)", report)
    assert counts is not None, f"no {name} in {report}"
    return [int(count) for count in counts.groups()]


@pytest.mark.slow
@pytest.mark.parametrize("sender", ["sack+frto", "newreno", "sack+eifel"])
@pytest.mark.parametrize("scenario", ["delays", "outages"])
def test_the_analysers_agree_with_the_tables(tmp_path: Path, scenario: str, sender: str) -> None:
    wireshark = require_tool("tshark", "tshark")
    tcptrace = require_tool("tcptrace", "tcptrace")
    path = str(SCENARIOS / f"frto2002-{scenario}.toml")
    outcome = _rtolab.simulate(path, senders=["reno", sender], seeds=[10, 11], trace=True)
    segments = pl.DataFrame(outcome.table("segments")).filter(run=3)
    for place in ("sender", "receiver"):
        file = tmp_path / f"{place}.pcapng"
        file.write_bytes(outcome.pcapng(3, place))
        seen = tshark(wireshark, file)
        here = segments.filter(place=place)
        assert seen["_ws.malformed"].str.len_chars().sum() == 0
        assert set(seen["ip.checksum.status"]) == {GOOD}
        assert set(seen["tcp.checksum.status"]) == {GOOD}
        assert here.height == seen.height > 40
        times = seen["frame.time_relative"].cast(pl.Float64).to_list()
        assert times == pytest.approx((here["at_s"] - here["at_s"][0]).to_list(), abs=2e-9)
        assert seen["tcp.window_size"].cast(pl.Int64).to_list() == here["window"].to_list()
        assert seen["frame.len"].cast(pl.Int64).to_list() == here["bytes"].to_list()
        assert seen["tcp.len"].cast(pl.Int64).to_list() == here["len"].to_list()
        assert seen["tcp.seq"].cast(pl.Int64).to_list() == here["seq"].to_list()
        blocks = here.select(pl.sum_horizontal(pl.col("^sack_._start$").is_not_null())).to_series()
        counts = seen["tcp.options.sack.count"].replace("", "0").cast(pl.Int64)
        assert counts.to_list() == blocks.to_list()
        with_timestamps = seen["tcp.options.timestamp.tsval"].str.len_chars() > 0
        assert with_timestamps.to_list() == here["ts_value"].is_not_null().to_list()
        report = execute(tcptrace, "-l", "-n", file, check=True).stdout
        assert f"{len(here)} packets seen, {len(here)} TCP packets traced" in report
        if place == "sender":
            sent = here.filter(event="sent")
            again = sent.filter(pl.col("retransmission") & (pl.col("len") > 0)).height
            assert tcptrace_counts(report, "rexmt data pkts") == [again, 0]
            acks = here.filter(pl.col("sack_1_start").is_not_null()).height
            assert tcptrace_counts(report, "sack pkts sent") == [0, acks]
            # tshark calls a retransmission out of order if it closely follows another packet.
            late = pl.col("tcp.analysis.retransmission") + pl.col("tcp.analysis.out_of_order")
            marked = seen.filter(late.str.len_chars() > 0).height
            assert marked == sent["retransmission"].sum()


def test_the_same_seed_gives_the_same_bytes() -> None:
    path = str(SCENARIOS / "frto2002-delays.toml")

    def captures(jobs: int) -> list[bytes]:
        outcome = _rtolab.simulate(
            path, senders=["sack", "newreno+frto"], seeds=[1, 2], trace=True, jobs=jobs
        )
        return [outcome.pcapng(run, place) for run in range(4) for place in ("sender", "receiver")]

    assert captures(1) == captures(2)


def fnv1a(data: bytes) -> int:
    """The hash that the Rust tests state."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def test_the_built_extension_gives_the_captures_of_the_rust_tests() -> None:
    """The hashes are checked there by an unoptimised build, here by an optimised one."""
    hashes = Path(__file__).parents[2] / "crates" / "explorer" / "tests" / "captures.txt"
    path = str(SCENARIOS / "frto2002-delays.toml")
    lines = hashes.read_text().splitlines()
    assert len(lines) >= 4
    for line in lines:
        sender, place, stated = line.split()
        outcome = _rtolab.simulate(path, senders=[sender], seeds=[11], trace=True)
        assert f"{fnv1a(outcome.pcapng(0, place)):016x}" == stated, line


def test_the_built_extension_gives_the_numbers_of_the_rust_tests() -> None:
    """The grid is checked there by an unoptimised build, here by an optimised one."""
    grid = Path(__file__).parents[2] / "crates" / "sim" / "tests" / "grid.txt"
    lines = grid.read_text().splitlines()[1:]
    assert len(lines) >= 72
    for line in lines:
        name, numbers = line.split(": ")
        scenario, sender, seed = name.split()
        end, segments, again, unneeded, lost, timeouts = map(int, numbers.split())
        path = str(SCENARIOS / f"frto2002-{scenario}.toml")
        outcome = _rtolab.simulate(path, senders=[sender], seeds=[int(seed)])
        row = pl.DataFrame(outcome.table("connections")).row(0, named=True)
        assert row["end_s"] == pytest.approx(end / 1e9, abs=1e-9), line
        counted = ("segments", "retransmissions", "unneeded", "lost", "timeouts")
        assert [row[column] for column in counted] == [segments, again, unneeded, lost, timeouts]
