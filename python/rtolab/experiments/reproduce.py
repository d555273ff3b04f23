"""Running an experiment and putting what it says beside what was published."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rtolab.experiments.base import (
    Assumption,
    Experiment,
    Judgement,
    Metric,
    Value,
    Variant,
    Verdict,
)
from rtolab.experiments.measured import Measured, Runs
from rtolab.experiments.trace import Trace
from rtolab.run import run
from rtolab.stats import Summary, band_of_medians, summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
BAND_OF = 30
"""The published medians are of 30 repetitions: so are those of the band."""

OVERRIDDEN = "given with --assume"


@dataclass(frozen=True)
class Row:
    """A variant's metric: what was published, what was measured, and how far 30 runs scatter.

    Attributes:
        variant: which.
        metric: which.
        published: the paper's value, if it printed one.
        measured: of the completed runs; `None` if none completed.
        band: the central 90 % of the medians of 30 runs drawn from ours; `None` for a trace.
    """

    variant: Variant
    metric: Metric
    published: float | None
    measured: Summary | None
    band: tuple[float, float] | None


@dataclass(frozen=True)
class Reproduction:
    """An experiment that was run.

    Attributes:
        experiment: which.
        runs: how many for each variant.
        seed: the first.
        assumptions: what it rested on, overrides included.
        rows: by variant, then metric.
        checks: the judgements.
        of: the runs of each variant, by its key.
        derived: what was worked out, in order.
        wall_s: how long it took, in s.
    """

    experiment: Experiment
    runs: int
    seed: int
    assumptions: tuple[Assumption, ...]
    rows: tuple[Row, ...]
    checks: tuple[Judgement, ...]
    of: Mapping[str, Runs]
    derived: tuple[Value, ...]
    wall_s: float

    @property
    def verdict(self) -> Verdict:
        """`fail` if one check fails; `undecidable` if so few runs decide no check but counts."""
        verdicts = {check.verdict for check in self.checks}
        statistical = {check.verdict for check in self.checks if check.kind != "count"}
        if "fail" in verdicts:
            return "fail"
        return "undecidable" if statistical == {"undecidable"} else "pass"

    def tally(self) -> str:
        """How many checks pass, in words."""
        of = len(self.checks)
        count = {v: sum(c.verdict == v for c in self.checks) for v in ("pass", "undecidable")}
        said = f"{count['pass']} of {of} checks pass"
        open_ = count["undecidable"]
        return f"{said}, {open_} cannot be decided by {self.runs} runs" if open_ else said

    def document(self) -> dict[str, Any]:
        """The experiment as one JSON document."""
        return {
            "experiment": self.experiment.id,
            "title": self.experiment.title,
            "source": self.experiment.source,
            "runs": self.runs,
            "seed": self.seed,
            "rows": [
                {
                    "variant": row.variant.key,
                    "label": row.variant.title,
                    "metric": row.metric.name,
                    "published": row.published,
                    "measured": asdict(row.measured) if row.measured else None,
                }
                for row in self.rows
            ],
            "checks": [
                {
                    "name": check.name,
                    "kind": check.kind,
                    "expected": check.expected,
                    "measured": check.measured,
                    "verdict": check.verdict,
                    "why": check.why,
                }
                for check in self.checks
            ],
            "derived": [asdict(value) for value in self.derived],
            "assumptions": [asdict(assumption) for assumption in self.assumptions],
            "verdict": self.verdict,
            "wall_s": round(self.wall_s, 3),
        }


def reproduce(
    experiment: Experiment,
    *,
    runs: int,
    seed: int,
    jobs: int | None = None,
    assume: Mapping[str, str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Reproduction:
    """Run an experiment and judge it.

    Args:
        experiment: which.
        runs: how many for each variant; a packet trace is always one.
        seed: the first.
        jobs: how many threads.
        assume: values that replace those assumed, by key of the scenario.
        progress: called with the runs done and the runs there are, now and then.

    Raises:
        Error: the scenario rejects a value of `assume`.
    """
    began = time.perf_counter()
    runs = 1 if experiment.is_trace else runs
    assumptions = assumed(experiment.assumptions, assume or {})
    of: dict[str, Runs] = {}
    groups = _groups(experiment.variants)
    for number, group in enumerate(groups):
        result = run(
            group[0].scenario or experiment.scenario,
            sender=[variant.sender for variant in group],
            seed=seed,
            runs=runs,
            set={a.name: a.value for a in assumptions if a.is_key} | dict(group[0].set),
            trace=experiment.is_trace,
            windows=experiment.is_trace or experiment.windows,
            judge=experiment.judges,
            jobs=jobs,
            progress=_shifted(progress, number, len(groups)),
        )
        for place, variant in enumerate(group):
            of[variant.key] = Runs(result, place * runs, runs, endless=experiment.endless)

    traces = (
        {key: Trace.of(mine.result, mine.first) for key, mine in of.items()}
        if experiment.is_trace
        else {}
    )
    measured = Measured(experiment, runs, of, traces)
    rows = tuple(_rows(measured))
    checks = tuple(check.judge(measured) for check in experiment.checks)
    derived = tuple(measured.derived.values())
    wall_s = time.perf_counter() - began
    return Reproduction(experiment, runs, seed, assumptions, rows, checks, of, derived, wall_s)


def assumed(
    assumptions: tuple[Assumption, ...], assume: Mapping[str, str]
) -> tuple[Assumption, ...]:
    """The assumptions with other values in place of some; those not yet listed come last."""
    known = {assumption.name for assumption in assumptions}
    changed = [
        replace(a, value=assume[a.name], stated=False, why=f"{OVERRIDDEN}; else {a.value}: {a.why}")
        if a.name in assume
        else a
        for a in assumptions
    ]
    added = [
        Assumption(name, value, stated=False, why=OVERRIDDEN)
        for name, value in assume.items()
        if name not in known
    ]
    return (*changed, *added)


def _groups(variants: tuple[Variant, ...]) -> list[list[Variant]]:
    """Variants that differ in their sender only: the simulator runs them together."""
    groups: dict[tuple[str, str], list[Variant]] = {}
    for variant in variants:
        groups.setdefault((variant.scenario, variant.condition), []).append(variant)
    return list(groups.values())


def _shifted(
    progress: Callable[[int, int], object] | None, number: int, of: int
) -> Callable[[int, int], object] | None:
    """Progress within one of several calls of equal weight."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, of * total)


def _rows(measured: Measured) -> list[Row]:
    experiment = measured.experiment
    rows = []
    for variant in experiment.variants:
        for metric in experiment.metrics:
            values = measured.values(variant.key, metric)
            published = experiment.published.get((variant.key, metric.name))
            scatter = published is not None and not experiment.is_trace and values.size
            band = band_of_medians(values, BAND_OF) if scatter else None
            rows.append(Row(variant, metric, published, summarise(values), band))
    return rows
