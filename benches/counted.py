"""Counts instructions and cache misses with valgrind; `benches/run` starts this.

Unlike times, these counts do not depend on what else the machine does.
"""

import json
import os
import platform
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

from programs import ROOT, BenchError, Run, build, output, scenario_of

COUNTS = ROOT / "benches" / "instructions.json"
"""The recorded counts, by architecture: the compiler, and instructions per data packet by case."""

CASES: dict[str, tuple[str, ...]] = {
    "a": ("a",),
    "b": ("b", "duration=20 s"),
    "c": ("c", "duration=2 s"),
    "d": ("d", "duration=0.4 s"),
    "judged": ("b", "judged", "duration=4 s"),
    "traced": ("b", "traced", "duration=4 s"),
}
"""The words that name each simulated case. Most simulate less time, because valgrind is slow."""

DIAGNOSE = "diagnose"
"""The case of a capture; its instructions are those of each captured packet."""

TOLERANCE = 0.02
"""The most by which a count may grow."""

DISTANCE_CASE = "b"

CACHES = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]
"""Cache sizes, the same on every machine."""


class Counts(TypedDict):
    """What is recorded for an architecture.

    Attributes:
        rustc: the version of the compiler.
        instructions: per packet, with its share of everything else, by case.
    """

    rustc: str
    instructions: dict[str, int]


def check(*, record: bool) -> int:
    """Count the instructions of all cases; compare them with the recorded ones, or record them.

    Returns:
        The exit status: 1 if a case takes more than `TOLERANCE` above its recorded count.
    """
    all_counts: dict[str, Counts] = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    machine, compiler = platform.machine(), rustc()
    recorded = all_counts.get(machine)
    if recorded is None and not record:
        sys.stdout.write(f"{COUNTS.name} has no counts for {machine}; nothing to compare with\n")
        return 0
    before = recorded["instructions"] if recorded else {}
    counted = count_all()
    for case, count in counted.items():
        change = f", {count / before[case] - 1:+.1%} of {before[case]:,}" if case in before else ""
        sys.stdout.write(f"({case}) {count:,} instructions per packet{change}\n")
    if record:
        all_counts[machine] = {"rustc": compiler, "instructions": counted}
        COUNTS.write_text(f"{json.dumps(all_counts, indent=2)}\n")
        return 0
    more = [case for case, count in counted.items() if count > (1 + TOLERANCE) * before[case]]
    if more:
        sys.stderr.write(f"more than {TOLERANCE:.0%} above the recorded count: {', '.join(more)}\n")
    if more and recorded and recorded["rustc"] != compiler:
        sys.stderr.write(f"recorded with rustc {recorded['rustc']}, this is {compiler}\n")
    return 1 if more else 0


def rustc() -> str:
    """The version of the compiler."""
    return output(["rustc", "--version"]).split()[1]


def count_all() -> dict[str, int]:
    """Instructions per packet, by case. Cases run side by side."""
    binary = build()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as threads:
        capture = f"{folder}/capture.pcapng"
        output([binary, "write", capture])
        commands = {case: [binary, *words] for case, words in CASES.items()}
        commands[DIAGNOSE] = [binary, DIAGNOSE, capture]
        counts = threads.map(instructions, commands.values())
        return dict(zip(commands, map(round, counts), strict=True))


def instructions(command: list[str]) -> float:
    """Instructions per packet of a command that prints its run."""
    run, counts = profile(command)
    return counts["Ir"] / run.packets


def beside_bare_queue() -> int:
    """Print what a packet of (b) costs, beside the cost of its events in a bare event queue."""
    binary = build()
    run, whole = profile([binary, DISTANCE_CASE], *CACHES)
    _, bare = profile(bare_queue(binary, run), *CACHES)
    sys.stdout.write(
        f"({DISTANCE_CASE}), a data packet with its ACK: {run.events / run.packets:.2f} events\n"
        f"{'':<22}{'instructions':>14}{'D1 misses':>11}{'LL misses':>11}\n"
    )
    for who, counts in (("the whole run", whole), ("event queue alone", bare)):
        counted = counts["Ir"], misses(counts, "1"), misses(counts, "L")
        taken, first, last = (count / run.packets for count in counted)
        sys.stdout.write(f"    {who:<18}{taken:>14,.0f}{first:>11.2f}{last:>11.3f}\n")
    return 0


def misses(counts: dict[str, int], level: str) -> int:
    """Data cache misses, read and write, at the first or the last level."""
    return sum(counts[f"D{level}m{access}"] for access in "rw")


def bare_queue(binary: str, run: Run) -> list[str]:
    """The command that runs as many events as (b) through a queue with as many slots."""
    (flow,) = scenario_of(DISTANCE_CASE)["flow"]
    # Two for each of: the ends of a flow, its own link, the bottleneck.
    slots = 2 * (2 * flow["count"] + 1)
    return [binary, "queue", str(run.events), str(slots)]


def profile(command: list[str], *options: str) -> tuple[Run, dict[str, int]]:
    """The output of a run, and its counts of callgrind's events."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "callgrind"
        valgrind = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={written}"]
        run = Run.printed(output([*valgrind, *options, *command]))
        return run, totals(written.read_text())


def totals(profile: str) -> dict[str, int]:
    """The totals in callgrind's output, by its names of the events.

    Raises:
        BenchError: there are none.
    """
    names: list[str] = []
    for line in profile.splitlines():
        key, _, values = line.partition(": ")
        if key == "events":
            names = values.split()
        elif key in ("summary", "totals"):
            return dict(zip(names, map(int, values.split()), strict=False))
    raise BenchError("callgrind counted nothing")
