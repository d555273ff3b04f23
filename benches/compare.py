"""Compares rtolab with ns-2 and ns-3 on the same scenarios; `benches/run --peers` starts this.

All run in alternation. What is slow on a busy machine is slow for all of a round, so a ratio is the
median of the rounds' ratios.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from programs import HEADING, ROOT, BenchError, Run, build, quantity, run, scenario_of, title_of

CASES = ("a", "b", "c", "d")

SLOW = ("c", "d")
"""The cases that `--quick` leaves out."""

ALONE = "d"
WHY_ALONE = (
    "alone: ns-2 keeps a route from every host to every other; ns-3 looks through a host's "
    "connections at every packet"
)

GOALS = {"a": 4.0, "b": 3.0, "c": 6.0}
"""The speed that we want, as a multiple of ns-2's."""

SCHEDULERS = ("Calendar", "Splay")
"""The default of ns-2, and the scheduler that is fastest here."""

NS3_SECONDS = {"a": 60.0, "b": 10.0, "c": 2.0}
"""The simulated time of ns-3, which takes some seconds of CPU time."""

NS3_SOURCE = ROOT / "benches" / "peers" / "ns3.cc"
NS3_BINARY = ROOT / "target" / "peers" / "ns3"
NS3_LIBRARIES = (
    *("core", "network", "internet"),
    *("point-to-point", "applications", "nix-vector-routing"),
)

Command = Callable[[str], list[str]]
"""The command that runs a case, by its name."""


@dataclass(frozen=True)
class Peer:
    """Another simulator.

    Attributes:
        name: with its version or variant.
        command: what runs a case.
        seconds: how long it simulates a case; as long as we do where nothing is said.
    """

    name: str
    command: Command
    seconds: dict[str, float]


@dataclass(frozen=True)
class Compared:
    """The measurements of one case.

    Attributes:
        case: its name.
        ours: our runs, one a round.
        theirs: those of the others, by name.
        seconds: how long those simulated that did not simulate as long as we did.
    """

    case: str
    ours: list[Run]
    theirs: dict[str, list[Run]]
    seconds: dict[str, float]

    def ratio(self, peer: str) -> float:
        """Our packets a second, as a multiple of the peer's."""
        rounds = zip(self.ours, self.theirs[peer], strict=True)
        return median(ours.packets_per_s / theirs.packets_per_s for ours, theirs in rounds)

    @property
    def ns2(self) -> float | None:
        """The ratio to ns-2 with the faster of its schedulers, if it is installed."""
        ratios = [self.ratio(peer) for peer in self.theirs if peer.startswith("ns-2")]
        return min(ratios, default=None)

    def document(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        return {
            "case": self.case,
            "title": title_of(self.case),
            "rtolab": Run.median(self.ours).document(),
            "peers": {peer: self.document_of(peer) for peer in self.theirs},
            "goal": GOALS.get(self.case),
        }

    def document_of(self, peer: str) -> dict[str, Any]:
        """A peer's part of the document that `--json` prints."""
        return {
            **Run.median(self.theirs[peer]).document(),
            "ratio": round(self.ratio(peer), 3),
            "seconds": self.seconds.get(peer, quantity(scenario_of(self.case)["duration"])),
        }

    def __str__(self) -> str:
        """The table that the terminal shows."""
        lines = [title_of(self.case), Run.median(self.ours).row("rtolab")]
        for peer, runs in self.theirs.items():
            shorter = f"  ({self.seconds[peer]:g} s)" if peer in self.seconds else ""
            row = Run.median(runs).row(peer)
            lines.append(f"{row}{self.ratio(peer):>10.2f}{shorter}")
        if self.ns2 is not None:
            goal = f"{self.ns2:.2f} (goal: {GOALS[self.case]:g})"
            lines.append(f"    rtolab / ns-2 with the scheduler that serves it better: {goal}")
        if self.case == ALONE:
            lines.append(f"    {WHY_ALONE}")
        return "\n".join(lines)


def report(options: argparse.Namespace) -> int:
    """Measure, print, and compare with the targets."""
    load = os.getloadavg()[0]
    binary = build()
    ready = peers(options)
    names = [name for name in CASES if not (options.quick and name in SLOW)]
    cases = [measure(name, binary, ready, options.rounds) for name in names]
    if options.json:
        heading = {"cores": os.cpu_count(), "load": load, "rounds": options.rounds}
        document = {**heading, "cases": [case.document() for case in cases]}
        sys.stdout.write(f"{json.dumps(document, indent=2)}\n")
    else:
        rounds = f"{options.rounds} rounds; {os.cpu_count()} cores, load {load:.1f} before"
        rows = "\n".join(map(str, cases))
        sys.stdout.write(f"Medians of {rounds}\n{HEADING}    ratio\n{rows}\n")
    return judge(cases)


def judge(cases: list[Compared]) -> int:
    """The exit status."""
    slower = [case for case in cases if case.ns2 is not None and case.ns2 < 1]
    for case in slower:
        sys.stderr.write(f"({case.case}) ns-2 is faster: {case.ns2:.2f} of its packets/s\n")
    return 1 if slower else 0


def measure(name: str, binary: str, ready: list[Peer], rounds: int) -> Compared:
    """Measure a case in rounds, in each of which we and every peer run once."""
    peers = [] if name == ALONE else ready
    ours: list[Run] = []
    theirs: dict[str, list[Run]] = {peer.name: [] for peer in peers}
    for _ in range(rounds):
        ours.append(run([binary, name]))
        for peer in peers:
            theirs[peer.name].append(run(peer.command(name)))
    whole = quantity(scenario_of(name)["duration"])
    seconds = {p.name: p.seconds[name] for p in peers if p.seconds.get(name, whole) < whole}
    return Compared(name, ours, theirs, seconds)


def peers(options: argparse.Namespace) -> list[Peer]:
    """The installed peers. Prints how to install the others."""
    return [*ns2(), *ns3(options)]


def ns2() -> list[Peer]:
    """ns-2 with either scheduler."""
    ns = shutil.which("ns")
    if ns is None:
        missing("ns-2", "ns2")
        return []
    script = str(ROOT / "benches" / "peers" / "ns2.tcl")

    def with_scheduler(scheduler: str) -> Peer:
        def command(case: str) -> list[str]:
            arguments = {"scheduler": scheduler, **arguments_of(case)}
            return [ns, script, *(str(word) for pair in arguments.items() for word in pair)]

        return Peer(f"ns-2, {scheduler}", command, {})

    return [with_scheduler(scheduler) for scheduler in SCHEDULERS]


def ns3(options: argparse.Namespace) -> list[Peer]:
    """ns-3, if our program for it can be built."""
    compiler = shutil.which("c++")
    if compiler is None or not compiles(compiler, "-include", "ns3/core-config.h"):
        missing("ns-3", "libns3-dev" if compiler else "g++ libns3-dev")
        return []
    build_ns3(compiler)
    seconds = {case: ns3_seconds(case, options) for case in NS3_SECONDS}

    def command(case: str) -> list[str]:
        arguments = {**arguments_of(case), "seconds": seconds[case]}
        return [str(NS3_BINARY), *(f"--{key}={value}" for key, value in arguments.items())]

    return [Peer("ns-3", command, seconds)]


def ns3_seconds(case: str, options: argparse.Namespace) -> float:
    """The simulated time of a case in ns-3, at most that of the others."""
    whole = quantity(scenario_of(case)["duration"])
    return min(options.ns3_seconds or NS3_SECONDS[case] / (10 if options.quick else 1), whole)


def compiles(compiler: str, *options: str) -> bool:
    """Does it accept an empty file with these options?"""
    command = [compiler, *options, "-x", "c++", "-fsyntax-only", "/dev/null"]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def build_ns3(compiler: str) -> None:
    """Build our program for ns-3. This takes only seconds, so we always do it.

    Raises:
        BenchError: it does not build.
    """
    NS3_BINARY.parent.mkdir(parents=True, exist_ok=True)
    command = [compiler, "-std=c++17", "-O3", "-DNDEBUG", "-o", str(NS3_BINARY), str(NS3_SOURCE)]
    command += [f"-lns3-{library}" for library in NS3_LIBRARIES]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        last = built.stderr.strip().splitlines()[-1:]
        raise BenchError(f"{NS3_SOURCE.name} does not build: {' '.join(last)}")


def missing(peer: str, packages: str) -> None:
    """Print how to install a peer. The others run without it."""
    sys.stderr.write(f"{peer} is missing.\nInstall it:  sudo apt-get install {packages}\n")


def arguments_of(case: str) -> dict[str, float]:
    """The scenario as arguments of the peers' programs."""
    scenario = scenario_of(case)
    (link,), (flow,) = scenario["link"], scenario["flow"]
    return {
        "flows": flow.get("count", 1),
        "seconds": quantity(scenario["duration"]),
        "rate": quantity(link["rate"]) / 1e6,
        "delay": quantity(link["delay"]) * 1e3,
        "queue": int(quantity(link["queue"])),
        "access_rate": quantity(flow["access"]["rate"]) / 1e6,
    }
