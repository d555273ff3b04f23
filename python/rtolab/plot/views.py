"""What figures of packets show: the tables of one flow of a run, within a time span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import altair as alt
import polars as pl

from rtolab._rtolab import Error
from rtolab.result import PLACES

EDGE = "right edge of the window"
FITS = 0.4
"""The right edge of the window may take this share of the height that the packets take."""


class Traced(Protocol):
    """The tables of traced runs: a `Result`, or a folder that `rtolab run --out` wrote."""

    @property
    def connections(self) -> pl.DataFrame:
        """The table of connections."""

    @property
    def segments(self) -> pl.DataFrame:
        """The table of segments."""

    @property
    def timeouts(self) -> pl.DataFrame:
        """The table of timeouts."""

    @property
    def windows(self) -> pl.DataFrame:
        """The table of windows."""

    @property
    def disturbances(self) -> pl.DataFrame:
        """The table of disturbances."""


class Folder:
    """The tables in the folder of `rtolab run --out`.

    Attributes:
        path: the folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __getattr__(self, table: str) -> pl.DataFrame:
        if table.startswith("_"):
            raise AttributeError(table)
        file = self.path / f"{table}.parquet"
        if not file.is_file():
            of_one = " with one seed, which records packets" if table == "segments" else ""
            raise Error(
                f"{self.path}: found no {file.name}; expected the folder of `rtolab run --out`"
                f"{of_one}"
            )
        read = pl.read_parquet(file, glob=False)
        setattr(self, table, read)
        return read


def number(value: object) -> float:
    """An aggregate of a column of numbers; 0 for that of an empty column."""
    return float(value) if isinstance(value, int | float) else 0.0


@dataclass(frozen=True)
class View:
    """The tables of one flow of a run, and the time span shown, in seconds."""

    heading: str
    flow: str
    segments: pl.DataFrame
    timeouts: pl.DataFrame
    windows: pl.DataFrame
    disturbances: pl.DataFrame
    span: tuple[float, float]

    def shown(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows within the span."""
        return frame.filter(pl.col("at_s").is_between(*self.span))

    def steps(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a step line within the span.

        It begins with the last row before the span, and goes on to the end of the span if the flow
        does.
        """
        begin, end = self.span
        before = frame.filter(pl.col("at_s") < begin).tail(1)
        inside = pl.concat([before.with_columns(at_s=pl.lit(float(begin))), self.shown(frame)])
        edge = min(float(end), self.last_s)
        after = inside.tail(1).filter(pl.col("at_s") < edge).with_columns(at_s=pl.lit(edge))
        return pl.concat([inside, after])

    @property
    def first_s(self) -> float:
        """When something of the flow was seen for the first time."""
        times = [frame["at_s"] for frame in (self.segments, self.windows) if frame.height]
        return min((number(time.min()) for time in times), default=0.0)

    @property
    def last_s(self) -> float:
        """When something of the flow was seen for the last time."""
        times = [frame["at_s"] for frame in (self.segments, self.windows) if frame.width]
        return max((number(time.max()) for time in times), default=0.0)

    def title(self, what: str) -> alt.TitleParams:
        """The title of the figure."""
        subtitle = f"{what}; {self.flow}"
        return alt.TitleParams(self.heading, subtitle=subtitle, anchor="start", offset=12)

    def x(self, *, labelled: bool) -> alt.X:
        """The time axis."""
        title = "time (s)" if labelled else None
        axis = alt.Axis(
            title=title,
            labels=labelled,
            grid=True,
            tickCount=12,
            labelOverlap=True,
            labelSeparation=4,
        )
        margin = 0.01 * (self.span[1] - self.span[0])
        domain = [self.span[0] - margin, self.span[1] + margin]
        return alt.X("at_s:Q", scale=alt.Scale(domain=domain, nice=False), axis=axis)


@dataclass(frozen=True)
class FlowPackets:
    """The data segments and ACKs of a flow at one host."""

    view: View
    data: pl.DataFrame
    acks: pl.DataFrame

    @classmethod
    def at(cls, view: View, place: str) -> FlowPackets:
        """The packets at the sender or the receiver, in order."""
        out, back = ("sent", "received") if place == "sender" else ("received", "sent")
        here = view.segments.filter(pl.col("place") == place).sort("at_s", maintain_order=True)
        data = here.filter((pl.col("event") == out) & (pl.col("len") > 0))
        acks = here.filter((pl.col("event") == back) & pl.col("ack").is_not_null())
        return cls(view, data, acks)

    @cached_property
    def ack_steps(self) -> pl.DataFrame:
        """The ACKs as a step line within the span."""
        return self.view.steps(self.acks)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest sequence number shown, of data and ACKs."""
        data = self.view.shown(self.data)
        ends = [*data["seq"], *(data["seq"] + data["len"]), *self.ack_steps["ack"]]
        return (min(ends), max(ends)) if ends else (0, 1)

    @cached_property
    def edges(self) -> pl.DataFrame:
        """The right edge of the advertised window, as steps."""
        steps = self.ack_steps
        return steps.select("at_s", seq="window_edge", what=pl.lit(EDGE)).drop_nulls()

    @cached_property
    def edge_fits(self) -> bool:
        """Does the right edge fit into the panel of the packets?"""
        low, high = self.ends
        return max(self.edges["seq"].to_list(), default=high) - high <= FITS * (high - low)


def check_place(place: str) -> None:
    """Raises Error unless packets are seen there."""
    if place not in PLACES:
        raise Error(f"no place `{place}`: packets are seen at sender and receiver")


def check_span(views: Sequence[View], between: tuple[float, float] | None) -> None:
    """Raises Error if there is nothing of the runs between these instants."""
    times = [time for view in views for time in (view.first_s, view.last_s)]
    if between is not None and (between[0] > max(times) or between[1] < min(times)):
        raise Error(
            f"between: found {between[0]:g} to {between[1]:g} s; expected a part of "
            f"{min(times):.4g} to {max(times):.4g} s, when there were packets"
        )


def view_of(
    traced: Traced,
    run: int,
    *,
    flow: str | None = None,
    between: tuple[float, float] | None = None,
    scenario: str = "",
) -> View:
    """The tables of one flow of a run.

    Args:
        traced: the tables.
        run: the number of the run.
        flow: by default the run's first.
        between: begin and end, in seconds; by default the whole run.
        scenario: for the heading.

    Raises:
        Error: no such flow, or a span without length.
    """
    if between is not None and not between[0] < between[1]:
        raise Error(f"between: found {between[0]} to {between[1]}; expected begin before end")
    mine = pl.col("run") == run
    connections = traced.connections.filter(mine)
    flows = connections["flow"].to_list()
    flow = flows[0] if flow is None else flow
    if flow not in flows:
        raise Error(f"no flow `{flow}` in run {run}; there are {', '.join(flows)}")
    of_flow = mine & (pl.col("flow") == flow)
    segments, windows = traced.segments.filter(of_flow), traced.windows.filter(of_flow)
    ends = pl.concat([segments["at_s"], windows["at_s"]])
    requested = connections["sender"][0]
    sender = connections.filter(of_flow)["flow_sender"][0] or requested
    among = f", in the run of {requested}" if sender != requested else ""
    return View(
        f"{sender} on {scenario}" if scenario else str(sender),
        f"flow {flow}, seed {connections['seed'][0]}{among}",
        segments,
        traced.timeouts.filter(of_flow & (pl.col("end") == "sender")),
        windows,
        traced.disturbances.filter(mine),
        between or (0.0, number(ends.max())),
    )
