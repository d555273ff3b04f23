"""Search for settings of unstated assumptions under which a failed check passes.

Its results are fitted: they may explain a published number, but are no evidence for it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TypeVar

from rtolab._rtolab import Error
from rtolab.experiments.base import Experiment, Judgement, UnstatedAssumption, Variant
from rtolab.experiments.measured import ExperimentRuns
from rtolab.experiments.reproduce import Progress, Reproduction, reproduce, runs_of

T = TypeVar("T")

REPEATS = 3
"""The number of other series of seeds on which each setting found is repeated."""

Choice = Mapping[str, str]
"""A value for each varied assumption, by the assumption's name."""

Key = frozenset[tuple[str, str]]
"""The items of a choice."""


@dataclass(frozen=True)
class PassingSetting:
    """A setting under which a failed check passes.

    Attributes:
        choice: the values, by the names of the assumptions.
        passes: the names of the checks that fail otherwise.
        breaks: the names of the checks that pass otherwise and fail here.
        seeds: the number of the `REPEATS` other series of seeds on which all of `passes` pass;
            `None` for traces, which are the same for every seed.
        neighbours: the number of settings that differ in one value and make them pass, and the
            number of all settings that differ in one value.
        with_another: the number of pairs that add a value of another assumption and make them pass,
            and the number of all such pairs; there are none if the setting itself is a pair.
    """

    choice: Choice
    passes: tuple[str, ...]
    breaks: tuple[str, ...]
    seeds: int | None
    neighbours: tuple[int, int]
    with_another: tuple[int, int]


@dataclass(frozen=True)
class Search:
    """The outcome of a search.

    Attributes:
        experiment: the experiment.
        failing: the names of the checks that fail without any change.
        tried: the number of settings, alone and in pairs.
        found: the settings that produce a failed check, those that break least first; without
            pairs that produce no more than one of their values alone.
    """

    experiment: Experiment
    failing: tuple[str, ...]
    tried: int
    found: tuple[PassingSetting, ...]


def search(
    experiment: Experiment,
    *,
    seed: int,
    runs: int | None = None,
    jobs: int | None = None,
    assume: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Search:
    """Vary the unstated assumptions of an experiment one at a time and in pairs.

    Args:
        experiment: the experiment.
        seed: the first seed.
        runs: the runs of each variant, by default those of the experiment.
        jobs: the number of threads.
        assume: values that replace assumed ones before anything is varied, by scenario key.
        progress: called with the finished settings and all settings.

    Raises:
        Error: the experiment declares nothing to vary, or no check of it fails.
    """
    if not experiment.unstated:
        raise Error(f"{experiment.id}: declares no assumptions to vary")
    known = {unstated.name: unstated for unstated in experiment.unstated}

    def run(choice: Choice, first: int, of: Experiment) -> Reproduction:
        return reproduce(
            changed(of, choice),
            seed=first,
            runs=runs,
            jobs=jobs,
            assume=assume,
            check_only=True,
        )

    first = run({}, seed, experiment)
    before = _passing(first)
    failing = tuple(name for name, passes in before.items() if not passes)
    if not failing:
        raise Error(f"{experiment.id}: every check passes or cannot be reproduced as printed")
    suspects = _narrowed(first, [check for check in first.checks if check.name in failing])
    checked = _narrowed(first, first.checks)
    choices = list(_choices(experiment.unstated))
    passes: dict[Key, frozenset[str]] = {}
    for number, choice in enumerate(choices, 1):
        passes[frozenset(choice.items())] = _passed(run(choice, seed, suspects))
        if progress:
            progress(number, len(choices))
    count = runs_of(experiment, runs, quick=False)
    found = []
    for choice in choices:
        mine = passes[frozenset(choice.items())]
        alone = [passes[frozenset([item])] for item in choice.items() if len(choice) > 1]
        if not mine or any(mine <= one for one in alone):
            continue
        after = _passing(run(choice, seed, checked))
        repeats = None
        if not experiment.is_trace:
            others = (run(choice, seed + count * (n + 1), suspects) for n in range(REPEATS))
            repeats = sum(mine <= _passed(other) for other in others)

        def alike(keys: Iterable[Key], mine: frozenset[str] = mine) -> tuple[int, int]:
            known_of = [passes[key] for key in keys if key in passes]
            return sum(mine <= other for other in known_of), len(known_of)

        found.append(
            PassingSetting(
                choice,
                tuple(name for name in failing if name in mine),
                tuple(name for name, passed in before.items() if passed and not after[name]),
                repeats,
                alike(_neighbours(choice, known)),
                alike(key for key in passes if len(key) > len(choice) and choice.items() <= key),
            )
        )
    found.sort(key=lambda one: (len(one.breaks) - len(one.passes), len(one.choice)))
    return Search(experiment, failing, len(choices), tuple(found))


def changed(experiment: Experiment, choice: Choice) -> Experiment:
    """The experiment with these values, which replace those of its assumptions and variants."""
    known = {unstated.name: unstated for unstated in experiment.unstated}

    def change(variant: Variant) -> Variant:
        system = variant.composed
        values = {**(system.set if system else {}), **variant.set}
        for name, value in choice.items():
            if known[name].of in ("", variant.sender):
                values |= known[name].values[value]
        return replace(variant, runs=system.policies if system else "", set=values)

    return replace(experiment, variants=tuple(change(one) for one in experiment.variants))


class _RecordingMapping(Mapping[str, T]):
    """A mapping that remembers which keys were asked for."""

    def __init__(self, of: Mapping[str, T]) -> None:
        self._of = of
        self.asked: set[str] = set()

    def __getitem__(self, key: str) -> T:
        self.asked.add(key)
        return self._of[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)


def _narrowed(done: Reproduction, judged: Sequence[Judgement]) -> Experiment:
    """The experiment with these checks alone, and the variants whose runs they look at."""
    experiment, measured = done.experiment, done.measured
    names = {judgement.name for judgement in judged}
    pairs = zip(experiment.checks, done.checks, strict=True)
    checks = tuple(check for check, judgement in pairs if judgement.name in names)
    if measured is None:
        return replace(experiment, checks=checks)
    of, traces = _RecordingMapping(measured.of), _RecordingMapping(measured.traces)
    for check in checks:
        check.judge(ExperimentRuns(experiment, measured.runs, of, traces))
    asked = of.asked | traces.asked
    variants = tuple(variant for variant in experiment.variants if variant.key in asked)
    return replace(experiment, checks=checks, variants=variants)


def _passing(done: Reproduction) -> dict[str, bool]:
    """Which checks do not fail, by name."""
    return {check.name: check.verdict != "fail" for check in done.checks}


def _passed(done: Reproduction) -> frozenset[str]:
    """The names of the checks that do not fail."""
    return frozenset(name for name, passes in _passing(done).items() if passes)


def _choices(unstated: tuple[UnstatedAssumption, ...]) -> Iterator[Choice]:
    """Every value alone, then every pair of values of two assumptions."""
    for one in unstated:
        yield from ({one.name: value} for value in one.values)
    for one, other in combinations(unstated, 2):
        for value, another in product(one.values, other.values):
            yield {one.name: value, other.name: another}


def _neighbours(choice: Choice, known: Mapping[str, UnstatedAssumption]) -> Iterator[Key]:
    """The settings that differ from this one in one value of one of its assumptions."""
    for name, value in choice.items():
        for other in known[name].values:
            if other != value:
                yield frozenset({**choice, name: other}.items())
