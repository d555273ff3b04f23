"""Sweeps: a scenario over a grid of its keys, with senders and seeds, in pieces that are kept.

>>> from rtolab import sweep
>>> sweep.read("out/delays").group_by("sender").agg(pl.median("elapsed_s")).collect()
"""

from rtolab.sweep.definition import Sweep, load
from rtolab.sweep.engine import Crew, Done, Threads, run
from rtolab.sweep.store import Failure, read

__all__ = ["Crew", "Done", "Failure", "Sweep", "Threads", "load", "read", "run"]
