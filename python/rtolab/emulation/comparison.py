"""The engine beside a real kernel: the same links, the same seeds."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import polars as pl

from rtolab._rtolab import Error
from rtolab.emulation import Emulated, Variant, emulate
from rtolab.result import Result
from rtolab.run import run

Progress = Callable[[int, int], object]

SENDER = "linux"
"""The engine's sender that is to be what a kernel is."""

RECEIVER = {"receiver.profile": "linux", "receiver.quick_acks": 900}
"""Its receiver, but for what the scenario itself says of it.

A kernel acknowledges every segment while the window opens that it could offer (`tcp_grow_window`),
and emulated hosts have 4 MB to receive in: two segments more with each, that takes some 900.
"""

TIME_SHARE = 0.05
"""By how much the engine may take longer or shorter than the kernel, in the median."""
COUNT_SHARE = 0.1
COUNT_LEAST = 2
"""By how many the counts of a transfer may differ, in the median: by these or by that share."""


@dataclass(frozen=True)
class Transfer:
    """What one run came to, all its connections together.

    Attributes:
        time_s: from the first SYN to the last connection's end; `None` if one did not end.
        retransmissions: of all kinds.
        unneeded: those of them that were unneeded.
        timeouts: expiries of the timer.
        fast_retransmits: entries into recovery.
        undone: timeouts and fast retransmits that the sender took back.
    """

    time_s: float | None
    retransmissions: int
    unneeded: int
    timeouts: int
    fast_retransmits: int
    undone: int


@dataclass(frozen=True)
class Pair:
    """One seed, twice."""

    seed: int
    engine: Transfer
    kernel: Transfer


@dataclass(frozen=True)
class Agreement:
    """Whether the medians of a number agree.

    Attributes:
        name: of the number.
        engine: its median over the engine's runs.
        kernel: over the kernel's.
        allowed: by how much they may differ.
        agrees: do they?
        spread: the least and the largest of the kernel's runs, where these differ from each other
            by more than is allowed although nothing about the link is random.
    """

    name: str
    engine: float | None
    kernel: float | None
    allowed: float
    agrees: bool
    spread: tuple[float, float] | None = None


@dataclass(frozen=True)
class Comparison:
    """A scenario on the engine and on a kernel.

    Attributes:
        scenario: as it was named.
        sender: the engine's.
        pairs: by seed.
        checks: of the medians.
        engine: the tables of the engine's runs.
        kernel: the tables of the kernel's.
    """

    scenario: str
    sender: str
    pairs: list[Pair]
    checks: list[Agreement]
    engine: Result
    kernel: Emulated

    @property
    def verdict(self) -> str:
        """Do they agree?

        `undecidable` where the machine was too slow for the links; `divided` where the medians
        differ, but nothing about the link is random and in some of its runs the kernel does as the
        engine: then it differs from itself.
        """
        return "undecidable" if any(self.kernel.doubts) else _verdict(self.pairs, self.checks)

    def document(self) -> dict[str, object]:
        """All of it, for machines."""
        return {
            "scenario": self.scenario,
            "sender": self.sender,
            "pairs": [asdict(pair) for pair in self.pairs],
            "checks": [asdict(check) for check in self.checks],
            "verdict": self.verdict,
            "doubts": sorted({doubt for doubts in self.kernel.doubts for doubt in doubts}),
        }


def compare(
    scenario: str | Path,
    *,
    sender: str = SENDER,
    seed: int = 1,
    runs: int = 10,
    set: Mapping[str, object] | None = None,
    parallel: int = 10,
    progress: Progress | None = None,
) -> Comparison:
    """Run a scenario on the engine and on this machine's kernel, paired by seed.

    Args:
        scenario: the path of a scenario, or the name of a shipped one.
        sender: the engine's, a sum of policies.
        seed: the first seed.
        runs: how many.
        set: values that replace the scenario's, by dotted key, for both.
        parallel: how many runs on kernels at a time.
        progress: told how many of the runs on kernels are done.

    Raises:
        EmulationError: something is missing, or a kernel is not as the scenario wants it.
        Error: the scenario, the sender, a key or a value is wrong.
    """
    engine = run(
        scenario,
        sender=sender,
        seed=seed,
        runs=runs,
        set={**RECEIVER, **(set or {})},
        trace=True,
        windows=True,
    )
    kernel = emulate(
        scenario,
        variants=[Variant()],
        seed=seed,
        runs=runs,
        set=set,
        parallel=parallel,
        progress=progress,
    )
    both = [_transfers(result) for result in (engine, kernel)]
    pairs = [Pair(seed + number, *one) for number, one in enumerate(zip(*both, strict=True))]
    return Comparison(str(scenario), sender, pairs, _checks(pairs), engine, kernel)


def _transfers(result: Result) -> list[Transfer]:
    """What each run came to, in their order."""
    undone = result.timeouts.filter(pl.col("verdict") == "spurious").group_by("run").len("undone")
    counts = ("retransmissions", "unneeded", "timeouts", "fast_retransmits")
    every = result.connections.group_by("run", maintain_order=True).agg(
        (pl.col("end_s").max() - pl.col("start_s").min()).alias("time_s"),
        pl.col("completed").all(),
        *(pl.col(name).sum() for name in counts),
    )
    rows = every.join(undone, on="run", how="left").sort("run").iter_rows(named=True)
    found = [
        Transfer(
            time_s=row["time_s"] if row["completed"] else None,
            undone=row["undone"] or 0,
            **{name: row[name] for name in counts},
        )
        for row in rows
    ]
    if len(found) != result.runs:
        raise Error("nothing was sent in some of the runs: there is nothing to compare")
    return found


def _verdict(pairs: list[Pair], checks: list[Agreement]) -> str:
    if all(check.agrees for check in checks):
        return "agree"
    return "divided" if _is_certain(pairs) and any(map(_is_alike, pairs)) else "differ"


def _is_alike(pair: Pair) -> bool:
    return all(check.agrees for check in _checks([pair]))


def _is_certain(pairs: list[Pair]) -> bool:
    """Are the engine's runs all the same? Then nothing about the link is random."""
    return len({pair.engine for pair in pairs}) == 1


def _checks(pairs: list[Pair]) -> list[Agreement]:
    names = ("time_s", "retransmissions", "unneeded", "timeouts", "fast_retransmits", "undone")
    return [_check(name, pairs) for name in names]


def _check(name: str, pairs: list[Pair]) -> Agreement:
    engine, kernel = (
        [getattr(one, name) for one in side]
        for side in ([pair.engine for pair in pairs], [pair.kernel for pair in pairs])
    )
    if None in engine or None in kernel:
        ended = [one is None for one in engine] == [one is None for one in kernel]
        return Agreement(name, None, None, 0.0, ended)
    ours, theirs = float(median(engine)), float(median(kernel))
    share, least = (TIME_SHARE, 0.0) if name == "time_s" else (COUNT_SHARE, float(COUNT_LEAST))
    allowed = max(share * theirs, least)
    spread = (float(min(kernel)), float(max(kernel)))
    wide = _is_certain(pairs) and spread[1] - spread[0] > allowed
    agrees = abs(ours - theirs) <= allowed
    return Agreement(name, ours, theirs, allowed, agrees, spread if wide else None)
