"""The scores of a stack as JSON, as a table, as JUnit XML, and compared with a baseline."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any
from xml.etree import ElementTree as ET

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.conform import evidence, recipes
from rtolab.conform.measure import TransferOutcome
from rtolab.conform.run import Stack
from rtolab.conform.score import Change, Score, Verdict, changes, overall
from rtolab.suites import VERSIONS, Suite
from rtolab.text import counted

LISTED = 5
"""The most doubts or names that are listed."""
SHORT_S = 0.1
"""Times below this show a tenth of a millisecond, in seconds."""
STYLES = {Verdict.WORSE: "bold red", Verdict.BETTER: "bold green", Verdict.UNDECIDABLE: "yellow"}


@dataclass(frozen=True)
class Baseline:
    """What scores are compared with.

    Attributes:
        file: its path.
        stack: the stack of its scores.
        differs: of stack, command, set, kernel and clock those that differ.
    """

    file: str
    stack: str
    differs: list[str]


@dataclass(frozen=True)
class Report:
    """The results of a call of `conform`.

    Attributes:
        stack: the name of the stack.
        command: its server and client, unless it is the kernel's TCP.
        set: values that replaced those of the scenarios.
        suite: the whole suite of the scenarios.
        seed: of the scenarios.
        scores: one per scenario.
        changes: against the baseline, if there is one.
        kernel: the kernel of both hosts.
        clock: `virtual`, or `real` time.
        baseline: what the scores were compared with.
    """

    stack: str
    command: Mapping[str, str]
    set: Mapping[str, object]
    suite: Suite
    seed: int
    scores: list[Score]
    changes: list[Change]
    kernel: str = ""
    clock: str = "real"
    baseline: Baseline | None = None

    @classmethod
    def of(cls, stack: Stack, suite: Suite, seed: int, scores: list[Score]) -> Report:
        """The result of a stack, without a baseline."""
        return cls(
            stack.name,
            recipes.shown(stack) if stack.client else {},
            stack.set,
            suite.whole,
            seed,
            scores,
            [],
            kernel=stack.kernel.title if stack.kernel else f"Linux {platform.release()}",
            clock="virtual" if stack.kernel else "real",
        )

    @property
    def doubted(self) -> list[Score]:
        """The scenarios whose score is in doubt."""
        return [one for one in self.scores if one.doubts]

    @property
    def broken(self) -> list[Score]:
        """The scenarios that hung or failed."""
        return [one for one in self.scores if one.ended != TransferOutcome.RECOVERED]

    @property
    def worse(self) -> list[Change]:
        """The scenarios with a lower score."""
        return [one for one in self.changes if one.verdict is Verdict.WORSE]

    def document(self) -> dict[str, Any]:
        """The JSON document, which can serve as a baseline."""
        return {
            "rtolab": _rtolab.__version__,
            "stack": self.stack,
            "command": dict(self.command),
            "set": dict(self.set),
            "kernel": self.kernel,
            "clock": self.clock,
            "suite": self.suite.value,
            "suite_version": self.suite.version,
            "seed": self.seed,
            "score": overall(self.scores),
            "scores_in_doubt": len(self.doubted),
            "not_recovered": len(self.broken),
            "undisturbed": [asdict(one) for one in undisturbed(self.scores)],
            "scenarios": [asdict(one) for one in self.scores],
            "baseline": asdict(self.baseline) if self.baseline else None,
            "changes": [asdict(one) for one in self.changes],
        }

    @property
    def settings(self) -> dict[str, Any]:
        """What a baseline should have in common with this result."""
        return {
            "stack": self.stack,
            "command": dict(self.command),
            "set": {key: str(value) for key, value in self.set.items()},
            "kernel": self.kernel,
            "clock": self.clock,
        }

    def against(self, document: Mapping[str, Any], path: Path, margin: float) -> Report:
        """This result with its changes against a baseline, which `check_baseline` has checked.

        Args:
            document: the baseline.
            path: its file.
            margin: how far a score may differ and count as equal.
        """
        before = {one["id"]: float(one["score"]) for one in document["scenarios"]}
        differs = [
            name
            for name, now in self.settings.items()
            # Older results lack some of them.
            if name in document and _comparable(document[name]) != now
        ]
        baseline = Baseline(str(path), str(document["stack"]), differs)
        compared = changes(self.scores, before, margin)
        return replace(self, changes=compared, baseline=baseline)


@dataclass(frozen=True)
class Undisturbed:
    """Transfers without disturbances, which several scenarios share.

    Attributes:
        transfer: their path, number and size.
        took_s: the time of this stack; `None` if they did not end.
        path_s: the time that the path needs.
    """

    transfer: str
    took_s: float | None
    path_s: float


def undisturbed(scores: Sequence[Score]) -> list[Undisturbed]:
    """The undisturbed transfers of these scenarios."""
    found = {one.transfer: (one.undisturbed_s, one.path_s) for one in scores}
    return [Undisturbed(transfer, *times_s) for transfer, times_s in found.items()]


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: str(one) for key, one in value.items()}
    return value


def read(path: Path) -> dict[str, Any]:
    """Reads a baseline.

    Raises:
        Error: the file is no such document.
        OSError: it cannot be read.
    """
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        scenarios = [(one["id"], float(one["score"]), one["ended"]) for one in found["scenarios"]]
        # Older results are of the only suite that there was.
        found.setdefault("suite", Suite.FIFTY.value)
        found.setdefault("suite_version", 1)
        named = (found["stack"], int(found["seed"]), float(found["score"]))
        suited = (str(found["suite"]), int(found["suite_version"]))
    except (ValueError, KeyError, TypeError) as error:
        raise Error(f"{path}: found no result of `rtolab conform --json` ({error})") from error
    if not scenarios or not named[0] or not suited[0]:
        raise Error(f"{path}: found a result of no scenario")
    return found


def check_baseline(document: Mapping[str, Any], path: Path, suite: Suite, seed: int) -> None:
    """Checks that the scores of a baseline can be compared.

    Raises:
        Error: its scenarios are those of another suite or version, or of another seed.
    """
    check_suite(document, path, suite)
    if document["seed"] != seed:
        raise Error(
            f"{path} is of seed {document['seed']} and this of {seed}: the scenarios differ; "
            f"compare with --seed {document['seed']}"
        )


def check_suite(document: Mapping[str, Any], path: Path, suite: Suite) -> None:
    """Checks that the scores of a document can be compared with those of a suite.

    Raises:
        Error: they are those of another suite or version.
    """
    name, version = document["suite"], document["suite_version"]
    if name != suite.whole:
        known = f"; compare with --suite {name}" if name in set(VERSIONS) else ""
        raise Error(
            f"{path} is of the suite {name} and this of {suite.whole}: the scenarios differ{known}"
        )
    if version != suite.version:
        raise Error(
            f"{path} is of version {version} of the suite {name} and this of version "
            f"{suite.version}: scores of different versions cannot be compared; store a new result"
        )


def table(report: Report) -> RenderableType:
    """The scores as a table, a row per scenario."""
    rows = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    rows.add_column("\nscenario", no_wrap=True)
    columns = [shown for shown in COLUMNS if any(shown[1](one) for one in report.scores)]
    for name, _ in columns:
        rows.add_column(name, justify="right", no_wrap=True)
    rows.add_column("", no_wrap=True)
    changed = {one.id: one for one in report.changes}
    for one in report.scores:
        rows.add_row(
            one.id,
            *(text(one) for _, text in columns),
            _note(one, changed.get(one.id)),
        )
    title = Text.assemble(
        (f"{report.stack}  {overall(report.scores):.1f} of 100", "bold"),
        f"  {counted(len(report.scores), 'scenario')} of {report.suite.label}, seed "
        f"{report.seed}, "
        f"{len(report.broken)} not recovered",
    )
    return Group(
        title,
        rows,
        *_undisturbed(report),
        *_broken(report),
        *_doubted(report),
        *_compared(report),
    )


def _undisturbed(report: Report) -> list[RenderableType]:
    """The times without disturbances: what the stack needs, and what the path needs."""
    rows = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    rows.add_column("undisturbed", no_wrap=True)
    for name in ("time s", "path s", "path/time"):
        rows.add_column(name, justify="right", no_wrap=True)
    for one in undisturbed(report.scores):
        took, share = "", ""
        if one.took_s is not None:
            took, share = _seconds(one.took_s), f"{100 * one.path_s / one.took_s:.0f} %"
        rows.add_row(one.transfer, took, _seconds(one.path_s), share)
    return [rows]


def _broken(report: Report) -> list[RenderableType]:
    """A line about each scenario that hung or failed; those with one reason share a line."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in report.broken:
        reasons.setdefault((one.outcome, one.said), []).append(one.id)
    lines = []
    for (outcome, said), names in reasons.items():
        words = f"{outcome}: {said}" if said else outcome
        lines.append(Text(f"{first(names)} {words}", "red"))
    return [*lines]


def first(names: Sequence[str]) -> str:
    """The first of these names, and how many more there are."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"


def kept(report: Report) -> list[str]:
    """Lines about what is kept, and the commands that diagnose the worst of it."""
    found = sorted((one for one in report.scores if one.evidence), key=lambda one: one.score)
    if not found:
        return []
    commands = dict.fromkeys(evidence.command(one) for one in found)
    worst = [command for command in commands if command][:LISTED]
    folder = Path(found[0].evidence).parent
    heading = f"captures of {counted(len(found), 'scenario')} are in {folder}"
    return [f"{heading}; diagnose the worst with" if worst else heading, *worst]


def _of(number: int | None, total: int | None) -> str:
    """A count of all; empty if there are none or if they are unknown."""
    return f"{number}/{total}" if total else ""


def _known(time_s: float | None) -> str:
    """A time; empty if there is none."""
    return "" if time_s is None else _seconds(time_s)


def _range(one: Score) -> str:
    """The lowest and highest score of several runs."""
    return f"{one.runs[0]:.0f} to {one.runs[-1]:.0f}" if len(one.runs) > 1 else ""


COLUMNS: tuple[tuple[str, Callable[[Score], str]], ...] = (
    ("\nscore", lambda one: f"{one.score:.0f}"),
    ("\nruns", _range),
    ("time\ns", lambda one: _seconds(one.took_s)),
    ("path\ns", lambda one: _seconds(one.path_s)),
    ("excess\ns", lambda one: _known(one.excess_s)),
    ("link\ns", lambda one: _known(one.link_s)),
    ("unneeded\nkB", lambda one: f"{one.unneeded_bytes / 1e3:.1f}"),
    ("sent\nkB", lambda one: f"{one.sent_bytes / 1e3:.0f}"),
    ("spurious\nlosses", lambda one: _of(one.spurious_losses, one.declared_losses)),
    ("spurious\nepisodes", lambda one: _of(one.spurious_episodes, one.episodes)),
    ("spurious\ntimeouts", lambda one: _of(one.spurious_timeouts, one.timeouts)),
    ("resumes\ns", lambda one: _known(one.resume_s)),
)
"""The columns, of which those are shown in which a scenario has something."""


def beside(documents: Sequence[Mapping[str, Any]], margin: float) -> RenderableType:
    """The scores and times of several results, a row per scenario; differences are marked.

    Args:
        documents: results of `Report.document`; the scenarios are those of the first.
        margin: the largest difference of scores that is not marked.
    """
    rows = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    rows.add_column("scenario", no_wrap=True)
    for document in documents:
        rows.add_column(f"{document['stack']}\nscore", justify="right", no_wrap=True)
        rows.add_column("\ntime s", justify="right", no_wrap=True)
    rows.add_column("", no_wrap=True)
    columns = [{one["id"]: one for one in document["scenarios"]} for document in documents]
    different = 0
    apart: list[tuple[float, str]] = []
    for name in columns[0]:
        line = [column[name] for column in columns if name in column]
        scores = [one["score"] for one in line]
        times_s = [one["took_s"] for one in line]
        differs = max(scores) - min(scores) > margin or len({one["ended"] for one in line}) > 1
        different += differs
        # The time of a transfer that hung is the limit.
        if all(one["ended"] == TransferOutcome.RECOVERED for one in line):
            apart.append((100 * (max(times_s) / min(times_s) - 1), name))
        cells = [cell for column in columns for cell in _score_and_time(column.get(name))]
        rows.add_row(name, *cells, Text("differ" if differs else "", "bold red"))
    names = ", ".join(f"{one['stack']} {one['score']:.1f}" for one in documents)
    title = Text.assemble(
        (names, "bold"),
        f"  of 100; {different} of {counted(len(columns[0]), 'scenario')} "
        f"{'differs' if different == 1 else 'differ'} by more than {margin:g} points",
    )
    if not apart:
        return Group(title, rows)
    most, where = max(apart)
    usual = _percent(median(one for one, _ in apart))
    times = f"times differ by {usual} (median), at most by {_percent(most)} ({where})"
    return Group(title, rows, Text(times))


def _percent(share: float) -> str:
    """A number of percent with two digits or more."""
    return f"{share:.2g} %" if share < 10 else f"{share:.0f} %"


def _score_and_time(one: Mapping[str, Any] | None) -> tuple[str, str]:
    if one is None:
        return "", ""
    return f"{one['score']:.0f}{'?' if one['doubts'] else ''}", _seconds(one["took_s"])


def _seconds(time_s: float) -> str:
    """A time with as many digits as short ones need."""
    return f"{time_s:.2f}" if abs(time_s) >= SHORT_S or not time_s else f"{time_s:.4f}"


def _note(one: Score, change: Change | None) -> Text:
    if one.ended != TransferOutcome.RECOVERED:
        return Text(one.outcome, "bold red")
    if change is not None and change.verdict is not Verdict.SAME:
        return Text(f"{change.verdict} ({change.before:.0f})", STYLES[change.verdict])
    return Text("in doubt" if one.doubts else "", "yellow")


def _doubted(report: Report) -> list[RenderableType]:
    """Whether the measurement can be trusted, whatever the scores are."""
    doubted = report.doubted
    if not doubted:
        words = "  no score is in doubt: the links kept their times, and no runs scatter"
        return [Text.assemble(("MEASUREMENT GOOD", "bold green"), words)]
    words = f"  {len(doubted)} of {len(report.scores)} scores are in doubt"
    lines = [Text(f"{one.id}: {'; '.join(one.doubts)}") for one in doubted[:LISTED]]
    return [Text.assemble(("MEASUREMENT NOT GOOD", "bold red"), words), *lines]


def _compared(report: Report) -> list[RenderableType]:
    if report.baseline is None:
        return []
    counts = {verdict: sum(one.verdict is verdict for one in report.changes) for verdict in Verdict}
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    baseline = report.baseline
    against = f"{report.stack} compared with {baseline.stack} ({baseline.file})"
    lines = [Text(f"{against}: {words or 'no scenario in common'}")]
    if baseline.differs:
        lines.append(Text(f"WARNING  {warning(report)}", "yellow"))
    compared = {one.id for one in report.changes}
    lacking = [one.id for one in report.scores if one.id not in compared]
    if lacking and compared:
        lines.append(Text(f"WARNING  the baseline lacks {first(lacking)}", "yellow"))
    return [*lines]


def warning(report: Report) -> str:
    """A sentence about what differs between the result and its baseline; empty if nothing does."""
    baseline = report.baseline
    if baseline is None or not baseline.differs:
        return ""
    names = ", ".join("settings" if name == "set" else name for name in baseline.differs)
    verb = "differs" if len(baseline.differs) == 1 and names != "settings" else "differ"
    return f"{names} {verb} between {report.stack} and the baseline, {baseline.stack}"


def junit(report: Report) -> str:
    """The scores as JUnit XML: a scenario is a test case."""
    worse = {one.id: one for one in report.worse}
    failed = {one.id for one in report.broken} | set(worse)
    top = ET.Element(
        "testsuite",
        name=f"rtolab conform {report.stack}",
        tests=str(len(report.scores)),
        failures=str(len(failed)),
        errors="0",
        time=f"{sum(one.took_s for one in report.scores):.3f}",
    )
    for one in report.scores:
        case = ET.SubElement(
            top, "testcase", classname="conform", name=one.id, time=f"{one.took_s:.3f}"
        )
        if one.id in failed:
            ET.SubElement(case, "failure", message=_failure(one, worse.get(one.id)))
        ET.SubElement(case, "system-out").text = "\n".join(_about(one))
    ET.indent(top)
    return ET.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def _about(one: Score) -> list[str]:
    """The lines about a scenario in JUnit XML."""
    words = [f"score {one.score:.1f}", f"{one.unneeded_bytes} B unneeded"]
    if one.excess_s is not None and one.link_s is not None:
        words += [f"{one.excess_s:.3f} s excess", f"{one.link_s:.3f} s of it by the link"]
    times = [f"the undisturbed path needs {one.path_s:.3f} s"]
    if one.undisturbed_s is not None:
        times.append(f"this stack {one.undisturbed_s:.3f} s")
    lines = [one.says, ", ".join(words), ", ".join(times), *one.doubts]
    command = evidence.command(one)
    return [*lines, command] if command else lines


def _failure(one: Score, change: Change | None) -> str:
    if change is None or one.ended != TransferOutcome.RECOVERED:
        after = f"{one.outcome} after {one.took_s:.1f} s"
        return f"{after}: {one.said}" if one.said else after
    return f"the score fell from {change.before:.1f} to {change.now:.1f}"
