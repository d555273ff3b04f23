"""The panels of time-sequence figures for print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import altair as alt
import polars as pl

from rtolab.plot.keys import Key, key_rows
from rtolab.plot.paper import Format
from rtolab.plot.style import Layers, Unit
from rtolab.plot.trace_panels import (
    ACKED,
    BLACK,
    CROSS,
    DROPPED,
    EDGE,
    FIRST,
    GREY,
    NEEDED,
    PURPLE,
    SACKED,
    SHADES,
    SKY,
    TICK,
    UNKNOWN,
    UNNEEDED,
    VERMILION,
    packet_marks,
    rows,
    sack_blocks,
)
from rtolab.plot.trace_plot import StackedChart
from rtolab.plot.views import FlowPackets, View, number
from rtolab.text import counted

LOOKS: dict[str, tuple[str, str, float]] = {
    FIRST.name: (TICK, FIRST.color, 5.0),
    NEEDED.name: ("triangle-up", NEEDED.color, 13.0),
    UNNEEDED.name: ("diamond", UNNEEDED.color, 13.0),
    UNKNOWN.name: ("square", UNKNOWN.color, 10.0),
    DROPPED.name: (CROSS, BLACK, 13.0),
}
"""For each kind of packet its shape, colour and area in square points, at a font of 8 points."""
EVENTS = {
    ("timeout", "spurious"): ("spurious timeout", VERMILION, [3.0, 1.5]),
    ("timeout", "genuine"): ("genuine timeout", BLACK, [3.0, 1.5]),
    ("timeout", "ack-lost"): ("timeout, only ACKs lost", GREY, [3.0, 1.5]),
    ("fast_retransmit", "spurious"): ("spurious fast retransmit", VERMILION, [0.8, 1.2]),
    ("fast_retransmit", "genuine"): ("fast retransmit", PURPLE, [0.8, 1.2]),
    ("fast_retransmit", "ack-lost"): ("fast retransmit", PURPLE, [0.8, 1.2]),
    ("probe", "genuine"): ("tail loss probe", SKY, [0.8, 1.2]),
    ("probe", "spurious"): ("tail loss probe", SKY, [0.8, 1.2]),
    ("probe", "ack-lost"): ("tail loss probe", SKY, [0.8, 1.2]),
}
"""For kind and truth of an event its name, colour and dash."""
SHADED = {look.name: look.color for look in SHADES}
LEAST_TICK = 2.2
"""The least height of a segment, in points."""
NOTHING = Unit(alt.InlineData(values=[{}]))
"""The data of a mark at a fixed place."""


@dataclass(frozen=True)
class Options:
    """What a figure shows of each flow; see `time_sequence`."""

    place: str
    window: bool
    marks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class TransferOutcome:
    """What became of a sender's transfer: `ended` is its time, or that it is unfinished."""

    sender: str
    ended: str
    unneeded: int

    @property
    def short(self) -> str:
        """The outcome in few words."""
        return f"{self.ended}, {self.unneeded} unneeded"

    @property
    def long(self) -> str:
        """The outcome in full."""
        return f"{self.ended}, {counted(self.unneeded, 'unneeded retransmission')}"


class Panels:
    """A figure with panels of this size."""

    def __init__(
        self,
        form: Format,
        size: tuple[float, float],
        flows: Sequence[FlowPackets],
        options: Options,
    ) -> None:
        self.form, self.width, self.flows, self.options = form, size[0], flows, options
        self.height = max(20.0, size[1])
        self.scale = form.font_pt / 8.0
        self.span = flows[0].view.span
        edges = [number(seen.edges["seq"].max()) for seen in flows if options.window]
        high = max([seen.ends[1] for seen in flows] + edges)
        low = min(seen.ends[0] for seen in flows)
        margin = 0.04 * (high - low)
        self.low, self.high = float(low - margin), float(high + margin)
        self.unit = 1e6 if high >= 2e6 else 1e3 if high >= 2e3 else 1.0
        self.keys: dict[str, Key] = {}
        self.labelled: set[str] = set()

    def chart(self, said: Sequence[TransferOutcome]) -> StackedChart:
        """The figure with the outcomes of its senders."""
        panels = [self._panel(at, seen, said[at]) for at, seen in enumerate(self.flows)]
        left = self._y_title_offset()
        gap = 0.5 * self.form.font_pt
        middle = 0.5 * (len(panels) * self.height + (len(panels) - 1) * gap)
        self._title(panels[0], middle, left)
        keys = [key for name_, key in self.keys.items() if name_ not in self.labelled]
        key = key_rows(keys, self.form, self.width, left + self.form.font_pt)
        shared = alt.Resolve(scale=alt.ScaleResolveMap(x="shared"))
        # What lies outside of a panel takes no room between the panels.
        return StackedChart(
            vconcat=[key, *panels], spacing=gap, bounds="flush", resolve=shared, center=False
        )

    def _title(self, panel: alt.LayerChart, middle: float, left: float) -> None:
        """The title of the vertical axis."""
        name = {1e6: "MB", 1e3: "kB", 1.0: "bytes"}[self.unit]
        title = NOTHING.mark_text(
            text=f"Sequence number ({name})", angle=270, baseline="bottom", align="center"
        )
        panel.layer.append(title.encode(x=alt.value(-left), y=alt.value(middle)))

    def _y_title_offset(self) -> float:
        """How far the labels of the vertical axis reach to the left."""
        widest = max(len(f"{end / self.unit:,.0f}") for end in (self.low, self.high))
        return 0.56 * self.form.font_pt * widest + 8

    def _x(self, *, labelled: bool) -> alt.X:
        count = max(3, int(self.width / (4.5 * self.form.font_pt)))
        axis = alt.Axis(
            title="Time (s)" if labelled else None,
            labels=labelled,
            ticks=labelled,
            grid=False,
            tickCount=count,
        )
        margin = 0.01 * (self.span[1] - self.span[0])
        domain = [self.span[0] - margin, self.span[1] + margin]
        return alt.X("at_s:Q", scale=alt.Scale(domain=domain, nice=False), axis=axis)

    def _y(self) -> alt.Y:
        count = max(2, int(self.height / (2.2 * self.form.font_pt)))
        axis = alt.Axis(title=None, tickCount=count, grid=True)
        domain = [self.low / self.unit, self.high / self.unit]
        return alt.Y("seq:Q", axis=axis, scale=alt.Scale(domain=domain, nice=False, zero=False))

    def _panel(self, at: int, seen: FlowPackets, said: TransferOutcome) -> alt.LayerChart:
        x, y = self._x(labelled=at == len(self.flows) - 1), self._y()
        layers = [*self._shades(seen.view, x, first=at == 0), *self._events(seen.view, x)]
        layers += [*self._lines(seen, x, y), *self._segments(seen, x, y)]
        layers += [*self._labels(seen, said), *self._marks(x, first=at == 0)]
        return Layers(layer=layers, width=self.width, height=self.height)

    def _shades(self, view: View, x: alt.X, *, first: bool) -> list[alt.Chart]:
        start, end = self.span
        shown = view.disturbances.filter((pl.col("to_s") > start) & (pl.col("from_s") < end))
        layers = []
        for kind, color in SHADED.items():
            mine = shown.filter(pl.col("kind") == kind).select(
                at_s=pl.max_horizontal("from_s", pl.lit(start)),
                to_s=pl.min_horizontal("to_s", pl.lit(end)),
            )
            # Disturbances of several links at one time are one shade.
            mine = mine.unique(maintain_order=True)
            if mine.is_empty():
                continue
            shade = Unit(rows(mine)).mark_rect(color=color, opacity=0.25, clip=True)
            layers.append(shade.encode(x, alt.X2("to_s:Q")))
            self.keys.setdefault(kind, Key(kind, "shade", color))
            if first:
                layers += self._shade_label(kind, mine, x)
        return layers

    def _shade_label(self, kind: str, shades: pl.DataFrame, x: alt.X) -> list[alt.Chart]:
        """The name of a shade in its widest one at the lower right, where no packets are."""
        middle = (pl.col("at_s") + pl.col("to_s")) / 2
        late = shades.with_columns(middle=middle, length=pl.col("to_s") - pl.col("at_s"))
        begins_late = middle > self.span[0] + 0.3 * (self.span[1] - self.span[0])
        late = late.filter(begins_late).sort("length")
        room = number(late["length"].max()) / (self.span[1] - self.span[0])
        if room * self.width < self.form.text_width(kind, of=0.9) + 2:
            return []
        self.labelled.add(kind)
        text = Unit(rows(late.tail(1).select(at_s="middle"))).mark_text(
            text=kind, baseline="bottom", fontSize=0.9 * self.form.font_pt, fontStyle="italic"
        )
        return haloed(text.encode(x, y=alt.value(self.height - 2)))

    def _events(self, view: View, x: alt.X) -> list[alt.Chart]:
        known = pl.when("needed").then(pl.lit("genuine")).otherwise(pl.lit("spurious"))
        events = view.shown(view.timeouts).with_columns(truth=pl.coalesce("truth", known))
        layers = []
        for (kind, truth), (name, color, dash) in EVENTS.items():
            mine = events.filter((pl.col("kind") == kind) & (pl.col("truth") == truth))
            if mine.height:
                rule = Unit(rows(mine.select("at_s"))).mark_rule(
                    color=color, strokeWidth=0.6 * self.scale, strokeDash=dash, clip=True
                )
                layers.append(rule.encode(x))
                self.keys.setdefault(name, Key(name, "rule", color, dash=tuple(dash)))
        return layers

    def _lines(self, seen: FlowPackets, x: alt.X, y: alt.Y) -> list[alt.Chart]:
        acks = seen.ack_steps.select("at_s", seq=pl.col("ack") / self.unit)
        layers = [self._line(acks, ACKED.color, (1, 0)).encode(x, y)]
        self.keys.setdefault(ACKED.name, Key(ACKED.name, "line", ACKED.color))
        if self.options.window:
            edges = seen.edges.select("at_s", seq=pl.col("seq") / self.unit)
            layers.append(self._line(edges, EDGE.color, (3, 1.5)).encode(x, y))
            self.keys.setdefault(EDGE.name, Key(EDGE.name, "line", EDGE.color, dash=(3, 1.5)))
        blocks = sack_blocks(seen.view.shown(seen.acks))
        if blocks.height:
            ends = blocks.select("at_s", *(pl.col(c) / self.unit for c in ("seq", "end")))
            bars = Unit(rows(ends)).mark_rule(color=SKY, strokeWidth=self.scale, clip=True)
            layers.append(bars.encode(x, y, alt.Y2("end:Q")))
            self.keys.setdefault(SACKED.name, Key(SACKED.name, "rule", SKY))
        return layers

    def _line(
        self, frame: pl.DataFrame, color: str, dash: Sequence[float], aside: float = 0.0
    ) -> alt.Chart:
        line: alt.Chart = Unit(rows(frame)).mark_line(
            color=color,
            interpolate="step-after",
            strokeWidth=0.6 * self.scale,
            strokeDash=list(dash),
            clip=True,
            xOffset=aside or alt.Undefined,
        )
        return line

    def _segments(self, seen: FlowPackets, x: alt.X, y: alt.Y) -> list[alt.Chart]:
        marks = packet_marks(seen.view.shown(seen.data), float("inf"))
        layers = []
        for name, (shape, color, area) in LOOKS.items():
            mine = marks.filter(pl.col("what") == name)
            if mine.is_empty():
                continue
            if name == FIRST.name:
                layers.append(self._ticks(mine, color).encode(x, y, order=alt.OrderValue(None)))
            else:
                middles = mine.select("at_s", seq=(pl.col("seq") + pl.col("len") / 2) / self.unit)
                layers.append(self._point(middles, (shape, color, area)).encode(x, y))
            self.keys.setdefault(name, Key(name, "point", color, shape=shape, size=area))
        return layers

    def _point(
        self, middles: pl.DataFrame, look: tuple[str, str, float], aside: float = 0.0
    ) -> alt.Chart:
        shape, color, area = look
        point: alt.Chart = Unit(rows(middles)).mark_point(
            shape=shape,
            color=color,
            size=area * self.scale**2,
            strokeWidth=0.6 * self.scale,
            opacity=1,
            clip=True,
            xOffset=aside or alt.Undefined,
        )
        return point

    def _ticks(self, segments: pl.DataFrame, color: str, aside: float = 0.0) -> alt.Chart:
        """Segments from first to last byte, or a little more, as one line with gaps."""
        least = LEAST_TICK * self.scale * (self.high - self.low) / self.height
        more = pl.max_horizontal(least - pl.col("len"), pl.lit(0.0)) / 2
        begin, end = pl.col("seq") - more, pl.col("seq") + pl.col("len") + more
        ends = pl.concat_list(begin / self.unit, end / self.unit, pl.lit(None))
        ticks: alt.Chart = Unit(rows(segments.select("at_s", seq=ends).explode("seq"))).mark_line(
            color=color,
            strokeWidth=0.7 * self.scale,
            invalid="break-paths-filter-domains",
            clip=True,
            xOffset=aside or alt.Undefined,
        )
        return ticks

    def _labels(self, seen: FlowPackets, said: TransferOutcome) -> list[alt.Chart]:
        """The sender, with the outcome below, in the corner without packets."""
        size = self.form.font_pt
        is_room = self.form.text_width(said.long, of=0.9) < 0.7 * self.width
        outcome = said.long if is_room else said.short
        begin, end = self.span
        early = seen.view.shown(seen.data).filter(pl.col("at_s") < begin + 0.4 * (end - begin))
        below = number(early["seq"].max()) < self.low + 0.55 * (self.high - self.low)
        align: Literal["left", "right"] = "left" if below else "right"
        x = alt.value(4 if below else self.width - 4)
        top = 3 if below else self.height - 2.2 * size - 3
        bold = NOTHING.mark_text(text=said.sender, align=align, baseline="top", fontWeight="bold")
        plain = NOTHING.mark_text(text=outcome, align=align, baseline="top", fontSize=0.9 * size)
        return [
            *haloed(bold.encode(x=x, y=alt.value(top))),
            *haloed(plain.encode(x=x, y=alt.value(top + 1.15 * size))),
        ]

    def _marks(self, x: alt.X, *, first: bool) -> list[alt.Chart]:
        layers: list[alt.Chart] = []
        for at, text in self.options.marks:
            base = Unit(alt.InlineData(values=[{"at_s": at}])).encode(x)
            layers.append(base.mark_rule(strokeWidth=0.5, strokeDash=[1, 1], clip=True))
            if first:
                label = base.mark_text(
                    text=text, align="left", baseline="bottom", dx=2, fontStyle="italic"
                )
                layers.append(label.encode(y=alt.value(self.height - 2)))
        return layers


def haloed(text: alt.Chart) -> list[alt.Chart]:
    """A text in white outlines, so that lines below it do not cross it."""
    halo = text.copy()
    halo.mark = text.mark.copy()
    halo.mark.stroke, halo.mark.strokeWidth, halo.mark.strokeJoin = "white", 3, "round"
    return [halo, text]
