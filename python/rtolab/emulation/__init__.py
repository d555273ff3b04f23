"""Scenarios on real kernels, and checks that the results are valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Error, Outcome
from rtolab.process import processors
from rtolab.result import Result
from rtolab.run import as_toml, check_numbers, find_scenario, passive_detectors

if TYPE_CHECKING:
    from rtolab._rtolab import EmulationReport
    from rtolab.kernel import Kernel
    from rtolab.prototype import Given
    from rtolab.run import Judge

    Progress = Callable[[int, int], object]
    """Called with the number of finished runs and of all runs."""

TOLD = (
    *("TcpRetransSegs", "TcpExtTCPTimeouts", "TcpExtTCPSpuriousRTOs", "TcpExtTCPLossUndo"),
    *("TcpExtTCPFullUndo", "TcpExtTCPPartialUndo", "TcpExtTCPDSACKUndo", "TcpExtTCPLossProbes"),
    *("TcpExtTCPFastRetrans", "TcpExtTCPSlowStartRetrans", "TcpExtTCPDSACKRecv"),
)
"""The counters of a kernel that describe its loss recovery."""


@dataclass(frozen=True)
class Variant:
    """A set of kernel settings.

    Attributes:
        name: the sender in the tables.
        set: values that replace those of the scenario, by dotted key.
    """

    name: str = "linux"
    set: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Engine:
    """The hosts that run rtolab's engine, in a run on a virtual clock whose other hosts are guests.

    Attributes:
        hosts: their names in the scenario.
        sender: the engine's sender, for flows that name none.
    """

    hosts: Sequence[str] = ()
    sender: str = "linux"


class EmulationResult(Result):
    """The tables of runs on real kernels, and a report on hosts, links and clock of each run."""

    def __init__(self, scenario: str, outcome: Outcome, reports: Sequence[EmulationReport]) -> None:
        super().__init__(scenario, outcome, runs=len(reports), traced=True)
        self.reports = list(reports)

    def sender(self, run: int) -> str:
        """The sender of a run in the tables; the kernel if it sent nothing by TCP."""
        known = self.connections.filter(pl.col("run") == run)["sender"]
        return str(known[0]) if known.len() else "linux"

    @property
    def doubts(self) -> list[list[str]]:
        """The reasons why each run may be invalid; empty for a good run."""
        return [doubts(report) for report in self.reports]


def emulate(  # noqa: PLR0913  (all but the first are options)
    scenario: str | Path,
    *,
    variants: Sequence[Variant] = (Variant(),),
    seed: int = 1,
    runs: int = 1,
    set: Mapping[str, object] | None = None,
    parallel: int = 1,
    kernel: Kernel | None = None,
    kernels: Mapping[str, Kernel] = MappingProxyType({}),
    engine: Engine = Engine(),
    withhold: bool = False,
    judge: Judge | Sequence[Judge] = (),
    prototypes: Sequence[Given] = (),
    progress: Progress | None = None,
) -> EmulationResult:
    """Run a scenario's flows with the sockets of real kernels.

    Each run has its own hosts, so runs can be concurrent. Without `kernel` the hosts are
    namespaces of this machine's kernel, in real time: that needs Linux, root, `/dev/net/tun` and
    iproute2. With `kernel` each host is a guest of its own on a virtual clock: that needs Linux
    alone, and two runs of a seed are equal.

    Args:
        scenario: the path of a scenario, or the name of an included one.
        variants: kernel settings, each of which runs on the same seeds.
        seed: the first seed; run i of a variant uses `seed + i`.
        runs: the number of seeds, for each variant.
        set: values that replace those of the scenario, by dotted key: {"kernel.frto": 0}.
        parallel: the number of concurrent runs.
        kernel: the kernel of the hosts, on a virtual clock.
        kernels: the kernels of hosts that have another one, by the host's name.
        engine: the hosts that are the engine instead, with `kernel`.
        withhold: find the truth about every timeout and fast retransmit of a guest by a repeated
            run in which the links withhold its retransmission, instead of by the packets' fates.
        judge: passive detectors at the sender of every TCP flow, as those of `rtolab.run`. They see
            the packets at that host, and when its TCP decided to retransmit.
        prototypes: detectors in Python that `judge` may name.
        progress: called from time to time with the finished runs and all runs.

    Returns:
        The tables of all runs, variants before seeds.

    Raises:
        EmulationError: a prerequisite is missing, or a kernel rejects a setting.
        SenderError: `judge` names no detector.
        Error: the scenario, a key or a value is wrong, or `withhold` or `engine` has no guests.
        OSError: the scenario cannot be read.
    """
    check_numbers(seed, runs, parallel, "parallel")
    if withhold and not kernel:
        raise Error("withholding a retransmission needs runs on a virtual clock: name a kernel")
    if kernels and not kernel:
        raise Error("the kernels of hosts need guests on a virtual clock: name a kernel")
    if engine.hosts and not kernel:
        raise Error("the engine as a host needs guests on a virtual clock: name a kernel")
    if kernel:
        # A guest waits for nothing but a processor.
        parallel = min(parallel, processors())
    common = set or {}
    named = [
        (one.name, [(key, as_toml(value)) for key, value in {**common, **one.set}.items()])
        for one in variants
    ]
    judges, known = passive_detectors(judge, prototypes)
    outcome, reports = _rtolab.emulate_flows(
        find_scenario(scenario),
        variants=named,
        seeds=range(seed, seed + runs),
        parallel=parallel,
        guest=(kernel.folder, kernel.title) if kernel else None,
        others=kernel_rows(kernels),
        engine=(list(engine.hosts), engine.sender),
        withhold=withhold,
        judges=judges,
        prototypes=known,
        progress=progress,
    )
    return EmulationResult(str(scenario), outcome, reports)


def kernel_rows(kernels: Mapping[str, Kernel]) -> list[tuple[str, Path, str]]:
    """Hosts with the folder and the description of their kernel."""
    return [(host, kernel.folder, kernel.title) for host, kernel in kernels.items()]


def doubts(report: EmulationReport) -> list[str]:
    """The reasons why this machine may have changed the result; empty for a good run."""
    found: list[str] = []
    if guest(report):
        # On a virtual clock this machine's speed changes nothing.
        return found
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


def guest(report: EmulationReport) -> str | None:
    """The kernel of the hosts if these are guests on a virtual clock."""
    return next((host["kernel"] for host in report["hosts"] if host["kernel"]), None)


def counted(report: EmulationReport) -> dict[str, dict[str, int]]:
    """The loss-recovery counters of each host's kernel."""
    return {
        host["name"]: {name: host["counted"][name] for name in TOLD if name in host["counted"]}
        for host in report["hosts"]
    }
