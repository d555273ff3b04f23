"""The figures of the guide, from runs."""

import sys
import tempfile
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import vl_convert

import rtolab
from rtolab.judging import confusions
from rtolab.plot import styled
from rtolab.plot.trace_panels import GREY, ORANGE, VERMILION
from rtolab.plot.widths import with_widths
from rtolab.stats import wilson

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from drawn_paths import JUDGING, calibration, verdicts
from live_figures import LIVE, STALL, LiveFigure

LENGTHS_MS = (100, 200, 400, 600, 700, 800, 900, 1000, 1200, 1500, 2000, 3000, 4000, 5000)
SENDERS = ("sack", "sack+frto", "linux")
DETECTORS = ("eifel", "frto:linux", "dualrtt", "originals", "dsack:linux", "badrexmit")
SAID = {
    "spurious_found": "spurious, found",
    "spurious_missed": "spurious, called genuine",
    "open": "nothing said",
    "blind": "blind",
    "genuine_right": "genuine, right",
    "genuine_called_spurious": "genuine, called spurious",
}


def pictures() -> dict[str, str | bytes]:
    """Every figure as SVG, by its path in the guide."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stall.toml"
        path.write_text(STALL, encoding="utf-8")
        charts = {
            **{name: _sequence(figure, path.with_name(name)) for name, figure in LIVE.items()},
            "lengths": _lengths(path),
            "detectors": _detectors(),
            "calibration": _calibration(Path(folder)),
        }
        return {
            f"made/{name}.svg": with_widths(
                vl_convert.vegalite_to_svg(chart.to_dict(validate=False))
            )
            for name, chart in charts.items()
        }


def _sequence(figure: LiveFigure, path: Path) -> Any:
    path.write_text(figure.toml, encoding="utf-8")
    sender = figure.senders[0]
    result = rtolab.run(path, sender=sender, set=figure.set, trace=True, windows=False)
    result.scenario = figure.heading
    return result.plot.time_sequence(between=figure.between)


def _lengths(path: Path) -> Any:
    rows = []
    for length in LENGTHS_MS:
        stall = f'[{{ at = "4 s", for = "{length} ms" }}]'
        result = rtolab.run(path, sender=SENDERS, set={"link.radio.stalls.scripted": stall})
        rows += [
            {"sender": one["sender"], "stall": length / 1000, "unneeded": one["unneeded"]}
            for one in result.connections.iter_rows(named=True)
        ]
    chart = alt.Chart(pl.DataFrame(rows)).mark_line(point=True, interpolate="step-after")
    colours = alt.Scale(domain=list(SENDERS), range=[VERMILION, ORANGE, GREY])
    return _titled(
        chart.encode(
            x=alt.X("stall:Q", title="length of the stall (s)"),
            y=alt.Y("unneeded:Q", title="unneeded segments"),
            color=alt.Color("sender:N", title=None, scale=colours),
        ),
        "The cost of a timeout does not depend on the length of the stall",
        "1 Mbit/s, 50 ms each way; one stall",
    )


def _detectors() -> Any:
    settings = {"tcp.timestamps": True, "receiver.dsack": True}
    result = rtolab.run("frto2002-delays", sender="sack", runs=100, set=settings, judge=DETECTORS)
    frame = pl.DataFrame([vars(one) for one in confusions(result, "timeout")])
    long = frame.unpivot(on=list(SAID), index="detector", variable_name="what", value_name="count")
    rows = [
        {**row, "what": SAID[row["what"]], "order": list(SAID).index(row["what"])}
        for row in long.iter_rows(named=True)
    ]
    colours = ["#0072b2", "#d55e00", "#dddddd", "#999999", "#009e73", "#cc79a7"]
    chart = alt.Chart(pl.DataFrame(rows)).mark_bar()
    return _titled(
        chart.encode(
            x=alt.X("count:Q", title="timeouts"),
            y=alt.Y("detector:N", title=None, sort=list(DETECTORS)),
            color=alt.Color(
                "what:N", title=None, scale=alt.Scale(domain=list(SAID.values()), range=colours)
            ),
            order=alt.Order("order:Q"),
        ),
        "Verdicts of detectors on a SACK sender's timeouts",
        "100 transfers over a slow link with sudden delays, against the truth",
    )


def _calibration(folder: Path) -> Any:
    found = calibration(pl.DataFrame(list(verdicts(JUDGING, folder))))
    found = found.filter(pl.col("verdicts") >= 10)
    names = {"verdict": "retransmissions", "timeout": "timeouts"}
    rows = [
        {**row, "what": names[row["what"]], "low": share.low, "high": share.high}
        for row in found.iter_rows(named=True)
        for share in [wilson(round(row["right"] * row["verdicts"]), row["verdicts"])]
    ]
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("confidence:Q", title="confidence", scale=alt.Scale(domain=[0.45, 1])),
        color=alt.Color("what:N", title=None, scale=alt.Scale(range=[VERMILION, GREY])),
    )
    low = alt.Y("low:Q", title="share that is right", scale=alt.Scale(domain=[0.45, 1]))
    line = alt.Chart(pl.DataFrame({"x": [0.45, 1.0]})).mark_line(strokeDash=[4, 4], color=GREY)
    layers = alt.layer(
        line.encode(x="x:Q", y="x:Q"),
        base.mark_rule().encode(y=low, y2="high:Q"),
        base.mark_point(filled=True, size=60, opacity=1).encode(y="right:Q"),
    )
    return _titled(
        layers,
        "How often a verdict is right, over its confidence",
        f"{len(JUDGING)} paths, senders and receivers drawn at random; 95 % intervals",
    )


def _titled(chart: Any, title: str, subtitle: str) -> Any:
    layered: Any = alt.layer(chart.properties(width=560, height=280))
    return styled(layered, alt.TitleParams(title, subtitle=subtitle, anchor="start"))
