"""What an experiment of a paper is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import polars as pl

from rtolab.stats import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtolab.experiments.measured import Measured

Kind = Literal["exact", "ratio", "order", "shape", "count"]
Verdict = Literal["pass", "fail", "undecidable"]


@dataclass(frozen=True)
class Assumption:
    """A value that an experiment rests on.

    Attributes:
        name: its key in the scenario.
        value: its value there.
        stated: does the paper state it?
        why: where it is stated, or why it was assumed.
    """

    name: str
    value: str
    stated: bool
    why: str


def stated(name: str, value: str, why: str) -> Assumption:
    """A value that the paper states."""
    return Assumption(name, value, stated=True, why=why)


def assumed(name: str, value: str, why: str) -> Assumption:
    """A value that the paper leaves open."""
    return Assumption(name, value, stated=False, why=why)


@dataclass(frozen=True)
class Variant:
    """A column of a table: a sender, and what is different where it ran.

    Attributes:
        sender: a sum of policies.
        label: what the paper calls it.
        condition: what sets it apart from the variant of the same sender that was published.
        set: that difference, by keys of the scenario.
    """

    sender: str
    label: str
    condition: str = ""
    set: Mapping[str, str] = field(default_factory=dict)

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
        of: the `connections` of some runs to one value each.
        digits: after the decimal point, when shown.
    """

    name: str
    label: str
    unit: str
    of: Callable[[pl.DataFrame], pl.Series]
    digits: int = 0


def column(name: str) -> Callable[[pl.DataFrame], pl.Series]:
    """A column of `connections` as it is."""
    return lambda frame: frame[name].cast(pl.Float64)


TIME = Metric("time", "Time", "s", column("elapsed_s"), digits=2)
LOST = Metric("lost", "Lost", "", column("lost"))
REXMITS = Metric("rexmits", "Rexmits", "", column("retransmissions"))
UNNEEDED = Metric("unneeded", "In vain", "", column("unneeded"))
TIMEOUTS = Metric("timeouts", "Timeouts", "", column("timeouts"))
FAST_RETRANSMITS = Metric("fast_retransmits", "Fast rx", "", column("fast_retransmits"))
FOUND_SPURIOUS = Metric("found_spurious", "Found spurious", "", column("found_spurious"))
THROUGHPUT = Metric(
    "throughput",
    "Throughput",
    "bit/s",
    lambda frame: 8.0 * frame["bytes"].cast(pl.Float64) / frame["elapsed_s"],
)


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
    """

    name: str
    kind: Kind
    measure: Callable[[Measured], float | Estimate | None]
    bounds: Mapping[int, Bounds]
    note: str = ""

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
        verdict: Verdict = "pass" if value is not None and bounds.hold(value) else "fail"
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
        return Judgement(name, self.kind, expected, value, interval, verdict)


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
    """

    name: str
    kind: Kind
    expected: str
    measured: float | None
    interval: tuple[float, float] | None
    verdict: Verdict

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
        id: `<paper>/<table or figure>`.
        title: what it shows.
        source: where it was published.
        scenario: the name of the shipped scenario.
        variants: the columns of the table, in the paper's order.
        metrics: what is measured of each run, in the paper's order.
        published: the paper's value by (key of a variant, name of a metric).
        checks: the judgements.
        assumptions: what it rests on; their values are set in the scenario.
        aliases: other ids of the same runs.
        shown: for packet traces, the span of time in seconds that the pictures show; such an
            experiment is one run a variant. `None` for statistics.
        endless: do its transfers last as long as the run? Then every run counts; else only
            those that completed.
        note: what a reader must know, if anything.
    """

    id: str
    title: str
    source: str
    scenario: str
    variants: tuple[Variant, ...]
    metrics: tuple[Metric, ...]
    published: Mapping[tuple[str, str], float]
    checks: tuple[Check, ...]
    assumptions: tuple[Assumption, ...]
    aliases: tuple[str, ...] = ()
    shown: tuple[float, float] | None = None
    endless: bool = False
    note: str = ""

    @property
    def is_trace(self) -> bool:
        """One traced run a variant, rather than the statistics of many?"""
        return self.shown is not None

    def variant(self, key: str) -> Variant:
        """The variant of that key."""
        return next(variant for variant in self.variants if variant.key == key)
