"""Printed tables of runs."""

from io import StringIO
from pathlib import Path
from statistics import median

import polars as pl
import pytest
from rich.console import Console

import rtolab
from rtolab import tables
from rtolab.result import Result

SCENARIO = """
title = "Many flows"
duration = "10 s"
[[link]]
name = "path"
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "10 ms"
outages.scripted = [{ at = "100 ms", for = "1 s" }]
[[flow]]
name = "counted"
from = "a"
to = "b"
bytes = "20 kB"
count = 39
[[flow]]
name = "other-1"
from = "a"
to = "b"
bytes = "100 kB"
"""


def run(counted: int, folder: Path) -> Result:
    """The result with this many counted flows, and one more."""
    scenario = folder / "many.toml"
    scenario.write_text(SCENARIO)
    return rtolab.run(scenario, set={"flow.counted.count": counted}, trace=False)


def lines(table: object) -> list[list[str]]:
    """The words of each line."""
    text = StringIO()
    Console(file=text, width=100).print(table)
    return [line.split() for line in text.getvalue().splitlines() if line.strip()]


def test_forty_flows_have_a_row_each(tmp_path: Path) -> None:
    rows = lines(tables.runs(run(39, tmp_path)))[2:]
    assert [row[1] for row in rows] == [f"counted-{n}" for n in range(1, 40)] + ["other-1"]
    assert all(row[2] == "1/1" for row in rows)


def test_of_more_flows_the_counted_ones_share_a_row(tmp_path: Path) -> None:
    result = run(40, tmp_path)
    counted, other = lines(tables.runs(result))[2:4]
    assert (counted[1:3], other[1:3]) == (["counted-*", "40/40"], ["other-1", "1/1"])
    of_counted = result.connections.filter(pl.col("flow") != "other-1")
    assert float(counted[3]) == pytest.approx(median(of_counted["elapsed_s"]), abs=0.0051)
    goodput = median(of_counted["goodput_bps"])
    assert float(counted[8]) == pytest.approx(goodput / 1000, abs=0.0051)
    counted, other = lines(tables.outages(result))[3:]
    assert (counted[1:4], other[1:4]) == (["counted-*", "40", "40"], ["other-1", "1", "1"])


def test_tables_name_the_senders_that_flows_have_of_their_own(tmp_path: Path) -> None:
    scenario = tmp_path / "own.toml"
    text = SCENARIO.replace("count = 39", 'sender = "rack"')
    scenario.write_text(text.replace("20 kB", "90 kB"))
    result = rtolab.run(scenario, sender=["newreno", "linux"], trace=True)
    for table in (tables.runs(result), tables.outages(result)):
        rows = [row[:2] for row in lines(table)]
        assert rows.count(["rack", "counted"]) == 2
        assert [row[1] for row in rows if row[0] == "beside"] == ["newreno", "linux"]
        assert ["newreno", "other-1"] in rows
        assert ["linux", "other-1"] in rows
        assert ["newreno", "counted"] not in rows
    title = result.plot.time_sequence(0).to_dict()["title"]
    assert title["text"].startswith("rack on ")
    assert "flow counted, seed 1, in the run of newreno" in title["subtitle"]
    other = result.plot.time_sequence(0, flow="other-1").to_dict()["title"]
    assert other["text"].startswith("newreno on ")
    assert "in the run of" not in other["subtitle"]


def test_a_table_of_several_runs_says_that_it_shows_medians(tmp_path: Path) -> None:
    def caption(end: str, runs: int) -> str:
        scenario = tmp_path / "cut.toml"
        scenario.write_text(SCENARIO.replace("10 s", end).replace("count = 39", ""))
        set_ = {"link.path.loss": 0.2}
        return str(tables.runs(rtolab.run(scenario, runs=runs, set=set_)).caption)

    assert caption("10000 s", 1) == "None"
    assert caption("10000 s", 5) == "Medians over all transfers."
    assert caption("2 s", 5) == (
        "Medians over all transfers; time and kbit/s over those that ended."
    )
