"""Measures the parts that every packet passes, with criterion."""

import json
import tempfile
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from programs import output

BENCHES = {"rtolab-tcp": "engine", "rtolab-link": "channel", "rtolab-sim": "events"}
"""The benchmark that measures parts, by package."""


@dataclass(frozen=True)
class Part:
    """A part.

    Attributes:
        name: of its group and of itself.
        ns: the median for one element, such as a segment, in ns.
        low_ns: the lower end of the 95 % confidence interval of that, in ns.
        high_ns: the upper end.
    """

    name: str
    ns: float
    low_ns: float
    high_ns: float

    def document(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        return asdict(self)


def measure_parts() -> list[Part]:
    """All parts, in less than a minute once they are built.

    Raises:
        BenchError: they do not build, or they fail.
    """
    with tempfile.TemporaryDirectory() as folder:
        benches = [("-p", package, "--bench", bench) for package, bench in BENCHES.items()]
        output(["cargo", "bench", "--quiet", *chain(*benches)], CRITERION_HOME=folder)
        return read_parts(Path(folder))


def read_parts(folder: Path) -> list[Part]:
    """The results in criterion's output folder, sorted by name."""
    return sorted(map(read_part, folder.glob("**/new/benchmark.json")), key=lambda part: part.name)


def read_part(path: Path) -> Part:
    """A part, from criterion's description of the benchmark and its estimates."""
    benchmark = json.loads(path.read_text())
    median = json.loads(path.with_name("estimates.json").read_text())["median"]
    elements = (benchmark["throughput"] or {}).get("Elements", 1)
    interval = median["confidence_interval"]
    return Part(
        benchmark["full_id"],
        median["point_estimate"] / elements,
        interval["lower_bound"] / elements,
        interval["upper_bound"] / elements,
    )


def said_of_parts(parts: list[Part]) -> str:
    """The table of the parts that the terminal shows."""
    lines = [f"{'Parts, by criterion':<58}{'ns':>8}   95 % confidence"]
    lines += [
        f"    {part.name:<54}{part.ns:>8.1f}   {part.low_ns:.1f} to {part.high_ns:.1f}"
        for part in parts
    ]
    return "\n".join(lines)
