"""Declarations of an experiment: assumptions, variants, metrics, tables, figures, checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypedDict

import polars as pl

from rtolab.experiments.explanation import Demonstration, Explanation
from rtolab.result import Result
from rtolab.stats import DIGITS, Estimate, text_beside

if TYPE_CHECKING:
    from rtolab.experiments.measured import ExperimentRuns, Runs

Kind = Literal["exact", "ratio", "order", "shape", "count"]
Verdict = Literal["pass", "fail", "undecidable", "not reproducible"]
Basis = Literal["paper", "ours", "unstated"]
"""The basis of a check: the paper's words or numbers, our own expectation, or not stated."""
Standing = Literal["before", "after", "ours", "unstated"]
"""The paper's checks: were assumptions and bounds chosen before or after results? Others."""
Overall = Verdict | Literal["nothing to judge"]
"""The verdict on an experiment; schematic figures have nothing to judge."""

SWEEP = 12
"""The most variants of a table that is shown unfolded."""


@dataclass(frozen=True)
class Assumption:
    """An assumption of an experiment.

    Attributes:
        name: a scenario key, or a subject in words.
        value: its value.
        stated: does the paper state it?
        why: where the paper states it, or why it was assumed.
        is_key: is `name` a scenario key, which every run sets to `value`?
    """

    name: str
    value: str
    stated: bool
    why: str
    is_key: bool = True


def stated(name: str, value: str, why: str) -> Assumption:
    """A value that the paper states."""
    return Assumption(name, value, stated=True, why=why)


def assumed(name: str, value: str, why: str) -> Assumption:
    """A value that the paper leaves open."""
    return Assumption(name, value, stated=False, why=why)


def interpreted(about: str, value: str, why: str) -> Assumption:
    """A choice that is not a scenario key: an interpretation, a workload, a way of counting."""
    return Assumption(about, value, stated=False, why=why, is_key=False)


@dataclass(frozen=True)
class Alternative:
    """Another reasonable choice for an assumption, to test the verdicts against.

    Attributes:
        name: a short description such as "packets of 1000 B".
        set: the values of the choice, by scenario key.
        why: the reason for the choice.
    """

    name: str
    set: Mapping[str, str]
    why: str = ""


@dataclass(frozen=True)
class UnstatedAssumption:
    """Values that an unstated assumption may have, for `reproduce --search`.

    Attributes:
        name: what the paper leaves open.
        values: settings by scenario key, by a short description; other than the experiment's own.
        of: the sender that it is about; by default every one.
    """

    name: str
    values: Mapping[str, Mapping[str, str]]
    of: str = ""


@dataclass(frozen=True)
class SenderComposition:
    """A system's sender as policies and scenario keys, each of which a search can replace.

    Attributes:
        policies: its sender specification.
        set: its settings by scenario key.
    """

    policies: str
    set: Mapping[str, str]


@dataclass(frozen=True)
class Variant:
    """A row of a table or a point of a figure: a sender under a condition.

    Attributes:
        sender: a sender specification.
        label: its name in the paper.
        condition: the difference from the published variant of the same sender, in words.
        set: the values of the condition, by scenario key.
        scenario: its scenario, if it is not that of the experiment.
        series: its line in figures; by default its label.
        x: its position on the line.
        judges: passive detectors, if they are not those of the experiment.
        composed: what `sender` sets, if it names a system, which overrides scenario keys.
        runs: the sender specification that runs, if it is not `sender`.
    """

    sender: str
    label: str
    condition: str = ""
    set: Mapping[str, str] = field(default_factory=dict)
    scenario: str = ""
    series: str = ""
    x: float | None = None
    judges: tuple[str, ...] = ()
    composed: SenderComposition | None = None
    runs: str = ""

    @property
    def key(self) -> str:
        """The id of the variant within its experiment."""
        return f"{self.sender} @ {self.condition}" if self.condition else self.sender

    @property
    def title(self) -> str:
        """The label, with the condition if there is one."""
        return f"{self.label}, {self.condition}" if self.condition else self.label


@dataclass(frozen=True)
class Metric:
    """A number per run.

    Attributes:
        name: in JSON documents.
        label: in tables and figures.
        unit: of the number, empty for counts.
        of: maps runs to one value each, ordered by seed.
        digits: shown after the decimal point.
    """

    name: str
    label: str
    unit: str
    of: Callable[[Runs], pl.Series]
    digits: int = 0


def column(name: str) -> Callable[[Runs], pl.Series]:
    """A column of `connections`, for runs with one connection."""
    return lambda runs: runs.connections[name].cast(pl.Float64)


def total(name: str) -> Callable[[Runs], pl.Series]:
    """A column of `connections`, summed over the connections of each run."""
    return lambda runs: runs.connections.group_by("run", maintain_order=True).agg(
        pl.col(name).cast(pl.Float64).sum()
    )[name]


TIME = Metric("time", "Time", "s", column("elapsed_s"), digits=2)
LOST = Metric("lost", "Lost", "", column("lost"))
REXMITS = Metric("rexmits", "Rexmits", "", column("retransmissions"))
UNNEEDED = Metric("unneeded", "Unneeded", "", column("unneeded"))
TIMEOUTS = Metric("timeouts", "Timeouts", "", column("timeouts"))
FAST_RETRANSMITS = Metric("fast_retransmits", "Fast rx", "", column("fast_retransmits"))
FOUND_SPURIOUS = Metric("found_spurious", "Found spurious", "", column("found_spurious"))
THROUGHPUT = Metric(
    "throughput",
    "Throughput",
    "bit/s",
    lambda runs: 8.0 * runs.connections["bytes"].cast(pl.Float64) / runs.connections["elapsed_s"],
)


@dataclass(frozen=True)
class Value:
    """A derived number in a table, from runs or from arithmetic alone.

    Attributes:
        name: in JSON documents and checks.
        label: in tables.
        measured: the number, with its interval if it has one; `None` if undefined.
        published: the paper's number, if it prints one.
        unit: of both, empty for ratios and counts.
        digits: shown after the decimal point.
    """

    name: str
    label: str
    measured: float | Estimate | None
    published: float | None = None
    unit: str = ""
    digits: int = 2


Cell = str | int | float | Estimate | None
"""A cell of a table: a text, a count or a share; `None` if there was nothing to count."""


@dataclass(frozen=True)
class Table:
    """A table with a layout of its own, for experiments where a row per variant says little.

    Attributes:
        caption: the caption.
        head: the headings of the columns.
        rows: cells, one per column; shares are shown in percent.
        digits: of percentages, after the decimal point.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 1

    def text(self, cell: Cell) -> str:
        """The text of a cell."""
        match cell:
            case None:
                return "none"
            case str():
                return cell
            case int():
                return f"{cell:,}"
            case Estimate(value, low, high):
                ends = f"{100 * low:.{self.digits}f} to {100 * high:.{self.digits}f}"
                return f"{100 * value:.{self.digits}f} ({ends})"
        return f"{100 * cell:.{self.digits}f}"


@dataclass(frozen=True)
class Point:
    """A point of a figure, with its interval if it has one."""

    series: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curves:
    """A figure with a line per series, as in the paper.

    Attributes:
        name: of its files, without suffix.
        caption: the caption.
        x: the title of the horizontal axis, with its unit.
        y: the title of the vertical axis, with its unit.
        metric: the plotted metric, as median and quartiles over the runs of each variant with `x`.
        points: computes the points instead, if they are not a metric.
        only: selects the variants; by default all.
        published: points from the paper's text.
        log_x: is the horizontal axis logarithmic?
        log_y: is the vertical axis?
        in_place: are points drawn without an offset, although some hide others?
        scale: a factor for the metric.
    """

    name: str
    caption: str
    x: str
    y: str
    metric: Metric | None = None
    points: Callable[[ExperimentRuns], Sequence[Point]] | None = None
    only: Callable[[Variant], bool] | None = None
    published: tuple[Point, ...] = ()
    log_x: bool = False
    log_y: bool = False
    in_place: bool = False
    scale: float = 1.0

    def shows(self, x: float, y: float) -> bool:
        """Can the axes show that point? Logarithmic axes cannot show 0 and below."""
        return (x > 0 or not self.log_x) and (y > 0 or not self.log_y)


@dataclass(frozen=True)
class Mark:
    """An instant in a time-sequence plot that the paper's text mentions.

    Attributes:
        at: the time, in seconds.
        text: what happens then.
        event: if given, the first such event from `at` on is marked: a kind of `timeouts`.
    """

    at: float
    text: str
    event: str | None = None


@dataclass(frozen=True)
class Bounds:
    """An interval of accepted values, closed unless `strict`; `None` means unbounded."""

    low: float | None = None
    high: float | None = None
    strict: bool = False

    def hold(self, value: float) -> bool:
        """Is the value within?"""
        if self.strict:
            above = self.low is None or value > self.low
            return above and (self.high is None or value < self.high)
        above = self.low is None or value >= self.low
        return above and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.low is not None and self.high is not None:
            same = self.low == self.high
            return f"{self.low:g}" if same else f"{self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"above {self.low:g}" if self.strict else f"at least {self.low:g}"
        return f"below {self.high:g}" if self.strict else f"at most {self.high:g}"


@dataclass(frozen=True)
class Check:
    """A claim that is checked against the measurements.

    Attributes:
        name: the claim in words.
        kind: the sort of claim.
        measure: computes the value; `None` if there is nothing to judge, which fails.
        bounds: accepted values, by the fewest runs that decide the claim. Medians of few runs
            scatter, so few runs have wider bounds, or none: then they cannot decide the claim.
        note: what a reader needs to know to read the verdict.
        not_reproducible: why the claim cannot be reproduced as printed: the paper contradicts
            itself, or omits the condition under which it holds. Such a check never fails.
        failure_cause: for a failure, what was tried and the likely cause.
        basis: does the paper say so, or do we expect it? Only the paper's checks count as its
            reproduction; `from_paper` and `our_own` mark several.
        fitted: what was chosen after the result had been seen: an assumption or the bounds. Empty
            if everything was chosen before. Such a check is no independent evidence; `fitted`
            marks several.
        statistic: of the runs, such as `medians`; empty if the name of the check has it.
    """

    name: str
    kind: Kind
    measure: Callable[[ExperimentRuns], float | Estimate | None]
    bounds: Mapping[int, Bounds]
    note: str = ""
    not_reproducible: Explanation | None = None
    failure_cause: Explanation | None = None
    basis: Basis = "unstated"
    fitted: str = ""
    statistic: str = ""

    def judge(self, measured: ExperimentRuns) -> Judgement:
        """Measure and compare."""
        basis = "ours" if measured.experiment.ours else self.basis
        statistic = self.statistic if measured.runs > 1 else ""
        return replace(self._judge(measured), basis=basis, fitted=self.fitted, statistic=statistic)

    def _judge(self, measured: ExperimentRuns) -> Judgement:
        found = self.measure(measured)
        value = found.value if isinstance(found, Estimate) else found
        interval = (found.low, found.high) if isinstance(found, Estimate) else None
        enough = [runs for runs in self.bounds if runs <= measured.runs]
        if not enough:
            needed = min(self.bounds)
            expected = f"{self.bounds[needed]} from {needed} runs on; {measured.runs} cannot decide"
            return self._judgement(expected, value, interval, "undecidable")
        bounds = self.bounds[max(enough)]
        holds = value is not None and bounds.hold(value)
        missed: Verdict = "not reproducible" if self.not_reproducible else "fail"
        verdict: Verdict = "pass" if holds else missed
        return self._judgement(f"{bounds}{self._holds_for(max(enough))}", value, interval, verdict)

    def _holds_for(self, runs: int) -> str:
        if max(self.bounds) == 1:
            return ""
        more = [other for other in self.bounds if other > runs]
        return f" ({runs} to {min(more) - 1} runs)" if more else f" ({runs} runs or more)"

    def _judgement(
        self,
        expected: str,
        value: float | None,
        interval: tuple[float, float] | None,
        verdict: Verdict,
    ) -> Judgement:
        name = f"{self.name} ({self.note})" if self.note else self.name
        cause = {"fail": self.failure_cause, "not reproducible": self.not_reproducible}.get(verdict)
        why, shown_by = (cause.text, cause.shown_by) if cause else ("", None)
        judged = (name, self.kind, expected, value, interval, verdict)
        return Judgement(*judged, why=why, shown_by=shown_by)


def from_paper(*checks: Check) -> tuple[Check, ...]:
    """Checks of the paper's words or numbers."""
    return tuple(replace(check, basis="paper") for check in checks)


def our_own(*checks: Check) -> tuple[Check, ...]:
    """Checks of our own expectations, which are not the paper's."""
    return tuple(replace(check, basis="ours") for check in checks)


def fitted(what: str, *checks: Check) -> tuple[Check, ...]:
    """Checks that depend on `what`, a choice made after their results had been seen."""
    return tuple(replace(check, fitted=what) for check in checks)


def of_the_paper(experiment: Experiment) -> Experiment:
    """The experiment, with its checks without a basis marked as the paper's."""
    unstated = (check.basis == "unstated" for check in experiment.checks)
    pairs = zip(unstated, experiment.checks, strict=True)
    checks = tuple(replace(check, basis="paper") if open_ else check for open_, check in pairs)
    return replace(experiment, checks=checks)


class Parts(TypedDict, total=False):
    """The arguments of `Check` that helpers pass on."""

    note: str
    not_reproducible: Explanation | None
    failure_cause: Explanation | None
    basis: Basis
    fitted: str


@dataclass(frozen=True)
class CountedCheck(Check):
    """A check that needs enough events, such as spikes, in the runs.

    Attributes:
        suffices: are there enough events to decide the claim?
    """

    suffices: Callable[[ExperimentRuns], bool] = bool

    def judge(self, measured: ExperimentRuns) -> Judgement:
        """Measure and compare, if there are enough events."""
        judged = super().judge(measured)
        if self.suffices(measured):
            return judged
        expected = f"{judged.expected}; too few events to decide"
        return replace(judged, expected=expected, verdict="undecidable", why="", shown_by=None)


@dataclass(frozen=True)
class Judgement:
    """The outcome of a check.

    Attributes:
        name: of the check.
        kind: of the check.
        expected: the bounds in words, with the number of runs for which they hold.
        measured: the value; `None` if there is none.
        interval: its 95 % bootstrap interval, if it has one.
        verdict: `undecidable` if there are too few runs for any bounds.
        why: the likely cause of a failure, or why the claim is not reproducible.
        shown_by: a demonstration of that cause, or of what was tried if it is not known; `None` if
            the cause is reasoned, not demonstrated.
        basis: does the paper say so, or do we expect it?
        fitted: what was chosen after the result had been seen; empty if nothing.
        statistic: of the runs, such as `medians`; empty if there is one run, or the name has it.
    """

    name: str
    kind: Kind
    expected: str
    measured: float | None
    interval: tuple[float, float] | None
    verdict: Verdict
    why: str = ""
    shown_by: Demonstration | None = None
    basis: Basis = "unstated"
    fitted: str = ""
    statistic: str = ""

    @property
    def is_missed(self) -> bool:
        """Does it fail, or is it not reproducible as printed?"""
        return self.verdict in ("fail", "not reproducible")

    @property
    def standing(self) -> Standing:
        """Is it the paper's, and was anything chosen after its result had been seen?"""
        if self.basis != "paper":
            return self.basis
        return "after" if self.fitted else "before"

    def measured_text(self) -> str:
        """The text of the value, with its statistic and its interval."""
        if self.measured is None:
            return "nothing"
        said = [self.statistic] if self.statistic else []
        if self.interval is not None:
            low, high = (text_beside(self.measured, end) for end in self.interval)
            said.append(f"95 %: {low} to {high}")
        text = f"{self.measured:.{DIGITS}g}"
        return f"{text} ({'; '.join(said)})" if said else text


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper, as data.

    Attributes:
        id: `<paper>/<table, figure, section or claim>`.
        title: the title.
        source: the paper and its section.
        checks: the claims.
        assumptions: the assumptions; scenario keys among them are set in every run.
        says: the paper's statement, in our words and its numbers.
        did: our procedure.
        scenario: the name of the shipped scenario; empty if nothing is simulated.
        variants: the rows of the table, in the paper's order.
        metrics: the metrics of each run, in the paper's order.
        published: the paper's values by (key of a variant, name of a metric).
        derive: computes derived values from the runs or from arithmetic alone.
        tables: computes tables with a layout of their own.
        figures: curves; without any, and without traces, box plots are drawn.
        aliases: other ids of the same runs.
        alternatives: other choices for assumptions.
        unstated: what `--search` varies.
        runs: the default runs of each variant.
        quick_runs: the runs with `--quick`.
        quick_set: values that differ with `--quick`, by scenario key.
        whole_set: values that differ if all experiments are run, by scenario key, so that none
            takes as long as all others.
        shown: for packet traces, the time span of the figures in seconds; each variant then has
            one run. `None` for statistics.
        marks: instants that the figures of packet traces mark.
        windows: are the senders' windows recorded? (They always are in packet traces.)
        judges: passive detectors; any of them adds the column `timeouts.truth`.
        digest: computes what is kept of the runs besides `connections`, if the other tables are
            too long to keep.
        endless: do its transfers last as long as the run? Then every run counts, otherwise only
            completed ones.
        ours: is it our extension, which the paper does not have?
        note: a remark for the reader, if any.
    """

    id: str
    title: str
    source: str
    checks: tuple[Check, ...]
    assumptions: tuple[Assumption, ...] = ()
    says: str = ""
    did: str = ""
    scenario: str = ""
    variants: tuple[Variant, ...] = ()
    metrics: tuple[Metric, ...] = ()
    published: Mapping[tuple[str, str], float] = field(default_factory=dict)
    derive: Callable[[ExperimentRuns], Sequence[Value]] | None = None
    tables: Callable[[ExperimentRuns], Sequence[Table]] | None = None
    figures: tuple[Curves, ...] = ()
    aliases: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    unstated: tuple[UnstatedAssumption, ...] = ()
    runs: int = 300
    quick_runs: int = 10
    quick_set: Mapping[str, str] = field(default_factory=dict)
    whole_set: Mapping[str, str] = field(default_factory=dict)
    shown: tuple[float, float] | None = None
    marks: tuple[Mark, ...] = ()
    windows: bool = False
    judges: tuple[str, ...] = ()
    digest: Callable[[Result], pl.DataFrame] | None = None
    endless: bool = False
    ours: bool = False
    note: str = ""

    @property
    def is_trace(self) -> bool:
        """Does it have one traced run per variant, rather than statistics of many?"""
        return self.shown is not None

    @property
    def paper(self) -> str:
        """The id of its paper."""
        return self.id.split("/")[0]

    @property
    def is_sweep(self) -> bool:
        """Are there too many variants for a table with a row each?"""
        points = any(variant.x is not None for variant in self.variants)
        return (points or self.tables is not None) and len(self.variants) > SWEEP

    def variant(self, key: str) -> Variant:
        """The variant of that key."""
        return next(variant for variant in self.variants if variant.key == key)
