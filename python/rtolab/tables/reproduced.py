"""Text tables of experiments: published and measured values, and checks."""

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rtolab.experiments.base import Judgement, Metric, Value
from rtolab.experiments.base import Table as LaidOut
from rtolab.experiments.reproduce import Reproduction, Row
from rtolab.experiments.search import REPEATS, PassingSetting, Search
from rtolab.experiments.summary import STANDINGS, VERDICTS, Causes, Line
from rtolab.stats import Estimate
from rtolab.tables import STYLES, compact
from rtolab.text import counted

REASONED = "(reasoned, not demonstrated)"
"""What stands in place of a command, where none shows the cause."""

SHOWN = ("time", "lost", "rexmits")
"""The most important metrics, for terminals without room for all."""
ROOM = 8
"""The number of numeric columns that fit into a table of 80 characters."""

STANDING = (
    "before, after: the paper's checks, by whether their assumptions and bounds were\n"
    "chosen before or after their results were seen; ours: what only we expect."
)


def reproduction(done: Reproduction, *, kept: bool = False) -> RenderableType:
    """An experiment: published and measured values, then the verdict and every failed check.

    Args:
        done: the results.
        kept: did an earlier run compute them?
    """
    experiment = done.experiment
    title = Text.assemble((experiment.title, "bold"), f"  {experiment.id}\n")
    when = "kept from an earlier run" if kept else f"{done.wall_s:.2f} s"
    title.append(f"{experiment.source}; {_how(done)}, {when}", "dim")
    lines: list[RenderableType] = [title]
    if experiment.is_sweep:
        lines.append(Text(f"{len(experiment.variants)} variants: their table is in the report"))
    elif done.rows:
        lines.append(_traces(done) if experiment.is_trace else _medians(done))
    lines += [laid_out(table) for table in done.tables]
    if done.derived:
        lines.append(_derived(done.derived))
    if experiment.note:
        lines.append(Text(f"Note: {experiment.note}", "italic"))
    return Group(*lines, *_verdicts(done), *_alternatives(done), Text(""))


def _how(done: Reproduction) -> str:
    if not done.experiment.variants:
        return "nothing is simulated"
    runs = "one run" if done.experiment.is_trace else counted(done.runs, "run")
    return f"{runs} a variant, seed {done.seed}"


def _medians(done: Reproduction) -> Table:
    """The medians, with published values if there are any."""
    known = {row.metric for row in done.rows if row.published is not None}
    metrics = _fitting(done.experiment.metrics, known)
    table = compact()
    table.add_column("\nVariant")
    for metric in metrics:
        unit = f" {metric.unit}" if metric.unit else ""
        name = f"{metric.label}{unit}"
        if metric in known:
            table.add_column(f"{name}\npaper", justify="right")
        head = "\nhere" if metric in known else f"{name}\nhere"
        table.add_column(head, justify="right", style="bold")
    condition = ""
    for variant in done.experiment.variants:
        if variant.condition != condition:
            condition = variant.condition
            table.add_section()
            table.add_row(Text(condition, "italic"))
        cells = []
        for row in done.rows_of[variant.key]:
            if row.metric in metrics:
                cells += [_published(row)] * (row.metric in known) + [_median(row)]
        table.add_row(variant.label, *cells)
    return table


def _fitting(metrics: Sequence[Metric], known: set[Metric]) -> list[Metric]:
    """The metrics that fit into the table."""
    telling = [metric for metric in metrics if metric.name in SHOWN]
    if telling and any(metric in known for metric in telling):
        return telling
    found, columns = [], 0
    for metric in metrics:
        columns += 2 if metric in known else 1
        if columns <= ROOM:
            found.append(metric)
    return found


def _traces(done: Reproduction) -> Table:
    """The values of traces, a column per metric."""
    table = compact()
    table.add_column("Variant")
    for metric in done.experiment.metrics:
        unit = f" {metric.unit}" if metric.unit else ""
        table.add_column(f"{metric.label}{unit}", justify="right")
    for variant in done.experiment.variants:
        cells = [_median(row) for row in done.rows_of[variant.key]]
        table.add_row(variant.title, *cells)
    return table


def laid_out(laid_out: LaidOut) -> RenderableType:
    """A table of the experiment's own."""
    table = compact()
    for place, name in enumerate(laid_out.head):
        table.add_column(name, justify="right" if place else "left")
    for row in laid_out.rows:
        table.add_row(*(laid_out.text(cell) for cell in row))
    return Group(Text(laid_out.caption, "italic"), table)


def _derived(values: Sequence[Value]) -> Table:
    """Derived values, ours and published."""
    table = compact()
    table.add_column("Worked out")
    for name in ("paper", "here"):
        table.add_column(name, justify="right", no_wrap=True)
    for value in values:
        unit = f" ({value.unit})" if value.unit else ""
        published = "-" if value.published is None else f"{value.published:.{value.digits}f}"
        table.add_row(f"{value.label}{unit}", published, Text(_worked_out(value), "bold"))
    return table


def _worked_out(value: Value) -> str:
    found, digits = value.measured, value.digits
    if found is None:
        return "none"
    if not isinstance(found, Estimate):
        return f"{found:.{digits}f}"
    return f"{found.value:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f})"


def _published(row: Row) -> str:
    return "-" if row.published is None else f"{row.published:.{row.metric.digits}f}"


def _median(row: Row) -> str:
    return f"{row.measured.median:.{row.metric.digits}f}" if row.measured else "none"


def _verdicts(done: Reproduction) -> list[RenderableType]:
    lines: list[RenderableType] = [_verdict(done)]
    shown = ("fail", "not reproducible")
    every = done.experiment.is_sweep or not done.rows
    return lines + [_check(check) for check in done.checks if every or check.verdict in shown]


def _verdict(done: Reproduction) -> Text:
    if not done.checks:
        return Text(done.verdict.upper(), STYLES[done.verdict])
    return Text.assemble((done.verdict.upper(), STYLES[done.verdict]), f"  {done.tally()}")


def _check(check: Judgement) -> RenderableType:
    """A line per check; failed checks also show the expected value and the reason."""
    if check.verdict in ("pass", "undecidable"):
        verdict = (f"{check.verdict}  ", STYLES[check.verdict])
        line = Text.assemble(verdict, f"{check.name}: {check.measured_text()}")
        return Padding(line, (0, 0, 0, 2))
    claim = Text.assemble((f"{check.verdict}  ", STYLES[check.verdict]), check.name)
    found = Text(f"      expected {check.expected}; measured {check.measured_text()}")
    why = (Padding(Text(text, "dim"), (0, 0, 0, 6)) for text in _cause(check))
    return Padding(Group(claim, found, *why), (0, 0, 0, 2))


def _cause(check: Judgement) -> list[str]:
    """The likely cause of a missed check, and the command that shows it or what was tried."""
    if not check.why:
        return []
    if check.shown_by is None:
        return [check.why, REASONED]
    said = "shown by" if check.shown_by.is_cause else "the cause is not known; tried by"
    return [check.why, f"{said}: {check.shown_by.command}", check.shown_by.finding]


def _alternatives(done: Reproduction) -> list[RenderableType]:
    """The effect of other assumptions on the verdicts."""
    lines: list[RenderableType] = []
    for tried in done.alternatives:
        lines.append(Text(f"with {tried.alternative.name}: {tried.tally()}"))
        for check in tried.otherwise():
            name, measured = check.judged.name, check.judged.measured_text()
            lines.append(Padding(f"{check.becomes()}: {name}: {measured}", (0, 0, 0, 2)))
    return lines


def search(done: Search) -> RenderableType:
    """The checks that each found setting produces and breaks, and how robustly."""
    lines: list[RenderableType] = [
        Text(f"{done.experiment.title}  {done.experiment.id}", "bold"),
        Text(f"failing: {'; '.join(done.failing)}"),
        Text(f"{counted(done.tried, 'setting')} tried, alone and in pairs"),
    ]
    effects: dict[tuple[tuple[str, ...], tuple[str, ...]], list[PassingSetting]] = {}
    for one in done.found:
        effects.setdefault((one.passes, one.breaks), []).append(one)
    for (passes, breaks), settings in effects.items():
        lines.append(Text(f"produces {'; '.join(passes)}", "bold"))
        if breaks:
            lines.append(Text(f"breaks {'; '.join(breaks)}"))
        for group in _combined(settings):
            lines.append(Padding(Text(_choice(group)), (0, 0, 0, 2)))
            if robust := _robustness(group):
                lines.append(Padding(Text(robust, "dim"), (0, 0, 0, 4)))
    if not done.found:
        lines.append(Text("no setting produces any of them"))
    return Group(*lines, Text(FITTED, "italic"))


def _combined(settings: Sequence[PassingSetting]) -> list[list[PassingSetting]]:
    """The settings, with all combinations of some values of the same assumptions as one group."""
    groups: dict[tuple[str, ...], list[PassingSetting]] = {}
    for one in settings:
        groups.setdefault(tuple(one.choice), []).append(one)
    combined: list[list[PassingSetting]] = []
    for group in groups.values():
        product = math.prod(len(values) for values in _values(group).values())
        combined += [group] if product == len(group) else [[one] for one in group]
    return combined


def _values(group: Sequence[PassingSetting]) -> dict[str, list[str]]:
    """The values of each assumption, in the order of the settings."""
    names = group[0].choice
    return {name: list(dict.fromkeys(one.choice[name] for one in group)) for name in names}


def _choice(group: Sequence[PassingSetting]) -> str:
    return "; ".join(f"{name}: {' or '.join(mine)}" for name, mine in _values(group).items())


def _robustness(group: Sequence[PassingSetting]) -> str:
    """How many similar settings do the same."""
    said = []
    if of := [one.neighbours for one in group if one.neighbours[1]]:
        said.append(f"{_share(of)} neighbouring settings also")
    if of := [one.with_another for one in group if one.with_another[1]]:
        said.append(f"{_share(of)} with another value")
    if seeds := [(one.seeds, REPEATS) for one in group if one.seeds is not None]:
        said.append(f"{_share(seeds)} other series of seeds")
    return "; ".join(said)


def _share(counts: Sequence[tuple[int, int]]) -> str:
    """Such as "5 of 9", with the least and the most where counts differ."""
    least, most = min(counts), max(counts)
    return " of ".join(
        f"{low}" if low == high else f"{min(low, high)} to {max(low, high)}"
        for low, high in zip(least, most, strict=True)
    )


FITTED = "What a search finds is fitted: it may explain a number, and is no evidence for it."


def summary(lines: Sequence[Line], causes: Causes) -> RenderableType:
    """Passed and all checks, a row per paper; how many causes of missed ones are demonstrated."""
    table = compact()
    before, after, *others = STANDINGS
    table.add_column("Passing of", no_wrap=True)
    for name in (before, after, "paper's", "fail", "open", "never", *others):
        table.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        if not line.paper:
            table.add_section()
        verdicts = [str(line.with_verdict(verdict) or "-") for verdict in VERDICTS[1:]]
        table.add_row(
            line.paper or "all",
            *(_passing(line.of_standing(standing)) for standing in (before, after)),
            Text(_passing(line.of_standing(before, after)), "bold"),
            *verdicts,
            *(_passing(line.of_standing(standing)) for standing in others),
        )
    known = [Text(str(causes), "dim")] if causes else []
    return Group(table, Text(STANDING, "dim"), *known)


def _passing(counts: tuple[int, int]) -> str:
    return "/".join(map(str, counts)) if counts[1] else "-"
