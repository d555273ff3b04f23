"""The picture of a recommendation: what each minimum RTO costs and saves."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from rtolab.plot.style import Layers, Unit, styled
from rtolab.tuning import PathClass
from rtolab.tuning.text import heading

SPURIOUS, SAVED = "spurious timeouts a day", "seconds saved a day"


def picture(one: PathClass) -> alt.VConcatChart:
    """Spurious timeouts and time saved over the minimum RTO, with their intervals."""
    rows = pl.DataFrame(
        [
            {
                "minimum": row.seconds * 1000.0,
                "what": what,
                "value": value.value,
                "low": value.low,
                "high": value.high,
            }
            for row in one.minimums
            for what, value in ((SPURIOUS, row.spurious), (SAVED, row.saved))
        ]
    )
    panels = [_panel(rows, one, SPURIOUS, "#c44e52"), _panel(rows, one, SAVED, "#4c72b0")]
    title = alt.TitleParams("What each minimum RTO costs and saves", subtitle=heading(one))
    return styled(alt.vconcat(*panels), title)


def _panel(rows: pl.DataFrame, one: PathClass, what: str, colour: str) -> alt.LayerChart:
    base = Unit(_data(rows.filter(pl.col("what") == what).to_dicts()))
    x = alt.X("minimum:Q", scale=alt.Scale(type="log"), title="minimum RTO in ms")
    y = alt.Y("value:Q", title=what)
    layers = [
        base.mark_area(opacity=0.2, color=colour).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(point=alt.OverlayMarkDef(color=colour), color=colour).encode(x=x, y=y),
    ]
    if one.recommended is not None:
        at = Unit(_data([{"minimum": one.recommended * 1000.0}]))
        layers.append(at.mark_rule(strokeDash=[5, 4]).encode(x="minimum:Q"))
    return Layers(layer=layers, width=560, height=170)


def _data(rows: list[dict[str, Any]]) -> alt.InlineData:
    return alt.InlineData(values=rows)
