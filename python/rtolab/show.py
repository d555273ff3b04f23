"""Results as tables of text, for a terminal or a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rtolab.agreement import HEADINGS, cells
from rtolab.emulation import counted, doubts
from rtolab.experiments.summary import KINDS, VERDICTS
from rtolab.stats import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtolab._rtolab import EmulationReport
    from rtolab.agreement import Case
    from rtolab.comparison import Agreement, Comparison
    from rtolab.emulation import Emulated
    from rtolab.experiments.base import Judgement, Metric, Value
    from rtolab.experiments.base import Table as LaidOut
    from rtolab.experiments.kernel import OnKernel
    from rtolab.experiments.reproduce import Reproduction, Row
    from rtolab.experiments.summary import Line
    from rtolab.judging import Confusion, Difference
    from rtolab.result import Result
    from rtolab.stats import Summary

STYLES = {
    "pass": "bold green",
    "fail": "bold red",
    "undecidable": "bold yellow",
    "not reproducible": "bold magenta",
    "nothing to judge": "bold",
}
SHOWN = ("time", "lost", "rexmits")
"""Of a table's metrics those that tell most, where it has them and the terminal no room for all."""
ROOM = 8
"""How many columns of numbers a table of 80 columns has room for."""
LISTED = 5
"""Of many runs that are not good, why so many of them are not."""
LONGEST_TERM = len("newreno:timestamp-heuristic")
"""A sender's name is broken where it is longer."""


def reproduction(done: Reproduction, *, kept: bool = False) -> RenderableType:
    """An experiment: published beside measured, then the verdict and every check that failed.

    Args:
        done: what came out.
        kept: was it computed by an earlier run?
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
    lines += [_laid_out(table) for table in done.tables]
    if done.derived:
        lines.append(_derived(done.derived))
    if experiment.note:
        lines.append(Text(f"Note: {experiment.note}", "italic"))
    return Group(*lines, *_verdicts(done), *_alternatives(done), Text(""))


def _how(done: Reproduction) -> str:
    if not done.experiment.variants:
        return "nothing is simulated"
    runs = "one run" if done.experiment.is_trace else f"{done.runs} runs"
    return f"{runs} a variant, seed {done.seed}"


def _table() -> Table:
    """Numbers close together: what matters must fit into a narrow terminal."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def _medians(done: Reproduction) -> Table:
    """The medians, with the paper's beside them where it printed any."""
    known = {row.metric for row in done.rows if row.published is not None}
    metrics = _fitting(done.experiment.metrics, known)
    table = _table()
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
        for row in done.rows:
            if row.variant == variant and row.metric in metrics:
                cells += [_published(row)] * (row.metric in known) + [_median(row)]
        table.add_row(variant.label, *cells)
    return table


def _fitting(metrics: Sequence[Metric], known: set[Metric]) -> list[Metric]:
    """As many metrics as there is room for."""
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
    """A column a metric."""
    table = _table()
    table.add_column("Variant")
    for metric in done.experiment.metrics:
        unit = f" {metric.unit}" if metric.unit else ""
        table.add_column(f"{metric.label}{unit}", justify="right")
    for variant in done.experiment.variants:
        cells = [_median(row) for row in done.rows if row.variant == variant]
        table.add_row(variant.title, *cells)
    return table


def _laid_out(laid_out: LaidOut) -> RenderableType:
    """A table that the experiment lays out itself."""
    table = _table()
    for place, name in enumerate(laid_out.head):
        table.add_column(name, justify="right" if place else "left")
    for row in laid_out.rows:
        table.add_row(*(laid_out.text(cell) for cell in row))
    return Group(Text(laid_out.caption, "italic"), table)


def _derived(values: Sequence[Value]) -> Table:
    """What was worked out, beside the paper's."""
    table = _table()
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
    told = ("fail", "not reproducible")
    every = done.experiment.is_sweep or not done.rows
    return lines + [_check(check) for check in done.checks if every or check.verdict in told]


def _verdict(done: Reproduction) -> Text:
    if not done.checks:
        return Text(done.verdict.upper(), STYLES[done.verdict])
    return Text.assemble((done.verdict.upper(), STYLES[done.verdict]), f"  {done.tally()}")


def _check(check: Judgement) -> RenderableType:
    """A line for what passes or is open; of the rest what was expected, too, and why."""
    if check.verdict in ("pass", "undecidable"):
        verdict = (f"{check.verdict}  ", STYLES[check.verdict])
        line = Text.assemble(verdict, f"{check.name}: {check.measured_text()}")
        return Padding(line, (0, 0, 0, 2))
    claim = Text.assemble((f"{check.verdict}  ", STYLES[check.verdict]), check.name)
    found = Text(f"      expected {check.expected}; measured {check.measured_text()}")
    why = [Padding(Text(check.why, "dim"), (0, 0, 0, 6))] if check.why else []
    return Padding(Group(claim, found, *why), (0, 0, 0, 2))


def _alternatives(done: Reproduction) -> list[RenderableType]:
    """What other assumptions do to the verdicts."""
    lines: list[RenderableType] = []
    for tried in done.alternatives:
        lines.append(Text(f"with {tried.alternative.name}: {tried.tally()}"))
        for check in tried.otherwise():
            name, measured = check.judged.name, check.judged.measured_text()
            lines.append(Padding(f"{check.becomes()}: {name}: {measured}", (0, 0, 0, 2)))
    return lines


def summary(lines: Sequence[Line]) -> RenderableType:
    """How many checks pass of how many, a row a paper."""
    table = _table()
    table.add_column("Passing of", no_wrap=True)
    for name in (*KINDS, "all"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("fail", "open", "never"):
        table.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        if not line.paper:
            table.add_section()
        kinds = ["/".join(map(str, line.of_kind(kind))) for kind in KINDS]
        cells = ["-" if cell == "0/0" else cell for cell in kinds]
        others = [str(line.with_verdict(verdict) or "-") for verdict in VERDICTS[1:]]
        passed = f"{line.with_verdict('pass')}/{line.checks}"
        table.add_row(line.paper or "all", *cells, Text(passed, "bold"), *others)
    return table


def runs(result: Result) -> Table:
    """The medians of a result's runs, a row a sender and flow."""
    columns = {
        "time s": ("elapsed_s", 2),
        "lost": ("lost", 1),
        "rexmits": ("retransmissions", 1),
        "unneeded": ("unneeded", 1),
        "timeouts": ("timeouts", 1),
        "kbit/s": ("goodput_bps", 2),
    }
    one = result.runs == result.connections["sender"].n_unique()
    table = _table()
    table.add_column("sender", overflow="fold", min_width=8)
    table.add_column("flow", no_wrap=True)
    table.add_column("done", justify="right", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    grouped = result.connections.group_by("sender", "flow", maintain_order=True)
    for (sender, flow), frame in grouped:
        completed = f"{frame['completed'].sum()}/{frame.height}"
        medians = frame.select(pl.median(name) for name, _ in columns.values()).row(0)
        cells = []
        for value, (name, digits) in zip(medians, columns.values(), strict=True):
            scaled = value / 1000 if value is not None and name == "goodput_bps" else value
            places = 0 if one and digits == 1 else digits
            cells.append("-" if scaled is None else f"{scaled:.{places}f}")
        table.add_row(_sum(str(sender)), str(flow), completed, *cells)
    return table


def _sum(sender: str) -> str:
    """A sender's name, broken at its plus signs: a long one must not take the figures' room."""
    lines = [""]
    for term in sender.split("+"):
        plus = "+" if lines[-1] else ""
        if plus and len(lines[-1] + plus + term) > LONGEST_TERM:
            lines.append("")
        lines[-1] += plus + term
    return "\n".join(lines)


def judges(found: Sequence[Confusion]) -> RenderableType:
    """How detectors did against the truth, a row a sender and judge."""
    if not found:
        return Text("no timeout and no fast retransmit: nothing to judge")
    table = _table()
    table.add_column("sender", overflow="fold", min_width=8)
    table.add_column("judge", overflow="fold", min_width=8)
    for name in ("spurious\nfound", "\nmissed", "genuine\nright", "called\nspurious"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("\nopen", "\nblind", "median\ndelay s"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found:
        counts = (one.spurious_found, one.spurious_missed, one.genuine_right)
        others = (one.genuine_called_spurious, one.open, one.blind)
        delay = "-" if one.median_delay_s is None else f"{one.median_delay_s:.3f}"
        table.add_row(_sum(one.sender), one.detector, *map(str, counts + others), delay)
    return table


def what_if(found: Sequence[Difference]) -> RenderableType:
    """What other senders would have changed, a row a timeout and sender."""
    if not found:
        return Text("no timeout: nothing to go on from")
    table = _table()
    for name, justify in (("run", "right"), ("flow", "left"), ("timeout s", "right")):
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("truth")
    table.add_column("instead", overflow="fold", min_width=8)
    table.add_column("time s", justify="right")
    table.add_column("segments", justify="right")
    for one in found:
        time = "-" if one.time_s is None else f"{one.time_s:+.2f}"
        where = (str(one.run), one.flow, f"{one.at_s:.3f}", one.truth)
        table.add_row(*where, _sum(one.sender), time, f"{one.segments:+d}")
    return table


def emulation(report: EmulationReport) -> RenderableType:
    """What links in real time did, a row a direction, and whether the run is good."""
    ended = f"the command {_ended(report)} after {report['elapsed_s']:.2f} s"
    title = Text.assemble((_links(report), "bold"), f"  {ended}")
    lines: list[RenderableType] = [title, _carried(report), *_faithful([report])]
    if report["returncode"] and not report["interrupted"]:
        lines.append(Text.assemble(("FAILED", STYLES["fail"]), f"  the command {_ended(report)}"))
    return Group(*lines)


def emulated(result: Emulated) -> RenderableType:
    """What a scenario's flows became on real kernels, and whether the runs are good."""
    first = result.reports[0]
    one = result.runs == 1
    details: list[RenderableType] = [_carried(first)] if one else []
    for host, counts in counted(first).items() if one else ():
        told = ", ".join(f"{name.removeprefix('TcpExt')} {n}" for name, n in counts.items())
        if told:
            details.append(Text(f"{host}'s kernel counted {told}"))
    return Group(runs(result), *details, *_faithful(result.reports))


def on_kernel(done: OnKernel) -> RenderableType:
    """An experiment three times: published, simulated and on kernels, medians with quartiles."""
    experiment = done.experiment
    title = Text.assemble((experiment.title, "bold"), f"  {experiment.id} on kernels\n")
    title.append(f"{experiment.source}; {done.runs} runs a sender, medians (quartiles)", "dim")
    table = _table()
    for name in ("sender", ""):
        table.add_column(name, no_wrap=True)
    for name in ("published", "simulated", "kernel"):
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    before = None
    for line in done.lines:
        digits = line.metric.digits
        published = "" if line.published is None else f"{line.published:.{digits}f}"
        cells = [_box(summary, digits) for summary in (line.simulated, line.kernel)]
        unit = f"{line.metric.label}, {line.metric.unit}" if line.metric.unit else line.metric.label
        named = "" if line.variant is before else line.variant.title
        table.add_row(named, unit, published, *cells)
        before = line.variant
    told = [Text(f"{one.key}: {one.says}", "dim") for one in done.mapping]
    if done.left_out:
        told.append(Text(f"not run on kernels: {'; '.join(done.left_out)}", "dim"))
    return Group(title, table, *told, *_faithful(done.emulated.reports))


def comparison(done: Comparison) -> RenderableType:
    """Medians of the engine and of the kernel, and whether they agree."""
    title = Text.assemble((done.scenario, "bold"), f"  {len(done.pairs)} seeds; medians")
    table = _table()
    for name in ("", done.sender, "kernel", "may differ by", ""):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for check in done.checks:
        numbers = (check.engine, check.kernel, check.allowed)
        cells = ["none" if number is None else f"{number:.4g}" for number in numbers]
        told = Text("agree", STYLES["pass"]) if check.agrees else Text("differ", STYLES["fail"])
        table.add_row(check.name, *cells, told)
    lines = [table, *_selves(done.checks), *_faithful(done.kernel.reports)]
    return Group(title, *lines, Text(f"verdict  {done.verdict}"))


def _selves(checks: Sequence[Agreement]) -> Iterator[RenderableType]:
    """Where the kernel's runs differ from each other although nothing is random."""
    for check in checks:
        if check.spread is not None:
            least, largest = check.spread
            yield Text(f"the kernel's own runs differ: {check.name} {least:.4g} to {largest:.4g}")


def agreement(found: Sequence[tuple[Case, Comparison]]) -> RenderableType:
    """A row for each link: medians of engine and kernel, and whether they agree."""
    table = _table()
    for name in ("engine, kernel", "seeds", *HEADINGS.values(), ""):
        table.add_column(name, justify="left" if name == "engine, kernel" else "right")
    for case, done in found:
        *row, verdict = cells(case, done)
        style = STYLES["pass" if verdict == "agree" else "fail"]
        table.add_row(*(cell.replace("**", "") for cell in row), Text(verdict, style))
    agreed = sum(done.verdict == "agree" for _, done in found)
    return Group(table, Text(f"{agreed} of {len(found)} agree"))


def _box(summary: Summary | None, digits: int) -> str:
    if summary is None:
        return "none"
    median, low, high = (f"{x:.{digits}f}" for x in (summary.median, summary.q1, summary.q3))
    return f"{median} ({low} to {high})"


def _links(report: EmulationReport) -> str:
    names = list(dict.fromkeys(way["link"] for way in report["links"]))
    return f"link {names[0]}" if len(names) == 1 else f"{len(names)} links"


def _carried(report: EmulationReport) -> RenderableType:
    table = _table()
    table.add_column("packets", no_wrap=True)
    shown = ("offered", "delivered", "queue", "error", "outage", "script", "inside")
    for name in shown:
        dropped = "dropped\n" if name == "queue" else "\n"
        table.add_column(f"{dropped}{name}", justify="right", no_wrap=True)
    for place, way in enumerate(report["links"]):
        drops = (way["dropped_queue"], way["dropped_error"], way["dropped_outage"])
        counts = (way["offered"], way["delivered"], *drops, way["dropped_script"], way["inside"])
        ends = (way["from_host"], way["to_host"])
        there = f"{way['link']} {('forward', 'backward')[place % 2]}"
        name = f"{ends[0]} to {ends[1]}" if all(ends) else there
        table.add_row(name, *map(str, counts))
    return table


def _ended(report: EmulationReport) -> str:
    code = report["returncode"]
    if report["interrupted"] or code is None:
        return "was interrupted"
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _faithful(reports: Sequence[EmulationReport]) -> list[RenderableType]:
    """The lateness of the latest run, and why runs are not good if they are not."""
    worst = max(reports, key=lambda report: report["lateness"]["p99_s"])
    late = worst["lateness"]
    times = [f"{late[key] * 1e3:.3g}" for key in ("p50_s", "p99_s", "max_s")]
    known = f"p50 {times[0]} ms, p99 {times[1]} ms, max {times[2]} ms"
    known += "" if worst["real_time"] else " (without real-time scheduling)"
    waited_s = max(report["waited"]["p99_s"] for report in reports)
    known += f"; unread for {waited_s * 1e3:.3g} ms at p99, if at all"
    of = "lateness" if len(reports) == 1 else "lateness of the latest run"
    late_by = Text(f"{of}  {known if late['packets'] else 'unknown: no packet came out'}")
    found = [doubt for report in reports for doubt in doubts(report)]
    if found:
        bad = sum(bool(doubts(report)) for report in reports)
        of = "" if len(reports) == 1 else f"{bad} of {len(reports)} runs: "
        return [
            late_by,
            *(Text.assemble(("NOT GOOD", STYLES["fail"]), f"  {of}{d}") for d in found[:LISTED]),
        ]
    if not any(report["lateness"]["packets"] for report in reports):
        return [late_by]
    allowed = f"the links kept their times: p99 lateness below {late['allowed_s'] * 1e3:.3g} ms"
    return [late_by, Text.assemble(("GOOD", STYLES["pass"]), f"  {allowed}")]
