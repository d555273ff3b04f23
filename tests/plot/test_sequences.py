"""Time-sequence figures of several senders, at the size of a column."""

import re
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_plot import data

from handmade_tables import Outcome, Tape, burst, held_window, tables
from prerequisites import require_tool
from rtolab import Error
from rtolab.plot import COLUMNS, Figure, Folder, time_sequence
from rtolab.result import Result


def result(*tapes: Tape) -> Result:
    outcome: Any = Outcome(tables(*tapes))
    return Result("frto2002-delays", outcome, runs=len(tapes), traced=True)


def three() -> Result:
    return result(
        held_window("sack", frto=False),
        held_window("sack+frto", frto=True, run=1),
        burst("newreno", frto=False, begins=0.0, run=2),
    )


@pytest.fixture(scope="module")
def figure() -> Figure:
    return time_sequence(three())


def texts(figure: Figure) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", figure.svg())


def size(figure: Figure) -> tuple[float, ...]:
    """Width and height in inches, and those of the page, in points."""
    found = re.search(
        r'width="([\d.]+)in" height="([\d.]+)in" viewBox="0 0 ([\d.]+) ([\d.]+)"', figure.svg()
    )
    assert found is not None
    return tuple(map(float, found.groups()))


@pytest.mark.slow
@pytest.mark.parametrize("column", [*COLUMNS])
def test_a_figure_is_exactly_as_wide_as_a_column(column: str) -> None:
    figure = time_sequence(three(), column=column)
    width, height, across, down = size(figure)
    assert width == pytest.approx(COLUMNS[column], abs=1e-4)
    assert (across, down) == pytest.approx((72 * width, 72 * height), abs=0.01)
    (box,) = re.findall(rb"MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", figure.pdf())
    assert [float(side) for side in box] == pytest.approx([across, down], abs=0.01)
    pixels = struct.unpack(">II", figure.png()[16:24])
    assert pixels == pytest.approx((300 * width, 300 * height), abs=1)
    panel = figure.chart.vconcat[1]
    assert 0.75 * across < panel.width < across


def test_the_widths_are_those_of_the_publishers() -> None:
    ours = {name: round(width, 2) for name, width in COLUMNS.items()}
    assert ours == {"ieee": 3.5, "ieee-wide": 7.16, "acm": 3.34, "acm-wide": 7.01}


@pytest.mark.slow
def test_size_title_and_fonts_are_options() -> None:
    figure = time_sequence(
        three(), width_in=4, height_in=5, title="Stalled", font="DejaVu Serif", font_pt=10
    )
    assert size(figure)[:2] == (4, 5)
    assert "Stalled" in texts(figure)
    assert 'font-family="DejaVu Serif" font-size="10px"' in figure.svg()
    assert b"DejaVuSerif" in figure.pdf()
    other = figure.properties(title="Another", width_in=3)
    assert "Another" in texts(other)
    assert size(other)[:2] == (3, 5)
    assert "Stalled" in texts(figure), "the original is unchanged"


@pytest.mark.slow
def test_each_sender_has_a_panel_with_its_name_and_outcome(figure: Figure) -> None:
    said = texts(figure)
    assert [word for word in said if word in {"sack", "sack+frto", "newreno"}] == [
        *(2 * ["sack"]),
        *(2 * ["sack+frto"]),
        *(2 * ["newreno"]),
    ], "in white outlines, and in black"
    assert any(re.fullmatch(r"[\d.]+ s, \d+ unneeded retransmissions", word) for word in said)
    only = texts(time_sequence(three(), ["newreno", "sack"]))
    assert only.index("newreno") < only.index("sack")
    assert "sack+frto" not in only


def test_the_key_explains_what_is_drawn_and_is_not_labelled(figure: Figure) -> None:
    said = texts(time_sequence(result(held_window("sack", frto=False)), between=(0, 8)))
    assert said.count("stall") == 2, "the label with its white outline, and no entry of the key"
    assert {"spurious timeout", "unneeded retransmission", "acknowledged"} <= set(said)
    assert "lost" not in said
    assert "lost" in texts(figure)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "truth", "name"),
    [
        ("timeout", "spurious", "spurious timeout"),
        ("timeout", "genuine", "genuine timeout"),
        ("timeout", "ack-lost", "timeout, only ACKs lost"),
        ("fast_retransmit", "spurious", "spurious fast retransmit"),
        ("fast_retransmit", "genuine", "fast retransmit"),
        ("fast_retransmit", "ack-lost", "fast retransmit"),
        ("probe", "ack-lost", "tail loss probe"),
    ],
)
@pytest.mark.parametrize("overlay", [False, True])
def test_every_event_is_drawn_whatever_its_truth(
    kind: str, truth: str, name: str, *, overlay: bool
) -> None:
    tape = held_window("sack", frto=False)
    for event in tape.rows["timeouts"]:
        event |= {"kind": kind, "truth": truth}
    said = texts(time_sequence(result(tape), overlay=overlay))
    if overlay:
        name = name.removeprefix("genuine ").removesuffix(", only ACKs lost")
    assert name in said


def test_one_retransmission_is_no_plural() -> None:
    said = texts(time_sequence(result(held_window("sack+frto", frto=True))))
    assert "12.4 s, 1 unneeded retransmission" in said


def test_a_line_goes_on_to_the_edge_where_the_flow_does() -> None:
    traced = result(held_window("sack", frto=False))
    figure = time_sequence(traced, between=(0, 6.15))
    sets = figure.chart.to_dict(validate=False)["datasets"].values()
    assert [
        text
        for text in sets
        if isinstance(text, str) and text.endswith('"at_s":6.15,"seq":0.257}]')
    ]
    assert data(traced.plot.time_sequence(between=(0, 6.15)), "acknowledged")[-1]["at_s"] == 6.15
    whole = data(traced.plot.time_sequence(between=(0, 1000)), "acknowledged")
    assert whole[-1]["at_s"] < 1000, "nothing goes on after the last packet"


def test_thin_ticks_of_neighbouring_segments_do_not_merge() -> None:
    svg = time_sequence(result(held_window("sack", frto=False)), between=(0, 5)).svg()
    ticks = max(re.findall(r'd="([^"]*)"[^>]*stroke="#0072B2"', svg), key=len)
    lines = re.findall(r"M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)", ticks)
    assert len(lines) == 8
    assert all(x == also for x, _, also, _ in lines), "ticks are upright"
    assert {round(float(begin) - float(end), 1) for _, begin, _, end in lines} != {0.0}


def test_the_window_and_marks_are_drawn_on_request() -> None:
    traced = result(held_window("sack", frto=False))
    assert "right edge of the window" not in texts(time_sequence(traced))
    figure = time_sequence(traced, window=True, marks=[(3.0, "here")])
    assert {"right edge of the window", "here"} <= set(texts(figure))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": "iee"}, "column: found iee; expected ieee"),
        ({"width_in": 0.1}, "width_in: found 0.1; expected 1 to 40"),
        ({"font_pt": 100}, "font_pt: found 100"),
        ({"with_in": 3}, 'found the option with_in; expected .*did you mean "width_in"'),
        ({"place": "router"}, "no place `router`"),
        ({"flow": "x"}, "no flow `x` in run 0; there are transfer"),
        ({"senders": ["sak"]}, "found no run of the sender sak; expected sack"),
        ({"between": (3, 3)}, "between: found 3 to 3; expected begin before end"),
        ({"between": (200, 300)}, "between: found 200 to 300 s; expected a part of -1 to 10.8"),
        ({"between": (200, 300), "overlay": True}, "found 200 to 300 s; .*-1 to 10.8"),
    ],
)
def test_a_wrong_option_is_an_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        time_sequence(three(), **options)


def test_a_figure_is_saved_in_the_format_of_its_suffix(tmp_path: Path, figure: Figure) -> None:
    begins = {"pdf": b"%PDF", "svg": b"<svg", "png": b"\x89PNG", "html": b"<!DOCTYPE"}
    for suffix, begin in begins.items():
        path = figure.save(tmp_path / "new" / f"fig.{suffix}")
        assert path.read_bytes().startswith(begin)
    with pytest.raises(Error, match=r"found the suffix `\.gif`; expected"):
        figure.save(tmp_path / "fig.gif")


def test_a_figure_has_the_same_bytes_every_time(figure: Figure) -> None:
    other = time_sequence(three())
    assert len({one.pdf() for one in (figure, other, figure, other, figure)}) == 1
    assert figure.svg() == other.svg()
    assert figure.svg() == figure._repr_svg_()


def test_a_pdf_can_be_read(tmp_path: Path, figure: Figure) -> None:
    path = figure.save(tmp_path / "fig.pdf")
    tool = require_tool("pdftotext", "poppler-utils")
    found = subprocess.run([tool, path, "-"], capture_output=True, text=True, check=True)
    assert found.stderr == ""
    assert {"sack+frto", "Time (s)"} <= set(found.stdout.split("\n"))


def test_a_figure_of_a_folder_is_that_of_its_result(tmp_path: Path, figure: Figure) -> None:
    traced = three()
    traced.write_tables(tmp_path)
    assert time_sequence(Folder(tmp_path)).svg() == figure.svg()
    with pytest.raises(Error, match=r"found no connections\.parquet"):
        time_sequence(Folder(tmp_path / "other"))


def test_untraced_runs_have_no_packets() -> None:
    tape = Tape("sack")
    tape.ends(80.0)
    with pytest.raises(Error, match="trace=True"):
        time_sequence(result(tape))
