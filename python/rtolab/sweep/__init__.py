"""Sweeps: a scenario over a grid of its keys, with senders and seeds, in chunks on disk.

>>> from rtolab import sweep
>>> sweep.read("out/delays").group_by("sender").agg(pl.median("elapsed_s")).collect()
"""

from rtolab.sweep.definition import Sweep, load
from rtolab.sweep.engine import SweepOutcome, Threads, WorkerPool, run
from rtolab.sweep.shard import Shard
from rtolab.sweep.store import Failure, read, tables

__all__ = [
    "Failure",
    "Shard",
    "Sweep",
    "SweepOutcome",
    "Threads",
    "WorkerPool",
    "load",
    "read",
    "run",
    "tables",
]
