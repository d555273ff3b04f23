"""How fast a traced run writes its rows, and how many bytes a row takes on disk.

.venv/bin/python benches/traced.py [ROUNDS]
"""

import sys
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rtolab import run
from rtolab.files import write_table

SCENARIO, DURATION = "bench-b", "10 s"
"""Fifty flows through 100 Mbit/s: 477,000 rows of the table `segments`."""


class Traced(NamedTuple):
    """A traced run.

    Attributes:
        rows: of the table `segments`.
        run_s: CPU time of the simulation with its records, in s.
        table_s: CPU time until the table is a polars data frame, in s.
        file_s: CPU time until the table is a Parquet file, in s.
        wall_s: wall time of all three, in s.
        size: of the file, in B.
    """

    rows: int
    run_s: float
    table_s: float
    file_s: float
    wall_s: float
    size: int


def traced(folder: Path) -> Traced:
    """Run it once."""
    file = folder / "segments.parquet"
    times, began = [time.process_time()], time.perf_counter()
    done = run(SCENARIO, set={"duration": DURATION}, trace=True)
    times.append(time.process_time())
    segments = done.segments
    times.append(time.process_time())
    write_table(file, segments)
    times.append(time.process_time())
    wall = time.perf_counter() - began
    run_s, table_s, file_s = (after - before for before, after in pairwise(times))
    return Traced(segments.height, run_s, table_s, file_s, wall, file.stat().st_size)


def main() -> None:
    """Print the best of several rounds."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with TemporaryDirectory() as folder:
        each = [traced(Path(folder)) for _ in range(rounds)]
    rows, size = each[0].rows, each[0].size
    run_s, table_s, file_s, wall_s = (min(times) for times in list(zip(*each, strict=True))[1:5])
    cpu_s = run_s + table_s + file_s
    sys.stdout.write(
        f"{rows:,} rows, {size / rows:.1f} B a row on disk\n"
        f"CPU time: run {run_s:.3f} s, table {table_s:.3f} s, file {file_s:.3f} s\n"
        f"{rows / cpu_s / 1e6:.2f} million rows a second of CPU time, "
        f"{rows / wall_s / 1e6:.2f} million a second of wall time\n"
    )


if __name__ == "__main__":
    main()
