"""Text tables of runs in real time: links, kernel against engine, doubts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from rtolab.emulation import EmulationResult, counted, doubts, guest
from rtolab.emulation.agreement import HEADINGS, Case, cells
from rtolab.emulation.comparison import Agreement, Comparison
from rtolab.tables import STYLES, compact, runs

if TYPE_CHECKING:
    from rtolab._rtolab import EmulatedHost, EmulationReport
    from rtolab.experiments.kernel import KernelExperiment
    from rtolab.stats import Summary

LISTED = 5
"""The most invalid runs whose reasons are listed."""


def emulation(report: EmulationReport, *, started: bool = True) -> RenderableType:
    """Statistics of the links, a row per direction, and whether the run is valid.

    Args:
        report: the end of an emulation.
        started: did the command start? Otherwise its server ended before it listened.
    """
    ended = _ended(report) if started else "did not start: the server ended"
    ended = f"the command {ended} after {report['elapsed_s']:.2f} s"
    title = Text.assemble((_links(report), "bold"), f"  {ended}")
    lines: list[RenderableType] = [title, _carried(report), *_validity([report])]
    if report["returncode"] and not report["interrupted"]:
        lines.append(Text.assemble(("FAILED", STYLES["fail"]), f"  the command {_ended(report)}"))
    return Group(*lines)


def emulated(result: EmulationResult) -> RenderableType:
    """Outcomes of a scenario's flows on real kernels, and whether the runs are valid."""
    first = result.reports[0]
    one = result.runs == 1
    details: list[RenderableType] = [_carried(first)] if one else []
    for host, counts in counted(first).items() if one else ():
        counters = ", ".join(f"{name.removeprefix('TcpExt')} {n}" for name, n in counts.items())
        if counters:
            details.append(Text(f"{host}'s kernel counted {counters}"))
    return Group(runs(result), *details, *_withheld(result.reports), *_validity(result.reports))


def _withheld(reports: Sequence[EmulationReport]) -> Iterator[RenderableType]:
    """The retransmissions whose truth by withholding is not that of the packets' fates."""
    found = [one for report in reports for one in report["withheld"]]
    if not found:
        return
    differ = [one for one in found if one["by_fates"] != one["by_withholding"]]
    number = f"{len(found)} retransmission{'s' if len(found) > 1 else ''} withheld"
    agreed = "the fates of packets tell the same truth"
    tell = f"{agreed} of {len(found) - len(differ)}" if differ else agreed
    yield Text(f"truth  {number}, each in a run of its own; {tell}")
    for one in differ[:LISTED]:
        what = f"{one['flow']}: {one['kind']} at {one['at_s']:.6f} s"
        truths = f"{one['by_withholding']}, but {one['by_fates']} by the fates of packets"
        yield Text(f"       {what} is {truths}")
    if len(differ) > LISTED:
        yield Text(f"       and {len(differ) - LISTED} more")


def on_kernel(done: KernelExperiment) -> RenderableType:
    """Published, simulated and kernel results of an experiment, as medians with quartiles."""
    experiment = done.experiment
    title = Text.assemble((experiment.title, "bold"), f"  {experiment.id} on kernels\n")
    title.append(f"{experiment.source}; {done.runs} runs a sender, medians (quartiles)", "dim")
    table = compact()
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
    notes = [Text(f"{one.key}: {one.says}", "dim") for one in done.mapping]
    if done.left_out:
        notes.append(Text(f"not run on kernels: {'; '.join(done.left_out)}", "dim"))
    return Group(title, table, *notes, *_validity(done.emulated.reports))


def comparison(done: Comparison) -> RenderableType:
    """Medians of engine and kernel, and whether they agree."""
    title = Text.assemble((done.scenario, "bold"), f"  {len(done.pairs)} seeds; medians")
    table = compact()
    for name in ("", done.sender, "kernel", "may differ by", ""):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for check in done.checks:
        numbers = (check.engine, check.kernel, check.allowed)
        cells = ["none" if number is None else f"{number:.4g}" for number in numbers]
        verdict = Text("agree", STYLES["pass"]) if check.agrees else Text("differ", STYLES["fail"])
        table.add_row(check.name, *cells, verdict)
    lines = [table, *_kernel_scatter(done.checks), *_validity(done.kernel.reports)]
    return Group(title, *lines, Text(f"verdict  {done.verdict}"))


def _kernel_scatter(checks: Sequence[Agreement]) -> Iterator[RenderableType]:
    """Differences between the kernel's own runs on a link that is not random."""
    for check in checks:
        if check.spread is not None:
            least, largest = check.spread
            yield Text(f"the kernel's own runs differ: {check.name} {least:.4g} to {largest:.4g}")


def agreement(found: Sequence[tuple[Case, Comparison]]) -> RenderableType:
    """Medians of engine and kernel, a row per case, and whether they agree."""
    table = compact()
    table.add_column("engine, kernel", no_wrap=True)
    for name in ("seeds", *HEADINGS.values(), ""):
        short = name.replace("retransmissions", "rexmits").replace(" retransmits", "\nrexmits")
        width = max(len(line) for line in short.splitlines() or [""])
        table.add_column(short, justify="right", min_width=width)
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
    table = compact()
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


def _kernels(report: EmulationReport) -> str:
    """The kernel of the guests; of each host, if they differ."""
    of_hosts = {host["name"]: host["kernel"] for host in report["hosts"] if host["kernel"]}
    if len({*of_hosts.values()}) == 1:
        return str(next(iter(of_hosts.values())))
    return "; ".join(f"{name}: {kernel}" for name, kernel in of_hosts.items())


def _falls_back(host: EmulatedHost) -> bool:
    """Does a guest exchange time or packets by messages?"""
    exchange = host["exchange"]
    return bool(exchange and (exchange["messages"] or not exchange["shared_memory"]))


def _validity(reports: Sequence[EmulationReport]) -> list[RenderableType]:
    """The kernel of a virtual clock, or the worst lateness of all runs and why runs are invalid."""
    if guest(reports[0]):
        doubted = [doubt for report in reports for doubt in doubts(report)]
        title = Text(f"kernel  {_kernels(reports[0])}, on a virtual clock: computing takes no time")
        engines = [host["name"] for host in reports[0]["hosts"] if not host["kernel"]]
        if engines:
            title.append(f"; the engine at {', '.join(engines)}")
        by_messages = [host["name"] for host in reports[0]["hosts"] if _falls_back(host)]
        if by_messages:
            title.append(
                f"; {', '.join(by_messages)} without shared memory, which is slower "
                "(Linux 6.11 and later have it)"
            )
        return [
            title,
            *(Text.assemble(("NOT GOOD", STYLES["fail"]), f"  {d}") for d in doubted[:LISTED]),
        ]
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
