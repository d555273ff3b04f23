"""Figures of traced runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import altair as alt

from rtolab._rtolab import Error
from rtolab.plot.style import Shareable, styled
from rtolab.plot.trace_panels import (
    CONGESTION,
    DELAYED_S,
    TIMER,
    edge,
    sequence,
    steps,
)
from rtolab.plot.views import FlowPackets, View, check_place, check_span, view_of
from rtolab.result import Result


class StackedChart(Shareable, alt.VConcatChart):
    """Panels below each other, with a common time axis."""

    def properties(
        self, *, width: float | None = None, height: float | None = None, **others: Any
    ) -> Self:
        """A copy with other properties.

        Args:
            width: the width of each panel, in pixels.
            height: the height of all panels together, in pixels.
            others: properties that altair knows, such as `title`.
        """
        chart = super().properties(**others)
        chart.vconcat = [panel.copy() for panel in chart.vconcat]
        scale = 1 if height is None else height / sum(panel.height for panel in chart.vconcat)
        for panel in chart.vconcat:
            panel.width = panel.width if width is None else width
            panel.height = scale * panel.height
        return chart

    def save(self, *given: Any, **options: Any) -> None:
        """Write a file, as altair does. A page of HTML needs no network access."""
        if "html" in (options.get("format"), *(str(one).rpartition(".")[2] for one in given)):
            options.setdefault("inline", True)
        super().save(*given, **options)


class Plots:
    """The figures of a result: altair charts, which notebooks show and `save` writes."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def time_sequence(
        self,
        run: int = 0,
        place: str = "sender",
        *,
        flow: str | None = None,
        between: tuple[float, float] | None = None,
        delayed_s: float = DELAYED_S,
        marks: Sequence[tuple[float, str]] = (),
    ) -> StackedChart:
        """Sequence numbers over time: every data segment, ACK and SACK block seen at one host.

        The right edge of the advertised window has a panel of its own if it is far above. At the
        sender, windows and RTO have panels below if they were recorded. All panels
        zoom together.

        Args:
            run: the number of a traced run, from 0.
            place: "sender" or "receiver".
            flow: the flow, by default the run's first.
            between: begin and end, in seconds; by default the whole run.
            delayed_s: the shortest delay by the link that is marked, in seconds.
            marks: instants to mark, in seconds, each with a short text.

        Raises:
            Error: no such run, place or flow, or the run was not traced.
        """
        check_place(place)
        view = self._view(run, flow, between)
        if view.segments.is_empty():
            raise Error("no packets were recorded: run with trace=True")
        beneath = place == "sender" and view.windows.height > 0
        seen = FlowPackets.at(view, place)
        panels = [] if seen.edge_fits else [edge(seen)]
        panels.append(sequence(seen, delayed_s, marks, labelled=not beneath))
        if beneath:
            panels += [steps(view, CONGESTION, 130), steps(view, TIMER, 90)]
        title = view.title(f"packets at the {place}")
        return styled(stacked(panels), title)

    def windows(
        self,
        run: int = 0,
        *,
        flow: str | None = None,
        between: tuple[float, float] | None = None,
    ) -> StackedChart:
        """The congestion window, ssthresh, flight, RTO and SRTT of a sender over time.

        Args:
            run: the number of a run with recorded windows, from 0.
            flow: the flow, by default the run's first.
            between: begin and end, in seconds; by default the whole run.

        Raises:
            Error: no such run or flow, or the windows were not recorded.
        """
        view = self._view(run, flow, between)
        if view.windows.is_empty():
            raise Error("no windows were recorded: run with windows=True")
        panels = [steps(view, CONGESTION, 300), steps(view, TIMER, 200)]
        return styled(stacked(panels), view.title("windows of the sender"))

    def _view(self, run: int, flow: str | None, between: tuple[float, float] | None) -> View:
        self._result.check_run(run)
        result = self._result
        view = view_of(result, run, flow=flow, between=between, scenario=result.scenario)
        check_span([view], between)
        return view


def stacked(panels: Sequence[alt.LayerChart]) -> StackedChart:
    """Stacked panels with a common time axis."""
    shared = alt.Resolve(scale=alt.ScaleResolveMap(x="shared"))
    for panel in panels:
        panel.layer[0].name = "panel"
    chart = StackedChart(vconcat=list(panels), spacing=8, resolve=shared)
    zoom = alt.TopLevelSelectionParameter(
        name="zoom",
        select=alt.IntervalSelectionConfig(type="interval", encodings=["x"]),
        bind="scales",
        views=[panel.layer[0].name for panel in chart.vconcat],
    )
    chart.params = [zoom]
    return chart
