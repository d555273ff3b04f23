import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import vl_convert

from handmade_tables import (
    Outcome,
    Simulator,
    Tape,
    burst,
    held_window,
    lost_retransmission,
    tables,
)
from rtolab import Error, run
from rtolab.plot import save, sharing
from rtolab.plot.boxplots import Band, Box, band_plot, box_plot
from rtolab.plot.trace_panels import UNNEEDED
from rtolab.result import Result, file_name
from rtolab.stats import summarise


def result(*tapes: Tape) -> Result:
    outcome: Any = Outcome(tables(*tapes))
    return Result("frto2002-delays", outcome, runs=len(tapes), traced=True)


def data(chart: Any, meaning: str) -> list[dict[str, Any]]:
    """All rows of a chart that are drawn with this meaning."""
    sets = chart.to_dict()["datasets"].values()
    found = [json.loads(rows) if isinstance(rows, str) else rows for rows in sets]
    return [row for rows in found for row in rows if row.get("what") == meaning]


def legends(chart: Any) -> set[str]:
    """All names that legends explain."""

    def walk(node: Any) -> set[str]:
        if isinstance(node, list):
            return set().union(*map(walk, node))
        if not isinstance(node, dict):
            return set()
        own = set(node["scale"]["domain"]) if node.get("legend") and "scale" in node else set()
        return own.union(*map(walk, node.values()))

    return walk(chart.to_dict())


def test_a_time_sequence_shows_the_kind_of_each_packet() -> None:
    chart = result(held_window("sack", frto=False)).plot.time_sequence()
    assert len(data(chart, "first transmission")) == 8 + 5
    assert len(data(chart, "unneeded retransmission")) == 9
    assert len(data(chart, "delayed by the link")) == 9
    assert [row["at_s"] for row in data(chart, "timeout")] == [2.5]
    assert [row["at_s"] for row in data(chart, "fast retransmit")] == [7.3]
    assert {row["to_s"] for row in data(chart, "stall")} == {5.0}
    assert data(chart, "acknowledged")[0] == {"at_s": 6.1, "seq": 257, "what": "acknowledged"}


def test_marks_of_one_kind_have_their_size(tmp_path: Path) -> None:
    chart = result(held_window("sack", frto=False)).plot.time_sequence(between=(5, 6.2))
    count = len(data(chart, "unneeded retransmission"))
    svg = save(chart, tmp_path / "alone")
    half = math.sqrt(UNNEEDED.size) / 2
    drawn = svg.read_text(encoding="utf-8").count(f"M-{half:.3f},0L0,-{half:.3f}L")
    assert count > 0
    assert drawn >= count


def test_losses_and_sack_blocks_are_shown() -> None:
    chart = result(lost_retransmission("sack", frto=False)).plot.time_sequence()
    assert [row["at_s"] for row in data(chart, "lost")] == [0.0, 1.4]
    assert len(data(chart, "needed retransmission")) == 2
    assert data(chart, "SACK block")[0] == {
        "at_s": 1.2,
        "seq": 257,
        "end": 513,
        "what": "SACK block",
    }


def test_legends_explain_exactly_what_is_drawn() -> None:
    chart = result(held_window("sack", frto=False)).plot.time_sequence(between=(6, 8))
    assert legends(chart) == {
        *("first transmission", "unneeded retransmission", "fast retransmit", "acknowledged"),
        "right edge of the window",
        *("cwnd", "ssthresh", "in flight", "RTO", "SRTT"),
    }
    outage = legends(result(burst("sack", frto=False, begins=0)).plot.time_sequence())
    assert {"outage", "lost", "needed retransmission", "timeout"} <= outage


def test_the_right_edge_of_a_far_window_is_drawn_in_a_strip() -> None:
    far = result(held_window("sack", frto=False)).plot.time_sequence().to_dict()
    assert [panel["height"] for panel in far["vconcat"]] == [48, 400, 130, 90]
    tape = Tape("sack")
    for n in range(1, 101):
        tape.data(0.1 * n, n, 0.5 + 0.1 * n)
        tape.ack(1.0 + 0.1 * n, n)
    tape.ends(12.0)
    near = result(tape).plot.time_sequence()
    assert [panel["height"] for panel in near.to_dict()["vconcat"]] == [400]
    assert len(data(near, "right edge of the window")) == 100


def test_a_picture_at_the_receiver_shows_arrivals_only() -> None:
    tape = lost_retransmission("sack", frto=False)
    chart = result(tape).plot.time_sequence(place="receiver")
    assert data(chart, "lost") == []
    assert min(row["at_s"] for row in data(chart, "first transmission")) == pytest.approx(0.7)
    assert len(chart.to_dict()["vconcat"]) == 2


def test_panels_lie_over_one_another_and_zoom_together() -> None:
    spec = result(held_window("sack", frto=True)).plot.time_sequence().to_dict()
    assert len(spec["vconcat"]) == 4
    assert spec["resolve"] == {"scale": {"x": "shared"}}
    (zoom,) = spec["params"]
    assert zoom["bind"] == "scales"
    names = [panel["layer"][0]["name"] for panel in spec["vconcat"]]
    assert zoom["views"] == names
    assert len(set(names)) == 4


def test_windows_are_steps() -> None:
    chart = result(held_window("sack", frto=True)).plot.windows()
    assert len(chart.to_dict()["vconcat"]) == 2
    assert data(chart, "cwnd")[-1]["value"] == 256 * (4 + 7 / 4)
    assert {row["value"] for row in data(chart, "RTO")} == {2.5, 5.0}


def test_a_step_line_begins_with_the_value_before_it() -> None:
    chart = result(held_window("sack", frto=False)).plot.windows(between=(6.15, 7))
    first = data(chart, "cwnd")[0]
    assert (first["at_s"], first["value"]) == (6.15, 512)


def test_a_title_has_sender_scenario_and_place() -> None:
    title = result(held_window("sack+frto", frto=True)).plot.time_sequence().to_dict()["title"]
    assert title["text"] == "sack+frto on frto2002-delays"
    assert title["subtitle"].startswith("packets at the sender; flow transfer, seed 1")


def test_more_than_altairs_5000_rows_are_drawn() -> None:
    tape = Tape("sack")
    for n in range(6000):
        tape.data(0.01 * n, n + 1, 0.5 + 0.01 * n)
    tape.ends(61.0)
    chart = result(tape).plot.time_sequence()
    assert len(data(chart, "first transmission")) == 6000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"run": 3}, "no run 3: there are 1, counted from 0"),
        ({"place": "router"}, "no place `router`"),
        ({"flow": "x"}, "no flow `x` in run 0; there are transfer"),
    ],
)
def test_an_unknown_run_place_or_flow_is_an_error(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        result(held_window("sack", frto=True)).plot.time_sequence(**arguments)


def test_runs_without_a_trace_have_no_pictures_of_packets() -> None:
    tape = Tape("sack")
    tape.ends(80.0)
    outcome: Any = Outcome(tables(tape))
    untraced = Result("x", outcome, runs=1, traced=False)
    with pytest.raises(Error, match="trace=True"):
        untraced.plot.time_sequence()
    with pytest.raises(Error, match="windows=True"):
        untraced.plot.windows()
    with pytest.raises(Error, match="trace=True"):
        untraced.pcapng()


def test_a_picture_is_saved_as_svg(tmp_path: Path) -> None:
    chart = result(held_window("sack", frto=False)).plot.windows()
    svg = save(chart, tmp_path / "deep" / "windows")
    assert [path.name for path in svg.parent.iterdir()] == ["windows.svg"]
    text = svg.read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "ssthresh" in text


def test_a_picture_has_the_same_bytes_whatever_was_drawn_before(tmp_path: Path) -> None:
    plots = [result(held_window("sack", frto=frto)).plot for frto in (False, True)]
    for name, plot in (("first", plots[0]), ("other", plots[1]), ("again", plots[0])):
        save(plot.time_sequence(), tmp_path / name)
    first, again = ((tmp_path / f"{name}.svg").read_bytes() for name in ("first", "again"))
    assert first == again
    assert b'clip-path="url(#clip0)"' in first


def test_shared_copies_give_the_same_picture() -> None:
    plot = result(held_window("sack", frto=False)).plot
    alone = plot.time_sequence().to_dict(validate=False)
    with sharing():
        shared = plot.time_sequence().to_dict(validate=False)
    assert json.dumps(shared) == json.dumps(alone)


def test_a_copy_of_a_chart_is_its_own() -> None:
    chart = result(held_window("sack", frto=False)).plot.time_sequence()
    copy = chart.copy()
    copy.vconcat[0].layer[0].encoding.x.title = "another"
    assert chart.to_dict() != copy.to_dict()


def test_a_saved_page_needs_no_network(tmp_path: Path) -> None:
    page = tmp_path / "trace.html"
    result(burst("sack", frto=False, begins=0.0)).plot.time_sequence().save(page)
    text = page.read_text(encoding="utf-8")
    assert 'src="http' not in text
    assert len(text) > 500_000, "the page contains the library"


def test_a_figure_takes_a_size_and_a_title() -> None:
    figure = result(held_window("sack", frto=False)).plot.windows()
    other = figure.properties(width=400, height=250, title="Stalled")
    assert [panel.width for panel in other.vconcat] == [400, 400]
    assert [panel.height for panel in other.vconcat] == [150, 100]
    assert other.to_dict()["title"] == "Stalled"
    assert [panel.height for panel in figure.vconcat] == [300, 200], "the original is unchanged"


def test_a_box_plot_shows_five_numbers_and_the_published_median() -> None:
    five = summarise(np.arange(1, 101))
    assert five is not None
    chart = box_plot("T", "S", "kbit/s", [Box("A", five, 40.0), Box("B", five)])
    rows = data(chart, "published median")
    assert rows[0] == {
        "label": "A",
        "low": 1,
        "q1": 25.75,
        "median": 50.5,
        "q3": 75.25,
        "high": 100,
        "published": 40.0,
        "what": "published median",
    }
    assert rows[1]["published"] is None


def test_a_published_median_outside_of_the_band_looks_different() -> None:
    bands = [Band("Time", "A", 10, 9, 11, 10.5), Band("Time", "B", 10, 9, 11, 12)]
    chart = band_plot("T", "S", bands)
    assert legends(chart) == {"published median", "published median, outside of the band"}
    (outside,) = data(chart, "published median, outside of the band")
    assert outside["label"] == "B"


def test_the_ticks_of_narrow_panels_do_not_run_into_each_other() -> None:
    bands = [Band(name, "A", 105, 92, 119, 100) for name in ("Time (s)", "Lost")]
    svg = vl_convert.vegalite_to_svg(band_plot("T", "S", bands).to_dict(validate=False))
    ticks = re.findall(r'text-anchor="(\w+)" transform="translate\(([\d.]+),[^>]*>(\d+)<', svg)
    assert len(ticks) >= 2 * 3
    assert {anchor for anchor, _, _ in ticks} == {"middle"}
    # Three digits of 12 px take 20 px.
    for (_, left, before), (_, right, after) in pairwise(ticks):
        assert float(right) - float(left) > 30 or int(after) < int(before), "a new panel"


def test_tables_open_in_polars_and_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = Simulator.installed(monkeypatch)
    simulator.medians = {"sack": (80, 10, 20), "newreno": (90, 10, 20)}
    found = run("x", sender=["sack", "newreno"], runs=3)
    assert found.connections["run"].to_list() == list(range(6))
    assert found.connections["seed"].to_list() == [1, 2, 3] * 2
    assert pa.table(found.connections).num_rows == 6
    assert isinstance(found.timeouts, pl.DataFrame)
    assert (found.sender(2), found.sender(3)) == ("sack", "newreno")


def test_a_single_run_is_traced_and_many_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = Simulator.installed(monkeypatch)
    simulator.medians = {"sack": (80, 10, 20)}
    assert run("x").traced
    assert run("x", sender="sack+frto").segments.height > 0
    assert not run("x", sender="sack", runs=2).traced
    assert [requested["windows"] for requested in simulator.requested] == [True, True, False]


def test_overrides_reach_the_simulator_as_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = Simulator.installed(monkeypatch)
    run("x", set={"link.a.loss": 0.02, "receiver.dsack": True, "tcp.mss": "256 B"}, seed=7)
    (requested,) = simulator.requested
    assert requested["set"] == [
        *(("link.a.loss", "0.02"), ("receiver.dsack", "true")),
        ("tcp.mss", "256 B"),
    ]
    assert requested["seeds"] == range(7, 8)


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"jobs": 0}, {"seed": -1}, {"seed": 2**64}])
def test_wrong_numbers_are_errors(wrong: dict[str, int]) -> None:
    with pytest.raises(Error, match=r"runs is 0|jobs is 0|seed is"):
        run("x", **wrong)  # type: ignore[arg-type]


def test_a_result_writes_tables_and_captures(tmp_path: Path) -> None:
    both = result(held_window("sack", frto=False), held_window("newreno:careful", frto=True, run=1))
    written = both.write(tmp_path / "new")
    names = [path.name for path in written]
    assert names[0] == "connections.parquet"
    assert "run-1-newreno-careful-receiver.pcapng" in names
    capture = tmp_path / "new" / "run-1-newreno-careful-receiver.pcapng"
    assert capture.read_bytes() == b"run 1 at the receiver"
    assert pl.read_parquet(written[0]).equals(both.connections)


def test_a_sender_is_a_file_name() -> None:
    assert file_name("newreno:no-bugfix+frto") == "newreno-no-bugfix+frto"
