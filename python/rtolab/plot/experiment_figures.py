"""The figures of an experiment."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import altair as alt
import polars as pl

from rtolab.experiments.base import THROUGHPUT, TIME, Curves, Mark, Metric, Point
from rtolab.experiments.reproduce import BAND_OF, Reproduction, Row
from rtolab.files import stem
from rtolab.plot.boxplots import Band, Box, band_plot, box_plot, curves
from rtolab.plot.style import Chart
from rtolab.plot.views import number
from rtolab.result import PLACES
from rtolab.stats import Summary, summarise

MOST_CONDITIONS = 4
"""The most conditions for which box plots are drawn."""


@dataclass(frozen=True)
class Picture:
    """A figure of an experiment.

    Attributes:
        name: of its files, without suffix.
        caption: its caption.
        draw: draws it.
    """

    name: str
    caption: str
    draw: Callable[[], Chart]


def pictures(reproduction: Reproduction) -> list[Picture]:
    """The figures of an experiment with runs, in the order of the report."""
    experiment = reproduction.experiment
    drawn = [_curves(reproduction, figure) for figure in experiment.figures]
    if experiment.is_trace:
        return drawn + _traces(reproduction)
    if drawn or not experiment.variants:
        return drawn
    conditions = dict.fromkeys(v.condition for v in experiment.variants)
    metric = (
        THROUGHPUT if THROUGHPUT in experiment.metrics else next(iter(experiment.metrics), None)
    )
    if metric and len(conditions) <= MOST_CONDITIONS:
        drawn = [_boxes(reproduction, metric, condition) for condition in conditions]
    banded = any(row.band for row in reproduction.rows)
    return [*drawn, _bands(reproduction)] if banded else drawn


def _curves(reproduction: Reproduction, figure: Curves) -> Picture:
    experiment = reproduction.experiment

    def draw() -> Chart:
        dots = _dots(reproduction, figure)
        hidden = sum(not figure.shows(dot.x, dot.y) for dot in dots)
        how = [experiment.source]
        if figure.metric and reproduction.runs > 1:
            how.append(f"medians of {reproduction.runs} runs, bars from quartile to quartile")
        if figure.published:
            how.append("diamonds: as printed")
        if hidden:
            how.append(f"{hidden} points at 0 have no place on a logarithmic axis")
        said = [figure.caption, "; ".join(how)]
        title = alt.TitleParams(experiment.title, subtitle=said, anchor="start", offset=12)
        return curves(title, figure, dots, figure.published)

    return Picture(figure.name, figure.caption, draw)


def _dots(reproduction: Reproduction, figure: Curves) -> Sequence[Point]:
    measured = reproduction.measured
    if measured is None:
        return []
    if figure.points:
        return figure.points(measured)
    dots = []
    for variant in reproduction.experiment.variants:
        if variant.x is None or figure.metric is None or (figure.only and not figure.only(variant)):
            continue
        five = summarise(measured.values(variant.key, figure.metric))
        if five:
            y, low, high = (figure.scale * value for value in (five.median, five.q1, five.q3))
            line = variant.series or variant.label
            dots.append(Point(line, variant.x, y, *((low, high) if five.n > 1 else ())))
    return dots


def _traces(reproduction: Reproduction) -> list[Picture]:
    """Traces at both hosts, or only at the sender with `quick`."""
    experiment = reproduction.experiment
    places = PLACES[:1] if reproduction.quick else PLACES

    def trace(key: str, place: str) -> Picture:
        mine = reproduction.of[key]
        variant = experiment.variant(key)
        return Picture(
            f"{stem(variant.key)}-{place}",
            f"{variant.title}: packets at the {place}",
            lambda: mine.result.plot.time_sequence(
                mine.first,
                place,
                between=experiment.shown,
                marks=list(_marks(experiment.marks, mine.result.timeouts, mine.first)),
            ),
        )

    return [trace(key, place) for key in reproduction.of for place in places]


def _marks(marks: Sequence[Mark], timeouts: pl.DataFrame, run: int) -> Iterator[tuple[float, str]]:
    """The marks that this run has, each at its time."""
    for mark in marks:
        if mark.event is None:
            yield mark.at, mark.text
            continue
        later = (pl.col("run") == run) & (pl.col("at_s") >= mark.at)
        found = timeouts.filter(later & (pl.col("kind") == mark.event))["at_s"].min()
        if found is not None:
            yield number(found), mark.text


def _boxes(reproduction: Reproduction, metric: Metric, condition: str) -> Picture:
    experiment = reproduction.experiment
    named = f" ({condition})" if condition else ""
    quantity = f"{metric.label.lower()} ({_unit(metric)})" if metric.unit else metric.label.lower()

    def draw() -> Chart:
        boxes = [
            Box(row.variant.label, _scaled(row.measured, metric), _published(reproduction, row))
            for row in reproduction.rows
            if row.metric is metric and row.variant.condition == condition and row.measured
        ]
        how = f"box: quartiles; line: median; whiskers: extremes of {reproduction.runs} runs"
        # The title of an experiment may name several conditions already.
        said = "; ".join(filter(None, (condition, experiment.source, how)))
        return box_plot(experiment.title, said, quantity, boxes)

    ending = f"-{stem(condition)}" if condition else ""
    return Picture(f"{metric.name}{ending}", f"{metric.label} of each variant{named}", draw)


def _unit(metric: Metric) -> str:
    return "kbit/s" if metric is THROUGHPUT else metric.unit


def _scaled(summary: Summary, metric: Metric) -> Summary:
    """A summary in the unit of the figure."""
    if metric is not THROUGHPUT:
        return summary
    five = (summary.median, summary.q1, summary.q3, summary.min, summary.max)
    return Summary(summary.n, *(value / 1000 for value in five))


def _published(reproduction: Reproduction, row: Row) -> float | None:
    """The published median; for throughput, derived from the published median time."""
    published = reproduction.experiment.published
    if row.metric is not THROUGHPUT:
        return row.published
    time = published.get((row.variant.key, TIME.name))
    size = reproduction.of[row.variant.key].every_connection["bytes"][0]
    return 8 * size / 1000 / time if time else None


def _bands(reproduction: Reproduction) -> Picture:
    experiment = reproduction.experiment

    def draw() -> Chart:
        bands = [
            Band(
                f"{row.metric.label} ({row.metric.unit})" if row.metric.unit else row.metric.label,
                row.variant.title,
                row.measured.median,
                *row.band,
                row.published,
            )
            for row in reproduction.rows
            if row.band and row.measured and row.published is not None
        ]
        how = (
            f"bar: central 90 % of the medians of {BAND_OF} runs, drawn from our "
            f"{reproduction.runs}; line: the median of all"
        )
        return band_plot(experiment.title, how, bands)

    caption = f"The published medians of {BAND_OF} runs against the scatter of such medians"
    return Picture("medians", caption, draw)
