"""Builds and runs the measured programs, and reads their output."""

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
    """A measurement failed. The message says why."""


@dataclass(frozen=True)
class Run:
    """The cost of one run, or of the median run.

    Attributes:
        set_up_s: seconds before the first event.
        run_s: seconds from the first event to the last.
        packets: delivered data packets.
        memory_mb: peak resident memory, in MB.
        events: the number of events; 0 if unknown.
    """

    set_up_s: float
    run_s: float
    packets: int
    memory_mb: float
    events: int = 0

    @classmethod
    def printed(cls, output: str) -> Self:
        """Read a line with set-up, run, packets, memory in kB and perhaps events.

        Raises:
            BenchError: the line is different.
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
        """Delivered data packets per second of `run_s`."""
        return self.packets / self.run_s

    def document(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        return {**asdict(self), "packets_per_s": round(self.packets_per_s)}

    def row(self, who: str) -> str:
        """The figures as a line below `HEADING`."""
        rate = f"{self.packets:>11,}{self.packets_per_s:>12,.0f}"
        return f"    {who:<18}{self.set_up_s:>9.3f}{self.run_s:>8.3f}{rate}{self.memory_mb:>9.1f}"


HEADING = f"{'':<22}{'set-up s':>9}{'run s':>8}{'packets':>11}{'packets/s':>12}{'MB':>9}"


def scenario_of(case: str) -> dict[str, Any]:
    """The scenario file of a case."""
    return tomllib.loads((ROOT / "scenarios" / f"bench-{case}.toml").read_text())


def title_of(case: str) -> str:
    """A description of the case and its simulated time."""
    scenario = scenario_of(case)
    return f"({case}) {scenario['title']}, {scenario['duration']}"


UNITS = {"s": 1.0, "ms": 1e-3, "Mbit/s": 1e6, "Gbit/s": 1e9, "packets": 1.0}


def quantity(text: str) -> float:
    """A quantity of a benchmark scenario in s, bit/s or packets."""
    number, unit = text.split()
    return float(number) * UNITS[unit]


def build() -> str:
    """Build our program that runs one case, and return its path."""
    command = ["cargo", "bench", "-p", "rtolab-py", "--bench", "cases", "--no-run", "--quiet"]
    for line in output([*command, "--message-format=json"], **as_maturin()).splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "cases":
            return str(message["executable"])
    raise BenchError(f"`{' '.join(command)}` built no program")


def as_maturin() -> dict[str, str]:
    """The variables with which maturin has built the extension; none before it has.

    With others cargo would compile PyO3 again, here and at the next build of the extension.
    """
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    files = sorted((target / "maturin").glob("pyo3-config-*.txt"))
    return {"PYO3_CONFIG_FILE": str(files[-1])} if files else {}


def run(command: list[str]) -> Run:
    """Run a program that prints its cost.

    Raises:
        BenchError: it is missing, it failed, or its output is different.
    """
    return Run.printed(output(command))


def output(command: list[str], **variables: str) -> str:
    """The output of a program, with these variables added to its environment.

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
