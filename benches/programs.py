"""Programs that are measured: built, started, and what they print of themselves."""

import json
import os
import subprocess
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent


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
        events: how many there were; 0 where nobody says.
    """

    set_up_s: float
    run_s: float
    packets: int
    memory_mb: float
    events: int = 0

    @classmethod
    def printed(cls, output: str) -> Self:
        """From a line with set-up, run, packets, memory in kB and perhaps events.

        Raises:
            BenchError: it is another line.
        """
        try:
            set_up_s, run_s, packets, memory_kb, *events = output.split()
            figures = float(set_up_s), float(run_s), int(packets), int(memory_kb) / 1000
            return cls(*figures, *map(int, events[:1]))
        except ValueError as error:
            raise BenchError(f"`{output.strip()}` is not what a run prints: {error}") from error

    @classmethod
    def median(cls, runs: list[Self]) -> Self:
        """The median of each figure; packets and events are the same in all."""
        return cls(
            median(run.set_up_s for run in runs),
            median(run.run_s for run in runs),
            runs[0].packets,
            median(run.memory_mb for run in runs),
            runs[0].events,
        )

    @property
    def packets_per_s(self) -> float:
        """Data packets delivered in a second of running."""
        return self.packets / self.run_s

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {**asdict(self), "packets_per_s": round(self.packets_per_s)}

    def row(self, who: str) -> str:
        """The figures for people, below `HEADING`."""
        rate = f"{self.packets:>11,}{self.packets_per_s:>12,.0f}"
        return f"    {who:<18}{self.set_up_s:>9.3f}{self.run_s:>8.3f}{rate}{self.memory_mb:>9.1f}"


HEADING = f"{'':<22}{'set-up s':>9}{'run s':>8}{'packets':>11}{'packets/s':>12}{'MB':>9}"


def scenario_of(case: str) -> dict[str, Any]:
    """The scenario of a case, as it is written."""
    return tomllib.loads((ROOT / "scenarios" / f"bench-{case}.toml").read_text())


def title_of(case: str) -> str:
    """What is simulated, and for how long."""
    scenario = scenario_of(case)
    return f"({case}) {scenario['title']}, {scenario['duration']}"


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


def run(command: list[str]) -> Run:
    """Runs a program that prints what it took.

    Raises:
        BenchError: it is missing, it failed, or it prints something else.
    """
    return Run.printed(output(command))


def output(command: list[str], **variables: str) -> str:
    """What a program printed, with such variables in its environment.

    Raises:
        BenchError: it is missing, or it failed.
    """
    environment = {**os.environ, **variables}
    try:
        ran = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise BenchError(str(error)) from error
    if ran.returncode != 0:
        raise BenchError(f"{ran.stderr}`{' '.join(command)}` failed")
    return ran.stdout
