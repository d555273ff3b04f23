"""The report of all reproduced experiments: one HTML page that opens offline."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import vl_convert

from rtolab.experiments.base import Judgement, Metric, Standing, Value
from rtolab.experiments.explanation import Demonstration
from rtolab.experiments.papers import paper
from rtolab.experiments.reproduce import Reproduction, Row
from rtolab.experiments.sensitivity import AlternativeResult
from rtolab.experiments.summary import KINDS, STANDINGS, VERDICTS, Line, causes, summary
from rtolab.files import write_text
from rtolab.machine import check_page
from rtolab.stats import Estimate
from rtolab.text import counted

if TYPE_CHECKING:
    from rtolab.campaign import Figure, Part, Settings

BASES: dict[Standing, str] = {
    "before": "the paper",
    "after": "the paper, fitted",
    "ours": "ours",
    "unstated": "unstated",
}
"""The basis of a check, in words."""


def write(parts: Sequence[Part], out: Path) -> Path:
    """Write the report of finished experiments.

    Args:
        parts: the experiments, in the order in which they are shown.
        out: the folder, created if it does not exist; an older report is replaced.

    Returns:
        The path of the file.

    Raises:
        OSError: it cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    report = out / "report.html"
    write_text(report, page(parts))
    return report


def page(parts: Sequence[Part]) -> str:
    """The report as a self-contained page."""
    template = Template(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))
    papers = dict.fromkeys(part.reproduction.experiment.paper for part in parts)
    by_paper = {
        id_: [part for part in parts if part.reproduction.experiment.paper == id_] for id_ in papers
    }
    return template.substitute(
        summary=_summary([part.reproduction for part in parts]),
        contents="".join(_contents(id_, mine) for id_, mine in by_paper.items()),
        sections="\n".join(_paper(id_, mine) for id_, mine in by_paper.items()),
        bundle=_bundle(),
    )


def _summary(reproductions: Sequence[Reproduction]) -> str:
    """Passed checks and all checks, by paper, kind and standing."""
    before, after, *others = STANDINGS
    head = ("Paper", "Experiments", *KINDS, before, after, "the paper's", *VERDICTS[1:], *others)
    body = "".join(_summary_row(line) for line in summary(reproductions))
    known = causes(reproductions)
    return _table(head, body, "numbers checks") + (f"<p>{known}</p>" if known else "")


def _summary_row(line: Line) -> str:
    before, after, *others = STANDINGS
    verdicts = [str(line.with_verdict(verdict) or "") for verdict in VERDICTS[1:]]
    name = f'<a href="#{escape(line.paper)}">{escape(line.paper)}</a>' if line.paper else "all"
    return _cells(
        name,
        str(line.experiments),
        *(_passing(line.of_kind(kind)) for kind in KINDS),
        *(_passing(line.of_standing(standing)) for standing in (before, after)),
        f"<b>{_passing(line.of_standing(before, after))}</b>",
        *verdicts,
        *(_passing(line.of_standing(standing)) for standing in others),
    )


def _passing(counts: tuple[int, int]) -> str:
    return "{} of {}".format(*counts) if counts[1] else ""


def _contents(id_: str, parts: Sequence[Part]) -> str:
    """The experiments of a paper with their verdicts."""
    about = paper(id_)
    head = f'<tr><th colspan="5"><a href="#{escape(id_)}">{escape(about.title)}</a></th></tr>'
    return head + "".join(_contents_row(part.reproduction) for part in parts)


def _contents_row(done: Reproduction) -> str:
    experiment = done.experiment
    others = "".join(f", {escape(alias.split('/')[1])}" for alias in experiment.aliases)
    return _cells(
        f'<a href="#{escape(experiment.id)}">{escape(experiment.id)}</a>{others}',
        escape(experiment.title),
        str(done.runs) if experiment.variants else "",
        escape(done.tally()),
        _verdict(done.verdict),
    )


def _paper(id_: str, parts: Sequence[Part]) -> str:
    """A paper with its inconsistencies and its experiments."""
    about = paper(id_)
    where = ", ".join(escape(str(p)) for p in (about.authors, about.venue, about.year) if p)
    odd = "".join(f"<li>{escape(one)}</li>" for one in about.inconsistencies)
    printed = f"<h3>Printed inconsistencies</h3><ul>{odd}</ul>" if odd else ""
    return f"""
<header class="paper" id="{escape(id_)}"><h2>{escape(about.title)}</h2>
<p>{where}</p>{printed}</header>
{"".join(_section(part) for part in parts)}"""


def _section(part: Part) -> str:
    done = part.reproduction
    experiment = done.experiment
    aliases = "".join(f'<span id="{escape(alias)}"></span>' for alias in experiment.aliases)
    ours = " An extension of ours: the paper does not have it." if experiment.ours else ""
    prose = [("The paper", experiment.says), ("Here", experiment.did), ("Note", experiment.note)]
    return f"""
<section id="{escape(experiment.id)}">{aliases}
<h3>{escape(experiment.title)} {_verdict(done.verdict)}</h3>
<p><code>{escape(experiment.id)}</code>: {escape(experiment.source)}.{ours}
{_how(done)}, <span class="wall">{done.wall_s:.2f} s</span>.</p>
{"".join(f"<p><b>{name}:</b> {_sentence(text)}</p>" for name, text in prose if text)}
{_measured_table(done)}{_laid_out(done)}{_derived(done)}{_checks(done)}
{"".join(_figure(figure) for figure in part.figures)}
{_assumptions(done)}{_sensitivity(done)}
<p class="again">Alone: <code>{escape(command(experiment.id, part.settings))}</code></p>
</section>"""


def command(id_: str, settings: Settings) -> str:
    """The command that repeats an experiment."""
    words = ["rtolab", "reproduce", id_, "--seed", str(settings.seed)]
    words += ["--runs", str(settings.runs)] if settings.runs else []
    words += ["--quick"] if settings.quick else []
    words += ["--assumptions"] if settings.sensitivity else []
    for name, value in settings.assume.items():
        words += ["--assume", f"{name}={value}"]
    return shlex.join(words)


def _sentence(text: str) -> str:
    text = text.strip()
    return escape(text if text.endswith((".", "?", "!", ":")) else f"{text}.")


def _how(done: Reproduction) -> str:
    quick = ", as --quick has it" if done.quick else ""
    if not done.experiment.variants:
        return "Nothing is simulated"
    if done.experiment.is_trace:
        return f"One run a variant, seed {done.seed}{quick}"
    return f"{counted(done.runs, 'run')} a variant, seeds from {done.seed}{quick}"


def _measured_table(done: Reproduction) -> str:
    """Published and measured values, a row per variant; long tables are folded."""
    experiment = done.experiment
    if not done.rows:
        return ""
    known = {row.metric for row in done.rows if row.published is not None}
    head, under = [], []
    for metric in experiment.metrics:
        columns = ("published", "measured") if metric in known else ("measured",)
        head.append(f'<th colspan="{len(columns)}">{escape(_with_unit(metric))}</th>')
        under += [f"<th>{column}</th>" for column in columns]
    body = []
    for variant in experiment.variants:
        cells = [escape(variant.title)]
        for row in done.rows_of[variant.key]:
            cells += [_published(row)] * (row.metric in known)
            cells.append(_measured(row, done.runs))
        body.append(_cells(*cells))
    table = f"""<div class="wide"><table class="numbers">
<thead><tr><th rowspan="2">Variant</th>{"".join(head)}</tr>
<tr>{"".join(under)}</tr></thead><tbody>{"".join(body)}</tbody></table></div>"""
    return _folded(f"{len(experiment.variants)} variants", table) if experiment.is_sweep else table


def _with_unit(named: Metric | Value) -> str:
    return f"{named.label} ({named.unit})" if named.unit else named.label


def _published(row: Row) -> str:
    return "" if row.published is None else f"{row.published:.{row.metric.digits}f}"


def _measured(row: Row, runs: int) -> str:
    """Median and quartiles, and the number of runs if not all count."""
    if row.measured is None:
        return "none"
    digits = row.metric.digits
    text = f"<b>{row.measured.median:.{digits}f}</b>"
    if row.measured.n == 1:
        return text
    spread = f"{row.measured.q1:.{digits}f} to {row.measured.q3:.{digits}f}"
    spread += f", n = {row.measured.n}" if row.measured.n != runs else ""
    return f'{text}<br><span class="spread">{spread}</span>'


def _laid_out(done: Reproduction) -> str:
    """The experiment's own tables."""
    parts = []
    for table in done.tables:
        body = "".join(_cells(*(escape(table.text(cell)) for cell in row)) for row in table.rows)
        wide = f'<div class="wide">{_table(table.head, body, "numbers")}</div>'
        parts.append(f"<p>{_sentence(table.caption)}</p>{wide}")
    return "".join(parts)


def _derived(done: Reproduction) -> str:
    """Derived values, published and ours."""
    if not done.derived:
        return ""
    body = "".join(
        _cells(
            escape(_with_unit(value)),
            "" if value.published is None else f"{value.published:.{value.digits}f}",
            _worked_out(value),
        )
        for value in done.derived
    )
    return _table(("Worked out", "published", "here"), body, "numbers")


def _worked_out(value: Value) -> str:
    found, digits = value.measured, value.digits
    if found is None:
        return "none"
    if not isinstance(found, Estimate):
        return f"<b>{found:.{digits}f}</b>"
    interval = f"95 %: {found.low:.{digits}f} to {found.high:.{digits}f}"
    return f'<b>{found.value:.{digits}f}</b><br><span class="spread">{interval}</span>'


def _checks(done: Reproduction) -> str:
    if not done.checks:
        return ""
    head = ("Claim", "Basis", "Kind", "Expected", "Measured", "Verdict")
    body = "".join(_check(check) for check in done.checks)
    unsettled = any(check.verdict in ("fail", "not reproducible") for check in done.checks)
    return _folded(f"Checks: {done.tally()}", _table(head, body), unfolded=unsettled)


def _check(check: Judgement) -> str:
    row = _cells(
        escape(check.name),
        BASES[check.standing],
        check.kind,
        escape(check.expected),
        escape(check.measured_text()),
        _verdict(check.verdict),
    )
    chosen = f"Chosen after the result was seen: {check.fitted}" if check.fitted else ""
    said = [_sentence(text) for text in (check.why, chosen) if text]
    if check.why:
        said.insert(1, _shown_by(check.shown_by))
    return row + "".join(f'<tr class="why"><td colspan="6">{text}</td></tr>' for text in said)


def _shown_by(shown: Demonstration | None) -> str:
    """The command that shows a cause, or what was tried, and what it prints."""
    if shown is None:
        return "Reasoned, not demonstrated."
    said = "Shown by" if shown.is_cause else "The cause is not known. Tried by"
    return f"{said} <code>{escape(shown.command)}</code>: {_sentence(shown.finding)}"


def _assumptions(done: Reproduction) -> str:
    if not done.assumptions:
        return ""
    stated = sum(assumption.stated for assumption in done.assumptions)
    body = "".join(
        _cells(
            f"<code>{escape(a.name)}</code>" if a.is_key else escape(a.name),
            f"<code>{escape(a.value)}</code>" if a.is_key else escape(a.value),
            "stated" if a.stated else "assumed",
            escape(a.why),
        )
        for a in done.assumptions
    )
    name = f"Assumptions: {stated} stated by the paper, {len(done.assumptions) - stated} assumed"
    return _folded(name, _table(("Key", "Value", "Stated?", "Why"), body))


def _sensitivity(done: Reproduction) -> str:
    """The effect of each alternative on the verdicts."""
    if not done.alternatives:
        return ""
    changing = sum(bool(tried.those("changed")) for tried in done.alternatives)
    name = f"Other assumptions: {changing} of {len(done.alternatives)} change a verdict"
    head = ("Alternative", "Checks", "Verdicts that change")
    return _folded(name, _table(head, "".join(_tried(tried) for tried in done.alternatives)))


def _tried(tried: AlternativeResult) -> str:
    chosen = ", ".join(f"{name}={value}" for name, value in tried.alternative.set.items())
    why = f"<br>{_sentence(tried.alternative.why)}" if tried.alternative.why else ""
    changed = "".join(
        f"<li>{escape(check.judged.name)}: <b>{check.becomes()}</b>, measured "
        f"{escape(check.judged.measured_text())}, expected {escape(check.judged.expected)}</li>"
        for check in tried.otherwise()
    )
    return _cells(
        f"<b>{escape(tried.alternative.name)}</b>{why}<br><code>{escape(chosen)}</code>",
        escape(f"{tried.tally()}; {counted(tried.runs, 'run')}"),
        f"<ul>{changed}</ul>" if changed else "none",
    )


def _figure(figure: Figure) -> str:
    return f"""
<figure><div class="chart"><script type="application/gzip">{figure.packed}</script>
</div><figcaption>{escape(figure.caption)}</figcaption></figure>"""


def _verdict(verdict: str) -> str:
    return f'<span class="verdict {verdict.replace(" ", "-")}">{verdict}</span>'


def _folded(name: str, content: str, *, unfolded: bool = False) -> str:
    opened = " open" if unfolded else ""
    return f"<details{opened}><summary>{escape(name)}</summary>{content}</details>\n"


def _table(head: Iterable[str], body: str, kind: str = "") -> str:
    names = "".join(f"<th>{name}</th>" for name in head)
    class_ = f' class="{kind}"' if kind else ""
    return f"""<div class="wide"><table{class_}><thead><tr>{names}</tr></thead>
<tbody>{body}</tbody></table></div>"""


def _cells(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and vega-embed as one script.

    To make it takes as long as an experiment, so rtolab keeps each version in the user's cache.
    """
    check_page()
    kept = _cache() / f"vega-embed-{version('vl-convert-python')}.js"
    try:
        bundle = kept.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        bundle = ""
    if not bundle.endswith(BUNDLE_END):
        bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;") + BUNDLE_END
        # A cache that cannot be written costs time only.
        with suppress(OSError):
            if kept.is_absolute():
                kept.parent.mkdir(parents=True, exist_ok=True)
                write_text(kept, bundle)
    return bundle.replace("</script", "<\\/script")


BUNDLE_END = "\n/* complete */\n"


def _cache() -> Path:
    """The user's cache folder, by the XDG specification."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # A path that is not absolute is invalid there. Without a home, "~" stays relative.
    home = Path(os.path.expanduser("~"))  # noqa: PTH111
    return (given if given.is_absolute() else home / ".cache") / "rtolab"
