"""Search for settings of unstated assumptions under which a failed check passes.

What it finds is fitted: it says what would explain a published number, and is no evidence for it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

from rtolab._rtolab import Error
from rtolab.experiments.base import Experiment, Unstated
from rtolab.experiments.reproduce import Progress, Reproduction, reproduce, runs_of

REPEATS = 3
"""The number of other series of seeds on which each setting found is repeated."""

Choice = Mapping[str, str]
"""A value for each varied assumption, by the assumption's name."""


@dataclass(frozen=True)
class Found:
    """A setting under which a failed check passes.

    Attributes:
        choice: the values, by the names of the assumptions.
        passes: the names of the checks that fail otherwise.
        breaks: the names of the checks that pass otherwise and fail here.
        seeds: of `REPEATS` other series of seeds, on how many all of `passes` pass; `None` for
            traces, which are the same for every seed.
        neighbours: of the settings that differ in one value, how many make them pass; and of how
            many.
    """

    choice: Choice
    passes: tuple[str, ...]
    breaks: tuple[str, ...]
    seeds: int | None
    neighbours: tuple[int, int]


@dataclass(frozen=True)
class Search:
    """The outcome of a search.

    Attributes:
        experiment: the experiment.
        failing: the names of the checks that fail without any change.
        tried: the number of settings, alone and in pairs.
        found: the settings that produce a failed check, those that break least first.
    """

    experiment: Experiment
    failing: tuple[str, ...]
    tried: int
    found: tuple[Found, ...]


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

    def run(choice: Choice, first: int) -> Reproduction:
        change: dict[str, str] = {}
        for name, value in choice.items():
            change |= known[name].values[value]
        return reproduce(
            experiment,
            seed=first,
            runs=runs,
            jobs=jobs,
            assume=assume,
            instead=change,
            check_only=True,
        )

    before = _passing(run({}, seed))
    failing = tuple(name for name, passes in before.items() if not passes)
    if not failing:
        raise Error(f"{experiment.id}: every check passes or cannot be reproduced as printed")
    choices = list(_choices(experiment.unstated))
    outcomes: dict[frozenset[tuple[str, str]], dict[str, bool]] = {}
    for number, choice in enumerate(choices, 1):
        outcomes[frozenset(choice.items())] = _passing(run(choice, seed))
        if progress:
            progress(number, len(choices))
    count = runs_of(experiment, runs, quick=False)
    found = []
    for choice in choices:
        after = outcomes[frozenset(choice.items())]
        passes = tuple(name for name in failing if after[name])
        if not passes:
            continue
        near = [outcomes[key] for key in _neighbours(choice, known) if key in outcomes]
        repeats = None
        if not experiment.is_trace:
            others = (run(choice, seed + count * (n + 1)) for n in range(REPEATS))
            repeats = sum(all(_passing(other)[name] for name in passes) for other in others)
        breaks = tuple(name for name, passed in before.items() if passed and not after[name])
        same = sum(all(other[name] for name in passes) for other in near)
        found.append(Found(choice, passes, breaks, repeats, (same, len(near))))
    found.sort(key=lambda one: (len(one.breaks) - len(one.passes), len(one.choice)))
    return Search(experiment, failing, len(choices), tuple(found))


def _passing(done: Reproduction) -> dict[str, bool]:
    """Which checks do not fail, by name."""
    return {check.name: check.verdict != "fail" for check in done.checks}


def _choices(unstated: tuple[Unstated, ...]) -> Iterator[Choice]:
    """Every value alone, then every pair of values of two assumptions."""
    for one in unstated:
        yield from ({one.name: value} for value in one.values)
    for one, other in combinations(unstated, 2):
        for value, another in product(one.values, other.values):
            yield {one.name: value, other.name: another}


def _neighbours(
    choice: Choice, known: Mapping[str, Unstated]
) -> Iterator[frozenset[tuple[str, str]]]:
    """The settings that differ from this one in one value of one of its assumptions."""
    for name, value in choice.items():
        for other in known[name].values:
            if other != value:
                yield frozenset({**choice, name: other}.items())
