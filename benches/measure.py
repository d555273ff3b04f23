"""How fast whole runs are, beside ns-2 on the same scenarios; `benches/run` starts this.

Ours and ns-2 run in alternation, because machines drift; a figure is the median of the rounds.
Exit status 1: ns-2 was faster, or case (red) missed its goal. With `--check` instructions are
counted instead, which do not drift: exit status 1 if there are more than 5 % more than recorded.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NS2_SCRIPT = ROOT / "benches" / "ns2.tcl"
INSTALL_NS2 = "sudo apt-get install ns2"
SCHEDULERS = ("Calendar", "Splay")
"""The default of ns-2, and the one that is fastest here; we are compared with the faster."""

NS2_ELSEWHERE = {"a": 857_939.0, "b": 1_620_000.0, "c": 520_512.0}
"""Data packets a run second that ns-2.35 delivered on another machine."""

GOALS = {"a": 4.0, "b": 3.0, "c": 6.0}
"""How many times as fast as ns-2 we want to be."""

SLOW = ("c",)
"""The cases that take ns-2, or valgrind, long."""

MANY = "d"
GOAL_MANY = 3.0
"""What a packet of case (d), which ns-2 cannot set up, may cost in packets of case (b)."""

TABLES = ("frto2002/table1", "frto2002/table2", "frto2002/table3")
GOAL_TABLES_S = 1.0
"""What the three tables may take together on two cores, in s."""


RED = "red"
GOAL_RED_S = 1.0
"""What the case of 500 flows through RED, which has no rival, may take on one core, in s."""


class BenchError(Exception):
    """Nothing could be measured; says why."""


@dataclass(frozen=True)
class Run:
    """What one run, or the median run, took.

    Attributes:
        set_up_s: before the first event, in s.
        run_s: from the first event to the last, in s.
        packets: data packets delivered.
        memory_mb: most memory resident, in MB.
    """

    set_up_s: float
    run_s: float
    packets: int
    memory_mb: float

    @classmethod
    def printed(cls, output: str) -> Run:
        """From a line that begins with set-up, run, packets and memory in kB."""
        set_up_s, run_s, packets, memory_kb = output.split()[:4]
        return cls(float(set_up_s), float(run_s), int(packets), int(memory_kb) / 1000)

    @classmethod
    def median(cls, runs: list[Run]) -> Run:
        """The median of each figure; the packets are the same in all."""
        return cls(
            median(run.set_up_s for run in runs),
            median(run.run_s for run in runs),
            runs[0].packets,
            median(run.memory_mb for run in runs),
        )

    @property
    def packets_per_s(self) -> float:
        """Data packets delivered in a second of running."""
        return self.packets / self.run_s

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {**asdict(self), "packets_per_s": round(self.packets_per_s)}


@dataclass(frozen=True)
class Case:
    """A benchmark scenario, measured.

    Attributes:
        name: of the case.
        title: of the scenario, with how long was simulated.
        ours: our median run.
        ns2: the median runs of ns-2, by its scheduler; empty without ns-2.
    """

    name: str
    title: str
    ours: Run
    ns2: dict[str, Run]

    @property
    def scheduler(self) -> str | None:
        """The scheduler with which ns-2 was fastest."""
        return min(self.ns2, key=lambda s: self.ns2[s].run_s) if self.ns2 else None

    @property
    def rival_packets_per_s(self) -> float:
        """Of ns-2: measured here, or else elsewhere."""
        best = self.scheduler
        return self.ns2[best].packets_per_s if best else NS2_ELSEWHERE[self.name]

    @property
    def source(self) -> str:
        """Where the rival's figures are from."""
        return "measured here" if self.ns2 else "measured elsewhere"

    @property
    def ratio(self) -> float:
        """How many times as fast as ns-2 we are."""
        return self.ours.packets_per_s / self.rival_packets_per_s

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        best = self.scheduler
        return {
            "case": self.name,
            "title": self.title,
            "ours": self.ours.document(),
            "ns2": {"scheduler": best, **self.ns2[best].document()} if best else None,
            "ns2_packets_per_s": round(self.rival_packets_per_s),
            "ratio": round(self.ratio, 3),
            "source": self.source,
        }


def measure_case(name: str, binary: str, ns: str | None, options: argparse.Namespace) -> Case:
    """A case in rounds of us and ns-2, with one scheduler after the other."""
    scenario = tomllib.loads((ROOT / "scenarios" / f"bench-{name}.toml").read_text())
    ours: list[Run] = []
    ns2: dict[str, list[Run]] = {scheduler: [] for scheduler in SCHEDULERS if ns}
    for _ in range(options.rounds):
        ours.append(Run.printed(output([binary, name])))
        for scheduler, runs in ns2.items():
            command = [str(ns), str(NS2_SCRIPT), "scheduler", scheduler]
            runs.append(Run.printed(output(command + ns2_arguments(scenario))))
    medians = {scheduler: Run.median(runs) for scheduler, runs in ns2.items()}
    title = f"{scenario['title']}, {scenario['duration']}"
    return Case(name, title, Run.median(ours), medians)


def measure_alone(name: str, binary: str, options: argparse.Namespace) -> Run:
    """A case that has a goal instead of a rival."""
    return Run.median([Run.printed(output([binary, name])) for _ in range(options.rounds)])


def ns2_arguments(scenario: dict[str, Any]) -> list[str]:
    """The scenario as `ns2.tcl` takes it."""
    (link,), (flow,) = scenario["link"], scenario["flow"]
    arguments = {
        "flows": flow.get("count", 1),
        "seconds": quantity(scenario["duration"]),
        "rate": quantity(link["rate"]) / 1e6,
        "delay": quantity(link["delay"]) * 1e3,
        "queue": int(quantity(link["queue"])),
        "access_rate": quantity(flow["access"]["rate"]) / 1e6,
    }
    return [str(word) for key_value in arguments.items() for word in key_value]


UNITS = {"s": 1.0, "ms": 1e-3, "Mbit/s": 1e6, "Gbit/s": 1e9, "packets": 1.0}


def quantity(text: str) -> float:
    """A quantity of a benchmark scenario in s, bit/s or packets."""
    number, unit = text.split()
    return float(number) * UNITS[unit]


def build() -> str:
    """Our program that runs one case; its path."""
    command = ["cargo", "bench", "-p", "rtolab-sim", "--bench", "cases", "--no-run", "--quiet"]
    for line in output([*command, "--message-format=json"]).splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "cases":
            return str(message["executable"])
    raise BenchError(f"`{' '.join(command)}` built no program")


def output(command: list[str]) -> str:
    """What a program printed.

    Raises:
        BenchError: it is missing, or it failed.
    """
    try:
        ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchError(str(error)) from error
    return ran.stdout


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
        """All tables, in s."""
        return sum(self.wall_s.values())

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {**asdict(self), "together_s": self.together_s, "goal_s": GOAL_TABLES_S}


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
            if len(outcome.connections) != runs * len(senders):
                raise BenchError(f"{experiment.id} has {len(outcome.connections)} connections")
    return Tables(runs, {table: median(times) for table, times in took.items()})


def table(cases: list[Case]) -> str:
    """The cases for people."""
    lines = [f"{'':<22}{'set-up s':>9}{'run s':>8}{'packets':>11}{'packets/s':>12}{'MB':>9}"]
    for case in cases:
        lines.append(f"({case.name}) {case.title}")
        lines.append(row("ours", case.ours))
        lines += [row(f"ns-2, {scheduler}", run) for scheduler, run in case.ns2.items()]
        if not case.ns2:
            rate = NS2_ELSEWHERE[case.name]
            lines.append(f"    {'ns-2, another machine':<38}{rate:>12,.0f}")
        goal = f"  (goal: {GOALS[case.name]:g})"
        lines.append(f"    {'ours / ns-2':<38}{case.ratio:>12.2f}{goal}")
    return "\n".join(lines)


def row(who: str, run: Run) -> str:
    """One simulator's figures."""
    figures = f"{run.set_up_s:>9.3f}{run.run_s:>8.3f}{run.packets:>11,}{run.packets_per_s:>12,.0f}"
    return f"    {who:<18}{figures}{run.memory_mb:>9.1f}"


def cost_of(many: Run, cases: list[Case]) -> float:
    """What a packet of case (d) costs in packets of case (b)."""
    (fifty,) = (case for case in cases if case.name == "b")
    return fifty.ours.packets_per_s / many.packets_per_s


def document_of(many: Run, cases: list[Case]) -> dict[str, Any]:
    """Case (d) for `--json`."""
    return {**many.document(), "cost": round(cost_of(many, cases), 3), "goal": GOAL_MANY}


def said_of_many(run: Run | None, cases: list[Case]) -> str:
    """Case (d) for people."""
    if run is None:
        return f"({MANY}) was not measured, for it takes long"
    title = tomllib.loads((ROOT / "scenarios" / f"bench-{MANY}.toml").read_text())["title"]
    cost = f"{'packet (d) / packet (b)':<42}{cost_of(run, cases):>12.2f}  (goal: {GOAL_MANY:g})"
    return f"({MANY}) {title}, 2 s\n{row('ours', run)}\n    {cost}"


def said_of_red(run: Run) -> str:
    """Case (red) for people."""
    title = tomllib.loads((ROOT / "scenarios" / f"bench-{RED}.toml").read_text())["title"]
    return f"({RED}) {title}, 60 s (goal: {GOAL_RED_S:g} s)\n{row('ours', run)}"


def said_of(tables: Tables | None) -> str:
    """The F-RTO report's tables for people."""
    if tables is None:
        return "The F-RTO report's tables were not timed: rtolab is not installed; use `make bench`"
    each = ", ".join(f"{name.split('/')[1]} {wall:.3f} s" for name, wall in tables.wall_s.items())
    return (
        f"The F-RTO report's tables, {tables.runs} runs of each of six senders, "
        f"{os.cpu_count()} cores:\n    {each}; together {tables.together_s:.3f} s "
        f"(goal: {GOAL_TABLES_S:g} s with 300 runs on 2 cores)"
    )


def main() -> int:
    """Measures, prints, and judges."""
    parser = argparse.ArgumentParser(prog="benches/run", description=__doc__)
    parser.add_argument("--check", action="store_true", help="count instructions, by valgrind")
    parser.add_argument("--record", action="store_true", help="the same, and keep the counts")
    parser.add_argument("--json", action="store_true", help="one document instead of tables")
    parser.add_argument("--quick", action="store_true", help="one round, few flows, few runs")
    parser.add_argument("--rounds", type=int, default=0, help="3, or 1 with --quick")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 3)
    if options.check or options.record:
        return check(record=options.record)
    ns = shutil.which("ns")
    if ns is None:
        sys.stderr.write(
            f"ns-2 is missing: we are compared with what it did on another machine.\n"
            f"Install it:  {INSTALL_NS2}\n"
        )
    try:
        binary = build()
        names = [name for name in NS2_ELSEWHERE if not (options.quick and name in SLOW)]
        cases = [measure_case(name, binary, ns, options) for name in names]
        many = None if options.quick else measure_alone(MANY, binary, options)
        red = measure_alone(RED, binary, options)
        tables = measure_tables(options)
    except BenchError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.json:
        document = {
            "cores": os.cpu_count(),
            "rounds": options.rounds,
            "cases": [case.document() for case in cases],
            "many": many and document_of(many, cases),
            "red": {**red.document(), "goal_s": GOAL_RED_S},
            "tables": tables.document() if tables else None,
        }
        sys.stdout.write(f"{json.dumps(document, indent=2)}\n")
    else:
        sys.stdout.write(
            f"{table(cases)}\n{said_of_many(many, cases)}\n{said_of_red(red)}\n{said_of(tables)}\n"
        )
    return judge(cases, red)


COUNTS = ROOT / "benches" / "instructions.json"
"""Instructions a data packet, with its ACK and its share of the rest, by case."""

TOLERANCE = 0.05


def check(*, record: bool) -> int:
    """Counts the instructions of (a) and (b); compares them with those recorded, or keeps them."""
    recorded = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    try:
        binary = build()
        cases = [case for case in NS2_ELSEWHERE if case not in SLOW]
        counted = {case: round(instructions(binary, case)) for case in cases}
    except BenchError as error:
        sys.stderr.write(f"{error}\n")
        return 2
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
        sys.stdout.write(f"({case}) {count:,} instructions a packet{change}\n")
    if more:
        sys.stderr.write(f"more than {TOLERANCE:.0%} more than recorded: {', '.join(more)}\n")
    return 1 if more else 0


def instructions(binary: str, case: str) -> float:
    """What a data packet of the case takes.

    Raises:
        BenchError: valgrind is missing, or it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "callgrind"
        command = [
            *("valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={profile}"),
            *(binary, case),
        ]
        run = Run.printed(output(command))
        for line in profile.read_text().splitlines():
            if line.startswith(("summary:", "totals:")):
                return int(line.split()[1]) / run.packets
    raise BenchError(f"`{' '.join(command)}` counted nothing")


def judge(cases: list[Case], red: Run) -> int:
    """The exit status; another machine's figures decide nothing."""
    slower = [case for case in cases if case.ns2 and case.ratio < 1]
    for case in slower:
        sys.stderr.write(f"({case.name}) ns-2 is faster: {case.ratio:.2f} of its packets/s\n")
    took = red.set_up_s + red.run_s
    if took > GOAL_RED_S:
        sys.stderr.write(f"({RED}) takes {took:.2f} s, more than {GOAL_RED_S:g} s\n")
    return 1 if slower or took > GOAL_RED_S else 0


if __name__ == "__main__":
    sys.exit(main())
