"""Runs of experiments, compared with published values."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

from rtolab.experiments.base import (
    Assumption,
    Experiment,
    Judgement,
    Metric,
    Overall,
    Standing,
    Table,
    Value,
    Variant,
)
from rtolab.experiments.measured import ExperimentRuns, Runs
from rtolab.experiments.sensitivity import AlternativeResult, runs_for, tried
from rtolab.experiments.sharing import Cell, SharedRuns, is_order_free
from rtolab.experiments.trace import Trace
from rtolab.process import processors
from rtolab.result import Result
from rtolab.run import run
from rtolab.stats import Summary, band_of_medians, summarise
from rtolab.text import counted

Progress = Callable[[int, int], object]

PAPERS: tuple[Standing, ...] = ("before", "after")
"""The standings of the paper's own checks."""

BAND_OF = 30
"""Repetitions per median of the band, as many as the published medians have."""

GROUPS_A_THREAD = 8
"""The fewest groups per thread that keep all threads busy until the end."""
AWAKE_S = 0.2
"""How often a wait for results checks for signals, in seconds."""

OVERRIDDEN = "given with --assume"
QUICK = "with --quick"
WHOLE = "among all experiments; named, it has its full size"


@dataclass(frozen=True)
class Row:
    """A metric of a variant: published and measured values, and the scatter of 30 runs.

    Attributes:
        variant: the variant.
        metric: the metric.
        published: the paper's value, if it prints one.
        measured: statistics of the completed runs; `None` if none completed.
        band: the central 90 % of the medians of 30 runs drawn from ours; `None` for a trace.
    """

    variant: Variant
    metric: Metric
    published: float | None
    measured: Summary | None
    band: tuple[float, float] | None


@dataclass(frozen=True)
class Reproduction:
    """The results of an experiment.

    Attributes:
        experiment: the experiment.
        runs: the runs of each variant.
        seed: the first seed.
        assumptions: the assumptions, overrides included.
        rows: by variant, then metric.
        checks: the outcomes of the checks.
        derived: the derived values, in order.
        tables: tables with a layout of their own.
        alternatives: the outcomes under alternatives; empty unless they were run.
        wall_s: the time that it took, in seconds, without runs that another experiment made.
        quick: was it run with `--quick`?
        measured: the runs themselves; `None` for stored results.
    """

    experiment: Experiment
    runs: int
    seed: int
    assumptions: tuple[Assumption, ...]
    rows: tuple[Row, ...]
    checks: tuple[Judgement, ...]
    derived: tuple[Value, ...]
    tables: tuple[Table, ...]
    alternatives: tuple[AlternativeResult, ...]
    wall_s: float
    quick: bool = False
    measured: ExperimentRuns | None = None

    @property
    def of(self) -> Mapping[str, Runs]:
        """The runs of each variant, by its key; empty for stored results."""
        return self.measured.of if self.measured else {}

    @cached_property
    def rows_of(self) -> Mapping[str, list[Row]]:
        """The rows of each variant, by its key."""
        rows: dict[str, list[Row]] = {variant.key: [] for variant in self.experiment.variants}
        for row in self.rows:
            rows[row.variant.key].append(row)
        return rows

    @property
    def verdict(self) -> Overall:
        """`fail` if one check fails; `undecidable` if the runs decide no check except counts.

        `pass` needs a check that passes: where all that remain are not reproducible, so is the
        experiment.
        """
        verdicts = {check.verdict for check in self.checks}
        statistical = {check.verdict for check in self.checks if check.kind != "count"}
        if not verdicts:
            return "nothing to judge"
        if "fail" in verdicts:
            return "fail"
        if statistical == {"undecidable"}:
            return "undecidable"
        hopeless = "not reproducible" in statistical and "pass" not in statistical
        return "not reproducible" if hopeless else "pass"

    def tally(self) -> str:
        """How many checks pass, in words."""
        if not self.checks:
            return "nothing to judge"
        verdicts = [check.verdict for check in self.checks]
        groups: tuple[tuple[tuple[Standing, ...], str], ...] = (
            (PAPERS, "of the paper's checks pass"),
            (("after",), "fitted"),
            (("ours",), "ours"),
            (("unstated",), "unstated"),
        )
        said = []
        for standings, name in groups:
            mine = [check.verdict for check in self.checks if check.standing in standings]
            said += [f"{mine.count('pass')} of {len(mine)} {name}"] if mine else []
        if not_so := verdicts.count("not reproducible"):
            said.append(f"{not_so} not reproducible as printed")
        if open_ := verdicts.count("undecidable"):
            said.append(f"{open_} cannot be decided by {counted(self.runs, 'run')}")
        return ", ".join(said)


def reproduce(  # noqa: PLR0913  (all but the first are keywords)
    experiment: Experiment,
    *,
    seed: int,
    runs: int | None = None,
    jobs: int | None = None,
    assume: Mapping[str, str] | None = None,
    quick: bool = False,
    whole: bool = False,
    sensitivity: bool = False,
    instead: Mapping[str, str] | None = None,
    check_only: bool = False,
    progress: Progress | None = None,
    shared: SharedRuns | None = None,
) -> Reproduction:
    """Run an experiment and judge it.

    Args:
        experiment: the experiment.
        seed: the first seed.
        runs: the runs of each variant, by default those of the experiment; always one for traces.
        jobs: the number of threads.
        assume: values that replace assumed ones, by scenario key.
        quick: are runs fewer and shorter, as with `--quick`?
        whole: is it run together with all other experiments?
        sensitivity: are its alternatives run, too?
        instead: values that replace assumptions and those of variants, by scenario key.
        check_only: are only checks wanted, without rows, derived values and tables?
        progress: called from time to time with the finished runs and all runs.
        shared: runs of other experiments, which need not be repeated; these runs are added.

    Raises:
        Error: the scenario rejects a value of `assume`.
    """
    began = time.perf_counter()
    runs = runs_of(experiment, runs, quick=quick)
    assumptions = experiment.assumptions
    if quick:
        assumptions = assumed(assumptions, experiment.quick_set, QUICK)
    elif whole:
        assumptions = assumed(assumptions, experiment.whole_set, WHOLE)
    assumptions = assumed(assumptions, assume or {}, OVERRIDDEN)
    alternatives = experiment.alternatives if sensitivity else ()
    fewer = runs_for(experiment, runs)
    counted = _TotalProgress(
        progress, len(experiment.variants) * (runs + len(alternatives) * fewer)
    )
    how = _RunParameters(
        experiment, {a.name: a.value for a in assumptions if a.is_key}, seed, jobs, counted, shared
    )

    measured = how.measure(runs, instead or {})
    checks = tuple(check.judge(measured) for check in experiment.checks)
    alone = replace(how, shared=None)
    others = [tried(other, checks, alone.measure(fewer, other.set), runs) for other in alternatives]
    return Reproduction(
        experiment,
        runs,
        seed,
        assumptions,
        () if check_only else tuple(_rows(measured)),
        checks,
        () if check_only else tuple(measured.derived.values()),
        tuple(experiment.tables(measured)) if experiment.tables and not check_only else (),
        tuple(others),
        time.perf_counter() - began,
        quick,
        measured,
    )


def runs_of(experiment: Experiment, runs: int | None, *, quick: bool) -> int:
    """The runs of each variant: `runs`, else the experiment's own number; one for traces."""
    if experiment.is_trace or not experiment.variants:
        return 1
    return runs or (experiment.quick_runs if quick else experiment.runs)


def assumed(
    assumptions: tuple[Assumption, ...], values: Mapping[str, str], reason: str
) -> tuple[Assumption, ...]:
    """The assumptions with some values replaced; new keys come last.

    Args:
        assumptions: of the experiment.
        values: the other values, by scenario key.
        reason: why they differ.
    """
    known = {assumption.name for assumption in assumptions if assumption.is_key}
    changed = [
        replace(a, value=values[a.name], stated=False, why=f"{reason}; else {a.value}: {a.why}")
        if a.is_key and a.name in values
        else a
        for a in assumptions
    ]
    added = [
        Assumption(name, value, stated=False, why=reason)
        for name, value in values.items()
        if name not in known
    ]
    return (*changed, *added)


class _TotalProgress:
    """Total progress of several calls, possibly concurrent, each of which counts its own runs."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._lock = Lock()
        self._is_stopped = False

    def stop(self) -> None:
        """End all calls in other threads, which no signal reaches, by an exception."""
        self._is_stopped = True

    def part(self) -> Progress:
        """Progress within one call."""
        before = 0

        def tell(done: int, _: int) -> None:
            nonlocal before
            if self._is_stopped:
                raise KeyboardInterrupt
            with self._lock:
                self._done += done - before
                before = done
                if self._progress is not None:
                    self._progress(self._done, self._total)

        return tell


@dataclass(frozen=True)
class _RunParameters:
    """The common parameters of an experiment's runs."""

    experiment: Experiment
    assumptions: Mapping[str, str]
    seed: int
    jobs: int | None
    counted: _TotalProgress
    shared: SharedRuns | None

    def measure(self, runs: int, instead: Mapping[str, str]) -> ExperimentRuns:
        """Run every variant, with `instead` overriding assumptions and variants."""
        experiment = self.experiment
        groups = _groups(experiment.variants)
        of: dict[str, Runs] = {}
        for group, found in zip(groups, self._results(groups, runs, instead), strict=True):
            of.update({variant.key: mine for variant, mine in zip(group, found, strict=True)})
        traces = {}
        if experiment.is_trace:
            traces = {key: Trace.of(mine.result, mine.first) for key, mine in of.items()}
        return ExperimentRuns(experiment, runs, of, traces)

    def _results(
        self, groups: list[list[Variant]], runs: int, instead: Mapping[str, str]
    ) -> list[list[Runs]]:
        """The runs of each group; many groups run on one thread each, few on all threads."""
        threads = self.jobs or processors()
        if len(groups) < GROUPS_A_THREAD * threads:
            return [self._result(group, runs, instead, self.jobs) for group in groups]
        pool = ThreadPoolExecutor(threads)
        try:
            futures = [pool.submit(self._result, group, runs, instead, 1) for group in groups]
            results = []
            for future in futures:
                # With Polars loaded, a wait without a timeout ignores Ctrl-C.
                while not future.done():
                    wait([future], timeout=AWAKE_S)
                results.append(future.result())
            return results
        except BaseException:
            self.counted.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _result(
        self, group: list[Variant], runs: int, instead: Mapping[str, str], jobs: int | None
    ) -> list[Runs]:
        """The runs of each variant of a group, as far as possible those of other experiments."""
        experiment, progress = self.experiment, self.counted.part()
        settings = {**self.assumptions, **group[0].set, **instead}
        cells = [self._cell(variant, settings) for variant in group]
        known = [self.shared.find(cell, runs) if self.shared else None for cell in cells]
        missing = [place for place, found in enumerate(known) if found is None]
        found, kept = dict(enumerate(known)), None
        if missing:
            result = self._run(
                [group[place] for place in missing], runs, settings, (jobs, progress)
            )
            for number, place in enumerate(missing):
                found[place] = (result, number * runs)
                if self.shared:
                    self.shared.add(cells[place], result, number * runs, runs)
        progress(runs * len(group), runs * len(group))
        if missing and experiment.digest:
            kept = experiment.digest(result)
            result.keep_only("connections")
        return [
            Runs(*here, runs, experiment.endless, kept, number=place * runs)
            for place, here in found.items()
            if here is not None
        ]

    def _cell(self, variant: Variant, settings: Mapping[str, str]) -> Cell | None:
        """What the runs of a variant depend on; `None` if they are not shared."""
        experiment = self.experiment
        if experiment.is_trace or experiment.windows or experiment.digest:
            return None
        if self.shared is None or not is_order_free(settings):
            return None
        return Cell(
            variant.scenario or experiment.scenario,
            variant.runs or variant.sender,
            frozenset(settings.items()),
            variant.judges or experiment.judges,
            self.seed,
        )

    def _run(
        self,
        group: list[Variant],
        runs: int,
        settings: Mapping[str, str],
        how: tuple[int | None, Progress],
    ) -> Result:
        experiment, (jobs, progress) = self.experiment, how
        return run(
            group[0].scenario or experiment.scenario,
            sender=[variant.runs or variant.sender for variant in group],
            seed=self.seed,
            runs=runs,
            set=settings,
            trace=experiment.is_trace,
            windows=experiment.is_trace or experiment.windows,
            judge=group[0].judges or experiment.judges,
            jobs=jobs,
            progress=progress,
        )


def _groups(variants: tuple[Variant, ...]) -> list[list[Variant]]:
    """Groups of variants that differ only in their sender, which the simulator runs together."""
    groups: dict[object, list[Variant]] = {}
    for variant in variants:
        alike = (
            *(variant.scenario, variant.condition, variant.judges),
            tuple(variant.set.items()),
        )
        groups.setdefault(alike, []).append(variant)
    return list(groups.values())


def _rows(measured: ExperimentRuns) -> list[Row]:
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
