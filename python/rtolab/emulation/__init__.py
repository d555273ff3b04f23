"""Scenarios on real kernels, and when such a run can be believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Outcome
from rtolab.result import Result
from rtolab.run import as_toml, check_numbers, find_scenario

if TYPE_CHECKING:
    from rtolab._rtolab import EmulationReport

    Progress = Callable[[int, int], object]
    """Told how many runs are done, of how many."""

TOLD = (
    *("TcpRetransSegs", "TcpExtTCPTimeouts", "TcpExtTCPSpuriousRTOs", "TcpExtTCPLossUndo"),
    *("TcpExtTCPFullUndo", "TcpExtTCPPartialUndo", "TcpExtTCPDSACKUndo", "TcpExtTCPLossProbes"),
    *("TcpExtTCPFastRetrans", "TcpExtTCPSlowStartRetrans", "TcpExtTCPDSACKRecv"),
)
"""Of a kernel's counters those that tell how it recovers from losses."""


@dataclass(frozen=True)
class Variant:
    """One way in which kernels are set.

    Attributes:
        name: what the tables call the sender.
        set: values that replace the scenario's, by dotted key.
    """

    name: str = "linux"
    set: Mapping[str, object] = field(default_factory=dict)


class Emulated(Result):
    """The tables of runs on real kernels, and what hosts, links and clock did in each run."""

    def __init__(self, scenario: str, outcome: Outcome, reports: Sequence[EmulationReport]) -> None:
        super().__init__(scenario, outcome, runs=len(reports), traced=True)
        self.reports = list(reports)

    def sender(self, run: int) -> str:
        """What the tables call the sender of a run; the kernel where it sent nothing by TCP."""
        known = self.connections.filter(pl.col("run") == run)["sender"]
        return str(known[0]) if known.len() else "linux"

    @property
    def doubts(self) -> list[list[str]]:
        """Of each run, why it cannot be believed; nothing for a good one."""
        return [doubts(report) for report in self.reports]


def emulate(
    scenario: str | Path,
    *,
    variants: Sequence[Variant] = (Variant(),),
    seed: int = 1,
    runs: int = 1,
    set: Mapping[str, object] | None = None,
    parallel: int = 1,
    progress: Progress | None = None,
) -> Emulated:
    """Run a scenario's flows in real time, with the kernels' own sockets.

    Each run has hosts of its own, so that many can go on at once. Needs Linux, root,
    `/dev/net/tun` and iproute2.

    Args:
        scenario: the path of a scenario, or the name of a shipped one.
        variants: ways to set the kernels, each of which runs on the same seeds.
        seed: the first seed; run i of a variant uses `seed + i`.
        runs: how many seeds, for each variant.
        set: values that replace the scenario's, by dotted key: {"kernel.frto": 0}.
        parallel: how many runs at a time.
        progress: called now and then with the runs done and the runs there are.

    Returns:
        The tables of all runs, variants before seeds.

    Raises:
        EmulationError: something is missing, or a kernel is not as the scenario wants it.
        Error: the scenario, a key or a value is wrong.
        OSError: the scenario cannot be read.
    """
    check_numbers(seed, runs, parallel, "parallel")
    common = set or {}
    named = [
        (one.name, [(key, as_toml(value)) for key, value in {**common, **one.set}.items()])
        for one in variants
    ]
    outcome, reports = _rtolab.emulate_flows(
        find_scenario(scenario),
        variants=named,
        seeds=range(seed, seed + runs),
        parallel=parallel,
        progress=progress,
    )
    return Emulated(str(scenario), outcome, reports)


def doubts(report: EmulationReport) -> list[str]:
    """What this machine, rather than the links, could have changed; nothing for a good run."""
    found = []
    late_s, allowed_s = report["lateness"]["p99_s"], report["lateness"]["allowed_s"]
    if late_s >= allowed_s:
        found.append(
            f"1 packet in 100 was {late_s * 1e3:.3g} ms late or more, and less than "
            f"{allowed_s * 1e3:.3g} ms is good: lateness could have changed the result"
        )
    waited_s = report["waited"]["p99_s"]
    if waited_s >= allowed_s:
        found.append(
            f"1 packet in 100 may have waited {waited_s * 1e3:.3g} ms in its host's device before "
            f"it was read, and less than {allowed_s * 1e3:.3g} ms is good: that could have changed "
            "the result"
        )
    if report["refused"]:
        found.append(
            f"the kernel did not take {report['refused']} packets that came out of a link: "
            "their loss could have changed the result"
        )
    return found


def counted(report: EmulationReport) -> dict[str, dict[str, int]]:
    """By host, what its kernel counted that tells how it recovers from losses."""
    return {
        host["name"]: {name: host["counted"][name] for name in TOLD if name in host["counted"]}
        for host in report["hosts"]
    }
