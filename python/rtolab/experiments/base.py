"""What an experiment of a paper is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from rtolab.result import Result
from rtolab.stats import Estimate

if TYPE_CHECKING:
    from rtolab.experiments.measured import Measured, Runs

Kind = Literal["exact", "ratio", "order", "shape", "count"]
Verdict = Literal["pass", "fail", "undecidable", "not reproducible"]
Overall = Verdict | Literal["nothing to judge"]
"""Of an experiment: background and schematic figures have nothing that could be judged."""

SWEEP = 12
"""From more variants than this on, a table is too long to be read."""


@dataclass(frozen=True)
class Assumption:
    """A value that an experiment rests on.

    Attributes:
        name: its key in the scenario, or what it is about.
        value: its value there.
        stated: does the paper state it?
        why: where it is stated, or why it was assumed.
        is_key: is the name a key, which is set to the value in every run?
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


def taken(about: str, value: str, why: str) -> Assumption:
    """A choice that is no key of the scenario: a reading, a workload, what is counted."""
    return Assumption(about, value, stated=False, why=why, is_key=False)


@dataclass(frozen=True)
class Alternative:
    """Another reasonable choice for what was assumed: do the verdicts survive it?

    Attributes:
        name: in words, such as "packets of 1000 B".
        set: the choice, by keys of the scenario.
        why: why one might choose so.
    """

    name: str
    set: Mapping[str, str]
    why: str = ""


@dataclass(frozen=True)
class Variant:
    """A column of a table or a point of a figure: a sender, and what is different where it ran.

    Attributes:
        sender: a sender specification.
        label: what the paper calls it.
        condition: what sets it apart from the variant of the same sender that was published.
        set: that difference, by keys of the scenario.
        scenario: the scenario it ran in, where that is not the experiment's.
        series: in figures, the line that it is a point of; by default its label.
        x: where on that line.
        judges: detectors that ride along on it, where they are not the experiment's.
    """

    sender: str
    label: str
    condition: str = ""
    set: Mapping[str, str] = field(default_factory=dict)
    scenario: str = ""
    series: str = ""
    x: float | None = None
    judges: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Names the variant within its experiment."""
        return f"{self.sender} @ {self.condition}" if self.condition else self.sender

    @property
    def title(self) -> str:
        """The label, with the condition if there is one."""
        return f"{self.label}, {self.condition}" if self.condition else self.label


@dataclass(frozen=True)
class Metric:
    """A number a run.

    Attributes:
        name: in documents.
        label: for people.
        unit: of the number, empty for counts.
        of: some runs to one value each, ordered by seed.
        digits: after the decimal point, when shown.
    """

    name: str
    label: str
    unit: str
    of: Callable[[Runs], pl.Series]
    digits: int = 0


def column(name: str) -> Callable[[Runs], pl.Series]:
    """A column of `connections` as it is, of runs of one connection."""
    return lambda runs: runs.connections[name].cast(pl.Float64)


def total(name: str) -> Callable[[Runs], pl.Series]:
    """A column of `connections` added up over the connections of each run."""
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
    """A number that is worked out, from runs or without any, to stand in a table.

    Attributes:
        name: in documents and for checks.
        label: for people.
        measured: the number, with its interval if it has one; `None` if there is none.
        published: the paper's, if it printed one.
        unit: of both, empty for ratios and counts.
        digits: after the decimal point, when shown.
    """

    name: str
    label: str
    measured: float | Estimate | None
    published: float | None = None
    unit: str = ""
    digits: int = 2


Cell = str | int | float | Estimate | None
"""Of a table: text, a count, or a share; there is none where nothing could be counted."""


@dataclass(frozen=True)
class Table:
    """A table as an experiment lays it out itself, where a row a variant would say little.

    Attributes:
        caption: what it shows.
        head: over its columns.
        rows: as many cells each; shares are shown in percent.
        digits: of percentages, after the decimal point.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 1

    def text(self, cell: Cell) -> str:
        """A cell for people."""
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
    """A figure as the paper drew it: something over something, a line a series.

    Attributes:
        name: of its files, without ending.
        caption: what it shows.
        x: the horizontal axis, with its unit.
        y: the vertical axis, with its unit.
        metric: what is drawn: its median over the runs of each variant that has an `x`, with the
            quartiles.
        points: what is drawn instead, where it is not a metric.
        only: which variants are drawn; all, unless given.
        published: points that the paper's text gives.
        log_x: is the horizontal axis logarithmic?
        log_y: is the vertical axis?
        in_place: are points drawn where they are, though some hide others?
        scale: what the metric is multiplied by.
    """

    name: str
    caption: str
    x: str
    y: str
    metric: Metric | None = None
    points: Callable[[Measured], Sequence[Point]] | None = None
    only: Callable[[Variant], bool] | None = None
    published: tuple[Point, ...] = ()
    log_x: bool = False
    log_y: bool = False
    in_place: bool = False
    scale: float = 1.0

    def shows(self, x: float, y: float) -> bool:
        """Is there a place for that point? Logarithmic axes have none for 0 and below."""
        return (x > 0 or not self.log_x) and (y > 0 or not self.log_y)


@dataclass(frozen=True)
class Mark:
    """What the paper's text points at in a time-sequence plot: when (s), and in a few words."""

    at: float
    text: str


@dataclass(frozen=True)
class Bounds:
    """What a value may be, ends included unless `strict`; `None` is no end."""

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
    """A judgement on what was measured.

    Attributes:
        name: what is claimed, in words.
        kind: what sort of claim it is.
        measure: the value that is judged; `None` when there is nothing to judge (which fails).
        bounds: what it may be, by the fewest runs that decide it. Medians of few runs scatter, so
            few runs have wider bounds, or none: then they cannot decide the claim.
        note: what a reader must know to read the verdict.
        because: why the claim cannot be reproduced as printed, where the paper contradicts itself
            or prints no condition under which it holds; such a check never fails.
        explained: what was tried where it fails, and what the likely cause is.
    """

    name: str
    kind: Kind
    measure: Callable[[Measured], float | Estimate | None]
    bounds: Mapping[int, Bounds]
    note: str = ""
    because: str = ""
    explained: str = ""

    def judge(self, measured: Measured) -> Judgement:
        """Measure and compare."""
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
        missed: Verdict = "not reproducible" if self.because else "fail"
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
        why = {"fail": self.explained, "not reproducible": self.because}.get(verdict, "")
        return Judgement(name, self.kind, expected, value, interval, verdict, why)


@dataclass(frozen=True)
class CountedCheck(Check):
    """A check of something that runs have more or less of, spikes say.

    Attributes:
        suffices: is there enough of it? Else it cannot be decided.
    """

    suffices: Callable[[Measured], bool] = bool

    def judge(self, measured: Measured) -> Judgement:
        """Measure and compare, where there is enough to compare."""
        judged = super().judge(measured)
        if self.suffices(measured):
            return judged
        expected = f"{judged.expected}; too little was run to decide"
        return replace(judged, expected=expected, verdict="undecidable", why="")


@dataclass(frozen=True)
class Judgement:
    """A check's outcome.

    Attributes:
        name: of the check.
        kind: of the check.
        expected: the bounds in words, with the number of runs they hold for.
        measured: the value that was judged; `None` where there was none.
        interval: its 95 % bootstrap interval, where it has one.
        verdict: `undecidable` when no bounds are known for so few runs.
        why: of a failure what is known of its cause, of what is not reproducible the reason.
    """

    name: str
    kind: Kind
    expected: str
    measured: float | None
    interval: tuple[float, float] | None
    verdict: Verdict
    why: str = ""

    def measured_text(self) -> str:
        """The value for people, with its interval."""
        if self.measured is None:
            return "nothing"
        text = f"{self.measured:.4g}"
        if self.interval is None:
            return text
        return f"{text} (95 %: {self.interval[0]:.3g} to {self.interval[1]:.3g})"


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper, as data.

    Attributes:
        id: `<paper>/<table, figure, section or claim>`.
        title: what it shows.
        source: where it was published.
        checks: the judgements.
        assumptions: what it rests on; the values of those that are keys are set in the scenario.
        says: what the paper says, in our words and its numbers.
        did: what we did.
        scenario: the name of the shipped scenario; none where nothing is simulated.
        variants: the columns of the table, in the paper's order.
        metrics: what is measured of each run, in the paper's order.
        published: the paper's value by (key of a variant, name of a metric).
        derive: numbers worked out from the runs, or from nothing but arithmetic.
        tables: that it lays out itself.
        figures: curves over what is varied; without any, and without traces, box plots are drawn.
        aliases: other ids of the same runs.
        alternatives: other choices for what was assumed.
        runs: how many for each variant, by default.
        quick_runs: how many with `--quick`.
        quick_set: keys of the scenario that are different with `--quick`.
        whole_set: keys that are different where all experiments are run, lest one take as long as
            all others.
        shown: for packet traces, the span of time in seconds that the pictures show; such an
            experiment is one run a variant. `None` for statistics.
        marks: what the pictures of packet traces point at.
        windows: are the senders' windows recorded? (They always are in packet traces.)
        judges: detectors that ride along and judge every timeout; any one gives `timeouts.truth`.
        digest: what is kept of its runs beside `connections`, where the other tables are too long
            to be kept.
        endless: do its transfers last as long as the run? Then every run counts; else only
            those that completed.
        ours: is it an extension of ours, which the paper does not have?
        note: what a reader must know, if anything.
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
    derive: Callable[[Measured], Sequence[Value]] | None = None
    tables: Callable[[Measured], Sequence[Table]] | None = None
    figures: tuple[Curves, ...] = ()
    aliases: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
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
        """One traced run a variant, rather than the statistics of many?"""
        return self.shown is not None

    @property
    def paper(self) -> str:
        """The id of its paper."""
        return self.id.split("/")[0]

    @property
    def is_sweep(self) -> bool:
        """Are the variants points of a figure, or cells of tables, too many for a row each?"""
        points = any(variant.x is not None for variant in self.variants)
        return (points or self.tables is not None) and len(self.variants) > SWEEP

    def variant(self, key: str) -> Variant:
        """The variant of that key."""
        return next(variant for variant in self.variants if variant.key == key)
