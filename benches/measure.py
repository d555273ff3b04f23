"""Measures the speed of rtolab: of its parts, of whole runs, and of whole runs beside their limit.

`benches/run` starts this. Whole runs go in rounds, because the speed of machines drifts; each
figure is the median of the rounds. Exit status 1: case (red) missed its goal.

With `--peers` ns-2 and ns-3 run the same scenarios in alternation with us: exit status 1 if ns-2
was faster. `--check` counts instructions, which do not drift: exit status 1 if a case takes more
than 2 % above its recorded count.
"""

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import compare
import counted
import library
from parts import Part, measure_parts, said_of_parts
from programs import HEADING, BenchError, Run, build, run, title_of

CASES = ("a", "b", "c", "d")

SLOW = ("c", "d")
"""The cases that `--quick` leaves out."""

GOAL_MANY = 3.0
"""The most that a packet of case (d) may cost, as a multiple of case (b)."""

RED = "red"
GOAL_RED_S = 1.0
"""The most seconds that the case of 500 flows through RED may take on one core."""

TABLES = ("frto2002/table1", "frto2002/table2", "frto2002/table3")
GOAL_TABLES_S = 1.0
"""The most seconds that the three tables together may take on two cores."""


@dataclass(frozen=True)
class Tables:
    """The tables of the F-RTO report, simulated on all cores.

    Attributes:
        runs: of each sender.
        wall_s: by table, the median of the rounds in s.
    """

    runs: int
    wall_s: dict[str, float]

    @property
    def together_s(self) -> float:
        """Seconds for all tables."""
        return sum(self.wall_s.values())

    def document(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        return {**asdict(self), "together_s": self.together_s, "goal_s": GOAL_TABLES_S}


@dataclass(frozen=True)
class Figures:
    """All measurements.

    Attributes:
        parts: the parts; none with `--quick`.
        cases: the median runs, by case.
        queue: as many events as case (b) has, in an event queue with nothing around it.
        red: the median run of case (red).
        tables: the F-RTO report's; `None` where the package is not installed.
    """

    parts: list[Part]
    cases: dict[str, Run]
    queue: Run
    red: Run
    tables: Tables | None

    @property
    def cost_of_many(self) -> float | None:
        """The cost of a packet of case (d), as a multiple of case (b), if it was measured."""
        many = self.cases.get("d")
        return self.cases["b"].packets_per_s / many.packets_per_s if many else None

    @property
    def queues_a_run(self) -> float:
        """The time of case (b), as a multiple of its bare event queue's."""
        return self.cases["b"].run_s / self.queue.run_s

    def document(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        cost = self.cost_of_many
        return {
            "parts": [part.document() for part in self.parts],
            "cases": {case: of_case.document() for case, of_case in self.cases.items()},
            "queue": {"events": self.queue.events, "run_s": self.queue.run_s},
            "queues_a_run": round(self.queues_a_run, 3),
            "many": cost and {"cost": round(cost, 3), "goal": GOAL_MANY},
            "red": {**self.red.document(), "goal_s": GOAL_RED_S},
            "tables": self.tables.document() if self.tables else None,
        }

    def __str__(self) -> str:
        """The table that the terminal shows."""
        lines = [said_of_parts(self.parts)] if self.parts else []
        lines.append(f"Whole runs\n{HEADING}")
        for case, of_case in self.cases.items():
            lines += [title_of(case), of_case.row("rtolab")]
            if case == "b":
                lines.append(self.said_of_the_limit())
        if self.cost_of_many:
            goal = f"  (goal: {GOAL_MANY:g})"
            lines.append(f"    {'packet (d) / packet (b)':<42}{self.cost_of_many:>12.2f}{goal}")
        lines += [f"{title_of(RED)} (goal: {GOAL_RED_S:g} s)", self.red.row("rtolab")]
        return "\n".join([*lines, said_of_tables(self.tables)])

    def said_of_the_limit(self) -> str:
        """The line about the distance of case (b) from its limit."""
        events = f"{self.queue.events:,} events, queue alone"
        return (
            f"    {events:<27}{self.queue.run_s:>8.3f}\n"
            f"    {'run / event queue alone':<42}{self.queues_a_run:>12.2f}"
        )


def measure(options: argparse.Namespace) -> Figures:
    """Measure everything, in rounds of one run each.

    Raises:
        BenchError: something does not build, or fails.
    """
    binary = build()
    names = [name for name in CASES if not (options.quick and name in SLOW)]
    runs: dict[str, list[Run]] = {name: [] for name in [*names, RED]}
    queue: list[Run] = []
    for _ in range(options.rounds):
        for name, of_case in runs.items():
            of_case.append(run([binary, name]))
        queue.append(run(counted.bare_queue(binary, runs["b"][-1])))
    medians = {name: Run.median(of_case) for name, of_case in runs.items()}
    red = medians.pop(RED)
    parts = [] if options.quick else measure_parts()
    return Figures(parts, medians, Run.median(queue), red, measure_tables(options))


def measure_tables(options: argparse.Namespace) -> Tables | None:
    """The published variants of each table; `None` where the package is not installed."""
    try:
        from rtolab import _rtolab  # noqa: PLC0415
        from rtolab.experiments import find  # noqa: PLC0415
        from rtolab.run import find_scenario  # noqa: PLC0415
    except ImportError:
        return None
    runs = 30 if options.quick else 300
    took: dict[str, list[float]] = {table: [] for table in TABLES}
    for _ in range(options.rounds):
        for experiment in find(list(TABLES)):
            senders = [v.sender for v in experiment.variants if not v.condition]
            began = time.perf_counter()
            outcome = _rtolab.simulate(
                find_scenario(experiment.scenario),
                set=[(a.name, a.value) for a in experiment.assumptions],
                senders=senders,
                seeds=range(1, runs + 1),
            )
            took[experiment.id].append(time.perf_counter() - began)
            if len(outcome.table("connections")) != runs * len(senders):
                raise BenchError(
                    f"{experiment.id} has {len(outcome.table('connections'))} connections"
                )
    return Tables(runs, {table: median(times) for table, times in took.items()})


def said_of_tables(tables: Tables | None) -> str:
    """The lines about the F-RTO report's tables."""
    if tables is None:
        return "The F-RTO report's tables were not timed: rtolab is not installed; use `make bench`"
    each = ", ".join(f"{name.split('/')[1]} {wall:.3f} s" for name, wall in tables.wall_s.items())
    return (
        f"The F-RTO report's tables, {tables.runs} runs of each of six senders, "
        f"{os.cpu_count()} cores:\n    {each}; together {tables.together_s:.3f} s "
        f"(goal: {GOAL_TABLES_S:g} s with 300 runs on 2 cores)"
    )


def report(options: argparse.Namespace) -> int:
    """Measure, print, and compare with the targets."""
    load = os.getloadavg()[0]
    figures = measure(options)
    if options.json:
        heading = {"cores": os.cpu_count(), "load": load, "rounds": options.rounds}
        sys.stdout.write(f"{json.dumps({**heading, **figures.document()}, indent=2)}\n")
    else:
        sys.stdout.write(f"{figures}\n")
    took = figures.red.set_up_s + figures.red.run_s
    if took > GOAL_RED_S:
        sys.stderr.write(f"({RED}) takes {took:.2f} s, more than {GOAL_RED_S:g} s\n")
    return 1 if took > GOAL_RED_S else 0


def main() -> int:
    """Run what the options ask for."""
    parser = argparse.ArgumentParser(prog="benches/run", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--peers", action="store_true", help="beside ns-2 and ns-3")
    what.add_argument("--check", action="store_true", help="count instructions, by valgrind")
    what.add_argument("--record", action="store_true", help="the same, and keep the counts")
    what.add_argument("--library", action="store_true", help="the engine, smoltcp and lwIP")
    what.add_argument("--bare-queue", action="store_true", help="(b) beside a bare event queue")
    parser.add_argument("--json", action="store_true", help="one document instead of tables")
    parser.add_argument("--quick", action="store_true", help="one round, few flows, few runs")
    parser.add_argument("--rounds", type=int, default=0, help="3, or 1 with --quick")
    parser.add_argument(
        "--ns3-seconds",
        type=float,
        metavar="S",
        help="how long ns-3, which is slow, simulates; else 60 s of (a), 10 s of (b), 2 s of (c)",
    )
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 3)
    try:
        if options.check or options.record:
            return counted.check(record=options.record)
        if options.bare_queue:
            return counted.beside_bare_queue()
        if options.library:
            return library.report(options)
        return compare.report(options) if options.peers else report(options)
    except BenchError as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
