"""Curves as in the papers, and marks in the figure of a trace."""

import json
import re
from dataclasses import replace
from typing import Any

import altair as alt
import pytest
import vl_convert

from handmade_tables import Simulator
from rtolab.experiments import find
from rtolab.experiments.base import REXMITS, Curves, Experiment, Point, Variant
from rtolab.experiments.reproduce import reproduce
from rtolab.files import stem
from rtolab.plot.boxplots import Box, box_plot, curves, look
from rtolab.plot.experiment_figures import pictures
from rtolab.stats import Summary

TITLE = alt.TitleParams("Title")
LINES = [
    Point("SACK", 1, 20, 18, 22),
    Point("SACK", 10, 0),
    Point("Reno", 1, 15, 14, 16),
    Point("Reno", 10, 5, 0, 6),
]


def drawn(axes: Curves, *published: Point) -> list[dict[str, Any]]:
    """The layers of the figure."""
    return layers(curves(TITLE, axes, LINES, published))


def layers(chart: Any) -> list[dict[str, Any]]:
    """The layers of a figure, each with its values."""
    spec = chart.to_dict(validate=False)
    data = [layer.get("data", spec.get("data"))["name"] for layer in spec["layer"]]
    values = {name: read(rows) for name, rows in spec["datasets"].items()}
    return [
        layer | {"values": values[name]} for layer, name in zip(spec["layer"], data, strict=True)
    ]


def read(rows: list[dict[str, Any]] | str) -> list[dict[str, Any]]:
    """The rows of a set of data, which may be text."""
    found: list[dict[str, Any]] = json.loads(rows) if isinstance(rows, str) else rows
    return found


def points(layer: dict[str, Any]) -> list[tuple[float, float]]:
    return [(value["x"], value["y"]) for value in layer["values"]]


def test_a_line_has_bars_line_and_points() -> None:
    found = drawn(Curves("name", "caption", "loss", "rate"))
    assert [layer["mark"]["type"] for layer in found] == ["rule", "line", "point"] * 2
    assert points(found[1]) == [(1, 20), (10, 0)]
    offsets = [layer["mark"]["xOffset"] for layer in found]
    assert offsets == [-1.25] * 3 + [1.25] * 3
    scale = found[1]["encoding"]["color"]["scale"]
    assert scale["domain"] == ["SACK", "Reno"]
    assert len(set(scale["range"])) == 2


def test_printed_points_are_diamonds_of_their_lines_colour() -> None:
    *_, last = drawn(Curves("name", "caption", "loss", "rate"), Point("Reno", 2, 9))
    assert (last["mark"]["shape"], last["mark"]["filled"]) == ("diamond", False)
    assert points(last) == [(2, 9)]
    assert last["encoding"]["color"]["scale"]["domain"] == ["SACK", "Reno"]


def test_a_logarithmic_axis_leaves_out_zero() -> None:
    found = drawn(Curves("name", "caption", "loss", "rate", log_y=True))
    assert points(found[1]) == [(1, 20)]
    assert found[1]["encoding"]["y"]["scale"]["type"] == "log"
    reno = found[3]["values"]
    assert [bar["low"] for bar in reno] == [14, 5], "a bar to 0 ends at its point"


def over_loss(**figure: Any) -> Experiment:
    variants = tuple(
        Variant(sender, sender.upper(), f"{x} %", series=sender, x=float(x))
        for sender in ("sack", "newreno")
        for x in (1, 10)
    )
    curve = Curves("curve", "A curve", "loss (%)", "rexmits", **figure)
    return Experiment(
        "frto2002/x", "X", "Fig. X", (), scenario="x", variants=variants, figures=(curve,)
    )


@pytest.fixture
def simulator(monkeypatch: pytest.MonkeyPatch) -> Simulator:
    simulator = Simulator.installed(monkeypatch)
    simulator.medians = {"sack": (10, 5, 20), "newreno": (20, 5, 30)}
    return simulator


@pytest.mark.usefixtures("simulator")
def test_a_curve_is_of_medians_and_quartiles() -> None:
    printed = (Point("sack", 1, 25),)
    done = reproduce(over_loss(metric=REXMITS, scale=10, published=printed), seed=1, runs=5)
    (picture,) = pictures(done)
    chart = picture.draw()
    (line,) = [
        layer
        for layer in layers(chart)
        if layer["mark"]["type"] == "line" and layer["values"][0]["series"] == "sack"
    ]
    assert [(p["x"], p["y"], p["low"], p["high"]) for p in line["values"]] == [
        *((1, 200, 190, 200), (10, 200, 190, 200)),
    ]
    assert "diamonds: as printed" in str(chart.title.subtitle)
    assert (picture.name, picture.caption) == ("curve", "A curve")


@pytest.mark.usefixtures("simulator")
def test_a_curve_can_show_some_variants_or_given_points() -> None:
    only = over_loss(metric=REXMITS, only=lambda variant: variant.sender == "sack")
    given = over_loss(points=lambda measured: [Point("runs", 1, measured.runs, 1, 9)])
    lines = []
    for experiment in (only, given):
        (picture,) = pictures(reproduce(experiment, seed=1, runs=5))
        found = layers(picture.draw())
        lines.append([(layer["mark"]["type"], points(layer)[0]) for layer in found])
    assert lines[0][1] == ("line", (1, 20))
    assert len(lines[0]) == 3
    assert lines[1][1] == ("line", (1, 5))


@pytest.mark.usefixtures("simulator")
def test_each_condition_has_a_box_plot_that_names_it() -> None:
    done = reproduce(replace(over_loss(), metrics=(REXMITS,), figures=()), seed=1, runs=5)
    drawn = pictures(done)
    assert [picture.name for picture in drawn] == ["rexmits-1", "rexmits-10"]
    titles = [picture.draw().title for picture in drawn]
    assert [title.text for title in titles] == ["X", "X"]
    assert [title.subtitle.partition("; ")[0] for title in titles] == ["1 %", "10 %"]


def test_marks_are_in_the_figure_of_a_trace(simulator: Simulator) -> None:
    (figure,) = find(["frto2002/fig2"])
    result = reproduce(figure, seed=1).of["sack"].result
    marks = [(23.0, "A: the ACK"), (22.5, "the timer expires")]
    spec = str(result.plot.time_sequence(between=(20, 30), marks=marks).to_dict(validate=False))
    assert spec.index("the timer expires") < spec.index("A: the ACK")
    assert simulator.requested


def test_no_two_lines_are_drawn_alike_with_or_without_points() -> None:
    looks = [look(place) for place in range(32)]
    assert len({(color, tuple(dash)) for color, _, dash in looks}) == 32


def test_long_labels_of_boxes_have_several_lines() -> None:
    label = "NewReno, less careful bugfix"
    chart = box_plot("Title", "", "time (s)", [Box(label, Summary(1, 1.0, 1.0, 1.0, 1.0, 1.0))])
    svg = vl_convert.vegalite_to_svg(chart.to_dict(validate=False))
    assert re.findall(r"<tspan[^>]*>([^<]*)", svg) == ["NewReno,", "less careful bugfix"]


def test_a_file_name_has_no_special_characters() -> None:
    assert stem("sack:no-bugfix @ 2 % loss, 10/20") == "sack-no-bugfix-2-loss-10-20"
    assert stem("sack+frto") == "sack+frto"
