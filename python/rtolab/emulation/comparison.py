"""Comparison of the engine with a real kernel on the same links and seeds."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import polars as pl

from rtolab._rtolab import Error
from rtolab.emulation import EmulationResult, Variant, emulate
from rtolab.kernel import Kernel
from rtolab.result import Result
from rtolab.run import run

Progress = Callable[[int, int], object]

SENDER = "linux"
"""The engine's model of a current kernel."""

RECEIVER = {"receiver.profile": "linux", "receiver.memory": "4194304 B"}
"""Its receiver, unless the scenario sets these keys.

A kernel acknowledges every segment while the window that it could advertise grows
(`tcp_grow_window`). Emulated hosts have receive buffers of 4 MB (`tcp_rmem`).
"""

WHEELS = (250, 1000)
"""The timer interrupts a second of which the engine knows Linux's timer wheel."""

TIME_SHARE = 0.05
"""The largest difference between the median times, relative to the kernel's."""
COUNT_SHARE = 0.1
COUNT_LEAST = 2
"""The difference between median counts that is always allowed; else `COUNT_SHARE` applies."""


@dataclass(frozen=True)
class Transfer:
    """The outcome of one run, all its connections together.

    Attributes:
        time_s: from the first SYN to the last connection's end; `None` if one did not end.
        retransmissions: of all kinds.
        unneeded: those of them that were unneeded.
        timeouts: expiries of the timer.
        fast_retransmits: entries into recovery.
        undone: timeouts and fast retransmits that the sender undid.
    """

    time_s: float | None
    retransmissions: int
    unneeded: int
    timeouts: int
    fast_retransmits: int
    undone: int


@dataclass(frozen=True)
class Pair:
    """One seed on the engine and on the kernel."""

    seed: int
    engine: Transfer
    kernel: Transfer


@dataclass(frozen=True)
class Agreement:
    """Whether the medians of a number agree.

    Attributes:
        name: the name of the number.
        engine: its median over the engine's runs.
        kernel: its median over the kernel's runs.
        allowed: the largest difference.
        agrees: is the difference small enough?
        spread: the smallest and the largest of the kernel's runs, if these differ from each other
            by more than is allowed although the link is not random.
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
        scenario: its path or name.
        sender: the engine's sender specification.
        pairs: one per seed.
        checks: the agreement of each number.
        engine: the tables of the engine's runs.
        kernel: the tables of the kernel's.
    """

    scenario: str
    sender: str
    pairs: list[Pair]
    checks: list[Agreement]
    engine: Result
    kernel: EmulationResult

    @property
    def verdict(self) -> str:
        """Do they agree?

        `undecidable` if the machine was too slow for the links. `divided` if the medians differ,
        but the link is not random and the kernel agrees with the engine in some of its runs: then
        the kernel's runs differ from each other.
        """
        return "undecidable" if any(self.kernel.doubts) else _verdict(self.pairs, self.checks)

    def document(self) -> dict[str, object]:
        """The JSON document."""
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
    kernel: Kernel | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run a scenario on the engine and on a kernel, paired by seed.

    Args:
        scenario: the path of a scenario, or the name of an included one.
        sender: the engine's sender specification.
        seed: the first seed.
        runs: the number of seeds.
        set: values that replace those of the scenario, by dotted key, for both.
        parallel: concurrent runs on kernels.
        kernel: a kernel on a virtual clock; without one this machine's in real time.
        progress: called with the finished runs on kernels.

    Raises:
        EmulationError: a prerequisite is missing, or a kernel rejects a setting.
        Error: the scenario, the sender, a key or a value is wrong.
    """
    engine = run(
        scenario,
        sender=sender,
        seed=seed,
        runs=runs,
        set={**RECEIVER, **wheel(kernel), **(set or {})},
        trace=True,
        windows=True,
    )
    emulated = emulate(
        scenario,
        variants=[Variant()],
        seed=seed,
        runs=runs,
        set=set,
        parallel=parallel,
        kernel=kernel,
        progress=progress,
    )
    both = [transfers(result) for result in (engine, emulated)]
    pairs = [Pair(seed + number, *one) for number, one in enumerate(zip(*both, strict=True))]
    return Comparison(str(scenario), sender, pairs, check_medians(pairs), engine, emulated)


def wheel(kernel: Kernel | None) -> dict[str, str]:
    """The timers of a guest, whose ticks begin with the run; those of this machine do not."""
    if kernel is None or kernel.hz not in WHEELS:
        return {}
    return {"tcp.rto.timer": f"wheel-{kernel.hz}"}


def transfers(result: Result) -> list[Transfer]:
    """The outcome of each run, in order."""
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
    return all(check.agrees for check in check_medians([pair]))


def _is_certain(pairs: list[Pair]) -> bool:
    """Are all runs of the engine equal? Then the link is not random."""
    return len({pair.engine for pair in pairs}) == 1


def check_medians(pairs: list[Pair]) -> list[Agreement]:
    """The agreement of each number over these pairs."""
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
