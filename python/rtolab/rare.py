"""The chance of rare events, by importance splitting.

>>> from rtolab import rare
>>> rare.estimate("frto2002-loss", "backoff", 6, sender="sack").chance
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from pathlib import Path

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.run import Progress, as_toml, check_numbers, find_scenario
from rtolab.stats import Estimate, mean_of_few

SHARE = 0.95
"""The confidence of an interval."""
MOST_LEVELS = 1000
MOST_RUNS_AT_A_LEVEL = 1_000_000
FEWEST_REPEATS, MOST_REPEATS = 5, 10_000


@dataclass(frozen=True)
class Level:
    """One value of the quantity on the way to the event.

    Attributes:
        value: the value.
        runs: the number of runs that began at the value before it, in all repetitions.
        reached: the number of these runs that reached it.
        chance: the estimated chance that a run reaches it, 0 to 1.
    """

    value: int
    runs: int
    reached: int
    chance: float


@dataclass(frozen=True)
class RareChance:
    """The chance of a rare event.

    Attributes:
        quantity: the quantity whose value is rare.
        at_least: the value that it has to reach.
        chance: the estimated chance that a run reaches it, 0 to 1.
        low: the lower end of the 95 % confidence interval; None if no repetition reached the event.
        high: the upper end; None likewise.
        repeats: the number of independent estimates, of which `chance` is the mean.
        successful: the number of these that reached the event.
        levels: the values on the way to the event.
    """

    quantity: str
    at_least: int
    chance: float
    low: float | None
    high: float | None
    repeats: int
    successful: int
    levels: tuple[Level, ...]


def quantities() -> dict[str, int]:
    """The quantities whose values may be rare, each with its least value."""
    return dict(_rtolab.rare_quantities())


def estimate(  # noqa: PLR0913  (all but the first are keywords with defaults)
    scenario: str | Path,
    quantity: str,
    at_least: int,
    *,
    sender: str | None = None,
    set: Mapping[str, object] | None = None,
    runs: int = 1000,
    repeats: int = 20,
    seed: int = 1,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> RareChance:
    """Estimate the chance that a quantity reaches a value in a run of a scenario.

    The quantity rises in steps. At each step the runs that reached it are forked, and the forks
    continue with new random numbers (fixed-effort splitting: Garvels, 2000). The same arguments
    give the same estimate, on any machine and with any `jobs`.

    Args:
        scenario: the path of a scenario, or the name of an included one.
        quantity: `backoff`, `timeouts` or `spurious_timeouts`, as in the tables of `run`; that of a
            run is the largest of its flows' senders. Back-offs count since the last round-trip
            sample, which each ACK of new data gives only with timestamps.
        at_least: the value that it has to reach.
        sender: a sender specification; by default the scenario's own.
        set: values that replace the scenario's, by dotted key.
        runs: the number of runs at each level.
        repeats: the number of independent estimates, from which the interval follows.
        seed: of all random numbers.
        jobs: the number of threads; by default one per processor.
        progress: called from time to time with the number of finished estimates and of all.

    Raises:
        Error: the scenario, the sender, a key or a number is invalid.
        OSError: the scenario cannot be read.
    """
    first = _first(quantity)
    _within("at_least", at_least, first, first + MOST_LEVELS - 1)
    _within("runs", runs, 1, MOST_RUNS_AT_A_LEVEL)
    _within("repeats", repeats, FEWEST_REPEATS, MOST_REPEATS)
    check_numbers(seed, 1, jobs)
    counts = _rtolab.rare(
        find_scenario(scenario),
        set=[(key, as_toml(value)) for key, value in (set or {}).items()],
        sender=sender,
        quantity=quantity,
        at_least=at_least,
        runs=runs,
        repeats=repeats,
        seed=seed,
        jobs=jobs or 0,
        progress=progress,
    )
    values = range(first, at_least + 1)
    chances = [_chances(one, runs, len(values)) for one in counts]
    ends = [one[-1] for one in chances]
    successful = sum(end > 0.0 for end in ends)
    found = mean_of_few(ends, share=SHARE)
    levels = []
    for number, value in enumerate(values):
        began = [one for one in counts if len(one) > number]
        mean = sum(one[number] for one in chances) / repeats
        reached = sum(one[number] for one in began)
        levels.append(Level(value, runs * len(began), reached, mean))
    low, high = _interval(found) if successful else (None, None)
    return RareChance(
        quantity, at_least, found.value, low, high, repeats, successful, tuple(levels)
    )


def _interval(found: Estimate) -> tuple[float, float]:
    return max(0.0, found.low), min(1.0, found.high)


def _chances(counts: Sequence[int], runs: int, levels: int) -> list[float]:
    """The estimated chance of each level: 0 after one that no run reached."""
    shares = [count / runs for count in counts] + [0.0] * (levels - len(counts))
    return list(accumulate(shares, mul))


def _first(quantity: str) -> int:
    known = quantities()
    if quantity not in known:
        expected = _rtolab.suggest(quantity, [*known])
        raise Error(f"quantity: found `{quantity}`; expected {expected}")
    return known[quantity]


def _within(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise Error(f"{name}: found {value}; expected {least} to {most}")
