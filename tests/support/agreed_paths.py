"""Random paths on which the engine sent the same packets as a kernel, as hashes of its packets.

`python tests/support/agreed_paths.py` compares all paths with the kernel again (`rtolab kernel
build 6.12`), and records those that agree. It prints the others.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from kernel_differences import BLOCKS, all_compared, on_engine, scenario
from recorded_results import hashed
from rtolab import kernel

FILE = Path(__file__).parents[1] / "agreed_paths.json"
KERNEL = "6.12"
HZ = 1000
"""Its tick."""
DRAWN = range(1, 501)
"""The paths that were drawn, by seed."""
COLUMNS = ["place", "at_s", "seq", "len", "ack", "retransmission", "flags", *BLOCKS]


@cache
def agreed() -> dict[str, str]:
    """The hashes of the engine's packets, by the path's seed."""
    found: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def packets(seed: int, folder: Path) -> str:
    """The hash of what the engine sends on a path."""
    path = folder / f"{seed}.toml"
    path.write_text(scenario(seed), encoding="utf-8")
    return hashed(on_engine(path, seed, HZ).segments.filter(pl.col("event") == "sent"), COLUMNS)


def different(seeds: Iterable[str], folder: Path) -> Iterator[int]:
    """The paths on which the engine does not send what it sent when it agreed."""
    return (int(seed) for seed in seeds if packets(int(seed), folder) != agreed()[seed])


def record() -> None:
    """Write the file again, and print the paths that are not in it."""
    found = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        for seed, difference in all_compared(DRAWN, kernel.find(KERNEL), folder):
            if difference:
                print(f"{seed}: {difference.place}: {difference.kind}")  # noqa: T201
            else:
                found[str(seed)] = packets(seed, folder)
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
