"""Counts instructions and cache misses with valgrind; `benches/run` starts this.

Unlike times, these counts do not depend on what else the machine does.
"""

import json
import sys
import tempfile
from pathlib import Path

from programs import ROOT, BenchError, Run, build, output, scenario_of

COUNTS = ROOT / "benches" / "instructions.json"
"""Instructions per data packet, by case: with its ACK and its share of everything else."""

CASES = ("a", "b")
"""The other cases take too long under valgrind."""

TOLERANCE = 0.02
"""The most by which a count may grow."""

DISTANCE_CASE = "b"

CACHES = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]
"""Cache sizes, the same on every machine."""


def check(*, record: bool) -> int:
    """Count the instructions of (a) and (b); compare them with the recorded ones, or record them.

    Returns:
        The exit status: 1 if a case takes more than `TOLERANCE` above its recorded count.
    """
    recorded = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    binary = build()
    counted = {case: round(instructions(binary, case)) for case in CASES}
    if record:
        COUNTS.write_text(f"{json.dumps(counted, indent=2)}\n")
    more = [
        case
        for case, count in counted.items()
        if not record and count > (1 + TOLERANCE) * recorded.get(case, 0)
    ]
    for case, count in counted.items():
        before = recorded.get(case)
        change = f", {count / before - 1:+.1%} of {before:,}" if before else ""
        sys.stdout.write(f"({case}) {count:,} instructions per packet{change}\n")
    if more:
        sys.stderr.write(f"more than {TOLERANCE:.0%} above the recorded count: {', '.join(more)}\n")
    return 1 if more else 0


def instructions(binary: str, case: str) -> float:
    """Instructions per data packet of the case."""
    run, counts = profile([binary, case])
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
