"""Time-sequence figures with several senders in one panel, for print."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import polars as pl

from rtolab.plot.keys import Key, key_rows
from rtolab.plot.label_places import Box, Curve, Room, places
from rtolab.plot.sequence_panels import LOOKS, NOTHING, Panels, TransferOutcome, haloed
from rtolab.plot.style import Layers, Unit
from rtolab.plot.trace_panels import ACKED, BLACK, EDGE, FIRST, TICK, packet_marks, rows
from rtolab.plot.trace_plot import StackedChart
from rtolab.plot.views import FlowPackets

SENDERS: tuple[tuple[str, tuple[float, ...]], ...] = (
    (BLACK, (1, 0)),
    ("#C85200", (4, 1.5)),
    ("#5AB4E5", (1, 0)),
    ("#004B87", (1.5, 1.2)),
)
"""The colour and the dash of each sender. The colours have lightnesses of their own (CIE L* 0, 50,
70 and 31), so that a copy in grey tells them apart."""
MOST_OVERLAID = len(SENDERS)
ASIDE = 0.9
"""The horizontal offset of senders, in points: equal packets of two runs are both seen."""
ROW_EM = 0.95
"""The height of a row of events."""
EVENTS = {
    ("timeout", False): ("timeout", "triangle-down", True),
    ("timeout", True): ("spurious timeout", "triangle-down", False),
    ("fast_retransmit", False): ("fast retransmit", "circle", True),
    ("fast_retransmit", True): ("spurious fast retransmit", "circle", False),
    ("probe", False): ("tail loss probe", TICK, False),
    ("probe", True): ("tail loss probe", TICK, False),
}
"""For the kind of an event, and whether it was spurious, its name and shape; is that filled?"""
EVENT_AREA = 14.0
ANY = "#666666"
"""The colour of what every sender has, in the key."""


class Overlay(Panels):
    """A figure with one panel of this size."""

    def chart(self, said: Sequence[TransferOutcome]) -> StackedChart:
        """The figure with the outcomes of its senders."""
        x, y = self._x(labelled=True), self._y()
        # Events are seen against the first run's disturbances, which the others share.
        layers = self._shades(self.flows[0].view, x, first=True)
        for number, seen in enumerate(self.flows):
            layers += self._curves(number, seen, x, y)
        for number, seen in enumerate(self.flows):
            layers += self._retransmissions(number, seen, x, y)
            layers += self._event_row(number, seen, x)
        labels = self._sender_labels(said)
        layers += [*labels, *self._marks(x, first=True)]
        panel = Layers(layer=layers, width=self.width, height=self.height)
        left = self._y_title_offset()
        self._title(panel, 0.5 * self.height, left)
        keys = [] if labels else self._sender_keys(said)
        keys += [key for name, key in self.keys.items() if name not in self.labelled]
        key = key_rows(keys, self.form, self.width, left + self.form.font_pt)
        gap = (0.4 + ROW_EM * self._event_rows) * self.form.font_pt
        return StackedChart(vconcat=[key, panel], spacing=gap, bounds="flush", center=False)

    @property
    def _event_rows(self) -> int:
        return sum(not seen.view.shown(seen.view.timeouts).is_empty() for seen in self.flows)

    def _aside(self, number: int) -> float:
        return ASIDE * self.scale * (number - (len(self.flows) - 1) / 2)

    def _curves(self, number: int, seen: FlowPackets, x: alt.X, y: alt.Y) -> list[alt.Chart]:
        """First transmissions, cumulative ACKs and, if asked for, the edge of the window."""
        color, dash = SENDERS[number]
        aside = self._aside(number)
        acks = seen.ack_steps.select("at_s", seq=pl.col("ack") / self.unit)
        layers = [self._line(acks, color, dash, aside).encode(x, y)]
        self.keys.setdefault(ACKED.name, Key(ACKED.name, "line", ANY))
        if self.options.window:
            edges = seen.edges.select("at_s", seq=pl.col("seq") / self.unit)
            layers.append(self._line(edges, color, (0.6, 1.6), aside).encode(x, y))
            self.keys.setdefault(EDGE.name, Key(EDGE.name, "line", ANY, dash=(0.6, 1.6)))
        marks = packet_marks(seen.view.shown(seen.data), float("inf"))
        firsts = marks.filter(pl.col("what") == FIRST.name)
        if firsts.height:
            ticks = self._ticks(firsts, color, aside)
            layers.append(ticks.encode(x, y, order=alt.OrderValue(None)))
            shape, _, area = LOOKS[FIRST.name]
            self.keys.setdefault(FIRST.name, Key(FIRST.name, "point", ANY, shape, area))
        return layers

    def _retransmissions(
        self, number: int, seen: FlowPackets, x: alt.X, y: alt.Y
    ) -> list[alt.Chart]:
        """Retransmissions and losses, in the colour of the sender."""
        marks = packet_marks(seen.view.shown(seen.data), float("inf"))
        layers = []
        for name, (shape, _, area) in LOOKS.items():
            mine = marks.filter(pl.col("what") == name)
            if name == FIRST.name or mine.is_empty():
                continue
            middles = mine.select("at_s", seq=(pl.col("seq") + pl.col("len") / 2) / self.unit)
            look = (shape, SENDERS[number][0], area)
            point = self._point(middles, look, self._aside(number))
            layers.append(point.encode(x, y))
            self.keys.setdefault(name, Key(name, "point", ANY, shape, area))
        return layers

    def _event_row(self, number: int, seen: FlowPackets, x: alt.X) -> list[alt.Chart]:
        """The timeouts and fast retransmits of a sender, in a row above the panel."""
        events = seen.view.shown(seen.view.timeouts)
        if events.is_empty():
            return []
        before = self.flows[:number]
        row = sum(not one.view.shown(one.view.timeouts).is_empty() for one in before)
        up = ROW_EM * self.form.font_pt * (self._event_rows - row - 0.5)
        color = SENDERS[number][0]
        rule = NOTHING.mark_rule(color=color, strokeWidth=0.3 * self.scale)
        ends = {"x": alt.value(0), "x2": alt.value(self.width)}
        layers: list[alt.Chart] = [rule.encode(**ends, y=alt.value(-up))]
        spurious = pl.coalesce(pl.col("truth") == "spurious", ~pl.col("needed"))
        events = events.with_columns(spurious=spurious.fill_null(value=False))
        for (kind, is_spurious), (name, shape, filled) in EVENTS.items():
            mine = events.filter((pl.col("kind") == kind) & (pl.col("spurious") == is_spurious))
            if mine.is_empty():
                continue
            point = Unit(rows(mine.select("at_s"))).mark_point(
                shape=shape,
                stroke=color,
                fill=color if filled else "white",
                size=EVENT_AREA * self.scale**2,
                strokeWidth=0.7 * self.scale,
                opacity=1,
            )
            layers.append(point.encode(x, y=alt.value(-up)))
            self.keys.setdefault(name, Key(name, "point", ANY, shape, EVENT_AREA, filled=filled))
        return layers

    def _sender_labels(self, said: Sequence[TransferOutcome]) -> list[alt.Chart]:
        """The names beside the curves, with the outcomes if they fit; none if a name does not."""
        curves = [self._drawn(seen) for seen in self.flows]
        size = self.form.font_pt
        room = Room(self.width, self.height, size)
        names = [self.form.text_width(one.sender, bold=True) for one in said]
        outcomes = [self.form.text_width(one.short, of=0.9) for one in said]
        whole = [
            Box(max(name, outcome), 2.3 * size)
            for name, outcome in zip(names, outcomes, strict=True)
        ]
        found, has_outcomes = places(curves, whole, room), True
        if found is None:
            short = [Box(name, 1.1 * size) for name in names]
            found, has_outcomes = places(curves, short, room), False
        layers: list[alt.Chart] = []
        for number, (left, top) in enumerate(found or ()):
            looks: dict[str, Any] = {
                "align": "left",
                "baseline": "top",
                "color": SENDERS[number][0],
            }
            at = {"x": alt.value(left)}
            bold = NOTHING.mark_text(text=said[number].sender, fontWeight="bold", **looks)
            layers += haloed(bold.encode(**at, y=alt.value(top)))
            if has_outcomes:
                plain = NOTHING.mark_text(text=said[number].short, fontSize=0.9 * size, **looks)
                layers += haloed(plain.encode(**at, y=alt.value(top + 1.15 * size)))
        return layers

    def _sender_keys(self, said: Sequence[TransferOutcome]) -> list[Key]:
        return [
            Key(f"{one.sender} ({one.short})", "line", color, dash=dash)
            for one, (color, dash) in zip(said, SENDERS, strict=False)
        ]

    def _drawn(self, seen: FlowPackets) -> Curve:
        """What a sender has in the panel: lines from place to place, in points."""
        margin = 0.01 * (self.span[1] - self.span[0])
        begin, length = self.span[0] - margin, self.span[1] - self.span[0] + 2 * margin

        def place(at_s: float, seq: float) -> tuple[float, float]:
            down = 1 - (seq - self.low) / (self.high - self.low)
            return self.width * (at_s - begin) / length, self.height * down

        acks = list(seen.ack_steps.select("at_s", "ack").iter_rows())
        lines = []
        for (from_s, ack), (to_s, later) in pairwise(acks):
            lines.append((place(from_s, ack), place(to_s, ack)))
            lines.append((place(to_s, ack), place(to_s, later)))
        data = seen.view.shown(seen.data).select("at_s", "seq", "len")
        for at_s, seq, length_ in data.iter_rows():
            lines.append((place(at_s, seq), place(at_s, seq + length_)))
        return lines
