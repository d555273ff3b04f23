"""What experiments leave on disk: one HTML report that opens offline, pictures, captures, data."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import polars as pl
import vl_convert

from rtolab.charts import Band, Box, band_plot, box_plot
from rtolab.experiments.base import THROUGHPUT, TIME
from rtolab.experiments.reproduce import BAND_OF
from rtolab.plot import save_spec
from rtolab.result import PLACES, file_name
from rtolab.stats import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtolab.experiments.reproduce import Reproduction, Row
    from rtolab.plot import Chart


@dataclass(frozen=True)
class Picture:
    """A picture of an experiment.

    Attributes:
        name: of its files, without ending.
        caption: what it shows.
        draw: makes it.
    """

    name: str
    caption: str
    draw: Callable[[], Chart]


@dataclass
class Written:
    """The files that were written."""

    report: Path
    pictures: list[Path] = field(default_factory=list)
    captures: list[Path] = field(default_factory=list)
    data: list[Path] = field(default_factory=list)


def write(
    reproductions: Sequence[Reproduction],
    out: Path,
    progress: Callable[[int, int], object] | None = None,
) -> Written:
    """Write the report and, in a folder an experiment, its pictures, captures and data.

    Args:
        reproductions: what was run.
        out: the folder, made if it is not there; files of the same names are replaced.
        progress: called with the pictures drawn and the pictures there are.

    Raises:
        OSError: a file cannot be written.
    """
    written = Written(out / "report.html")
    drawn: list[list[tuple[str, dict[str, Any]]]] = []
    planned = [(reproduction, pictures(reproduction)) for reproduction in reproductions]
    total = sum(len(some) for _, some in planned)
    for reproduction, some in planned:
        folder = out / reproduction.experiment.id
        drawn.append([])
        for picture in some:
            spec = picture.draw().to_dict(validate=False)
            written.pictures += save_spec(spec, folder / picture.name)
            drawn[-1].append((picture.caption, spec))
            if progress:
                progress(len(written.pictures) // 2, total)
        _write_data(reproduction, folder, written)
    written.report.write_text(page(reproductions, drawn), encoding="utf-8")
    return written


def _write_data(reproduction: Reproduction, folder: Path, written: Written) -> None:
    """The document, and the tables: of each run of a statistic, of all of a packet trace."""
    folder.mkdir(parents=True, exist_ok=True)
    document = folder / "result.json"
    document.write_text(json.dumps(reproduction.document(), indent=2) + "\n", encoding="utf-8")
    written.data.append(document)
    if reproduction.experiment.is_trace:
        for result in {id(w.result): w.result for w in reproduction.of.values()}.values():
            for path in result.write(folder):
                (written.captures if path.suffix == ".pcapng" else written.data).append(path)
        return
    runs = folder / "connections.parquet"
    pl.concat(
        mine.every_connection.with_columns(variant=pl.lit(key))
        for key, mine in reproduction.of.items()
    ).write_parquet(runs)
    written.data.append(runs)


def pictures(reproduction: Reproduction) -> list[Picture]:
    """The pictures of an experiment, in the order in which they are shown."""
    if reproduction.experiment.is_trace:
        return _traces(reproduction)
    conditions = dict.fromkeys(v.condition for v in reproduction.experiment.variants)
    boxes = [_boxes(reproduction, condition) for condition in conditions]
    return [*boxes, _bands(reproduction)]


def _traces(reproduction: Reproduction) -> list[Picture]:
    shown = reproduction.experiment.shown

    def trace(key: str, place: str) -> Picture:
        mine = reproduction.of[key]
        variant = reproduction.experiment.variant(key)
        return Picture(
            f"{file_name(variant.key)}-{place}",
            f"{variant.title}: packets at the {place}",
            lambda: mine.result.plot.time_sequence(mine.first, place, between=shown),
        )

    return [trace(key, place) for key in reproduction.of for place in PLACES]


def _boxes(reproduction: Reproduction, condition: str) -> Picture:
    experiment = reproduction.experiment
    named = f" ({condition})" if condition else ""

    def draw() -> Chart:
        boxes = [
            Box(row.variant.label, _in_kbit(row.measured), _throughput(reproduction, row))
            for row in reproduction.rows
            if row.metric is THROUGHPUT and row.variant.condition == condition and row.measured
        ]
        how = f"box: quartiles; line: median; whiskers: extremes of {reproduction.runs} runs"
        title = f"{experiment.title}{named}"
        return box_plot(title, f"{experiment.source}; {how}", "throughput (kbit/s)", boxes)

    name = (
        f"throughput-{condition.replace(' ', '-').replace('-%', '')}" if condition else "throughput"
    )
    return Picture(name, f"Throughput of each variant{named}", draw)


def _in_kbit(summary: Summary) -> Summary:
    five = (summary.median, summary.q1, summary.q3, summary.min, summary.max)
    return Summary(summary.n, *(value / 1000 for value in five))


def _throughput(reproduction: Reproduction, row: Row) -> float | None:
    """The published median time as a throughput in kbit/s: the paper's boxes are a picture only."""
    time = reproduction.experiment.published.get((row.variant.key, TIME.name))
    size = reproduction.of[row.variant.key].every_connection["bytes"][0]
    return 8 * size / 1000 / time if time else None


def _bands(reproduction: Reproduction) -> Picture:
    experiment = reproduction.experiment

    def draw() -> Chart:
        bands = [
            Band(
                f"{row.metric.label} ({row.metric.unit})" if row.metric.unit else row.metric.label,
                row.variant.label,
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


def page(
    reproductions: Sequence[Reproduction], drawn: Sequence[Sequence[tuple[str, dict[str, Any]]]]
) -> str:
    """The report as one page that needs nothing from anywhere."""
    template = Template(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))
    sections = [
        _section(reproduction, some)
        for reproduction, some in zip(reproductions, drawn, strict=True)
    ]
    return template.substitute(
        summary="".join(_summary_row(reproduction) for reproduction in reproductions),
        sections="\n".join(sections),
        bundle=_bundle(),
    )


def _summary_row(reproduction: Reproduction) -> str:
    experiment = reproduction.experiment
    return _cells(
        f'<a href="#{escape(experiment.id)}">{escape(experiment.id)}</a>',
        escape(experiment.title),
        str(reproduction.runs),
        escape(reproduction.tally()),
        _verdict(reproduction.verdict),
    )


def _section(reproduction: Reproduction, drawn: Sequence[tuple[str, dict[str, Any]]]) -> str:
    experiment = reproduction.experiment
    note = f"<p>Note: {escape(experiment.note)}.</p>" if experiment.note else ""
    failed = any(check.verdict == "fail" for check in reproduction.checks)
    return f"""
<section id="{escape(experiment.id)}">
<h2>{escape(experiment.title)} {_verdict(reproduction.verdict)}</h2>
<p><code>{escape(experiment.id)}</code>: {escape(experiment.source)}.
{_how(reproduction)}, {reproduction.wall_s:.2f} s.</p>
{note}
{_measured_table(reproduction)}
<details{" open" if failed else ""}><summary>Checks: {escape(reproduction.tally())}</summary>
<table><thead><tr><th>Claim</th><th>Kind</th><th>Expected</th><th>Measured</th><th>Verdict</th></tr>
</thead><tbody>{_checks(reproduction)}</tbody></table></details>
<details><summary>Assumptions: {_stated(reproduction)}</summary>
<table><thead><tr><th>Key</th><th>Value</th><th>Stated?</th><th>Why</th></tr></thead>
<tbody>{_assumptions(reproduction)}</tbody></table></details>
{"".join(_figure(caption, spec) for caption, spec in drawn)}
</section>"""


def _how(reproduction: Reproduction) -> str:
    if reproduction.experiment.is_trace:
        return f"One run a variant, seed {reproduction.seed}"
    return f"{reproduction.runs} runs a variant, seeds from {reproduction.seed}"


def _measured_table(reproduction: Reproduction) -> str:
    """Published beside measured, as far as it was published: a row a variant."""
    experiment = reproduction.experiment
    known = {row.metric for row in reproduction.rows if row.published is not None}
    head, under = [], []
    for metric in experiment.metrics:
        unit = f" ({metric.unit})" if metric.unit else ""
        columns = ("published", "measured") if metric in known else ("measured",)
        head.append(f'<th colspan="{len(columns)}">{escape(metric.label)}{unit}</th>')
        under += [f"<th>{column}</th>" for column in columns]
    body = []
    for variant in experiment.variants:
        cells = [escape(variant.title)]
        for row in reproduction.rows:
            if row.variant == variant:
                cells += [_published(row)] * (row.metric in known) + [_measured(row)]
        body.append(_cells(*cells))
    return f"""<div class="wide"><table class="numbers">
<thead><tr><th rowspan="2">Variant</th>{"".join(head)}</tr>
<tr>{"".join(under)}</tr></thead><tbody>{"".join(body)}</tbody></table></div>"""


def _published(row: Row) -> str:
    return "" if row.published is None else f"{row.published:.{row.metric.digits}f}"


def _measured(row: Row) -> str:
    if row.measured is None:
        return "none"
    digits = row.metric.digits
    text = f"<b>{row.measured.median:.{digits}f}</b>"
    if row.measured.n == 1:
        return text
    spread = f"{row.measured.q1:.{digits}f} to {row.measured.q3:.{digits}f}"
    return f'{text}<br><span class="spread">{spread}</span>'


def _checks(reproduction: Reproduction) -> str:
    return "".join(
        _cells(
            escape(check.name),
            check.kind,
            escape(check.expected),
            escape(check.measured_text()),
            _verdict(check.verdict),
        )
        for check in reproduction.checks
    )


def _stated(reproduction: Reproduction) -> str:
    stated = sum(assumption.stated for assumption in reproduction.assumptions)
    return f"{stated} stated by the paper, {len(reproduction.assumptions) - stated} assumed"


def _assumptions(reproduction: Reproduction) -> str:
    return "".join(
        _cells(
            f"<code>{escape(a.name)}</code>",
            f"<code>{escape(a.value)}</code>",
            "stated" if a.stated else "assumed",
            escape(a.why),
        )
        for a in reproduction.assumptions
    )


def _figure(caption: str, spec: dict[str, Any]) -> str:
    return f"""
<figure><div class="chart"><script type="application/json">{_json(spec)}</script>
</div><figcaption>{escape(caption)}</figcaption></figure>"""


def _verdict(verdict: str) -> str:
    return f'<span class="verdict {verdict}">{verdict}</span>'


def _cells(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"


def _json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value).replace("<", "\\u003c")


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and vega-embed as one script."""
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script")
