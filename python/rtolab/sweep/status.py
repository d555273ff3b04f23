"""How far a sweep is, told from its folder, whoever works on it."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

from rtolab.sweep import until
from rtolab.sweep.chunks import Piece, Plan
from rtolab.sweep.definition import Sweep
from rtolab.sweep.engine import plan_of
from rtolab.sweep.store import Failure, Store


@dataclass(frozen=True)
class Status:
    """How far a sweep is.

    Attributes:
        finished: chunks.
        total: chunks that there will be; with `until` the most that there may be of cells whose
            interval is not yet narrow.
        settled: with `until`, cells that need no more runs; else None.
        cells: how many there are.
        running: how many workers are at it now.
        eta_s: how long the rest is likely to take, in seconds; None before a chunk is finished.
            With `until`, taking it that an interval narrows with the root of the runs.
        failures: chunks that could not be computed when they were last tried.
    """

    finished: int
    total: int
    settled: int | None
    cells: int
    running: int
    eta_s: float | None
    failures: tuple[Failure, ...]


def status(sweep: Sweep, out: Path) -> Status:
    """How far a sweep is; changes nothing.

    Raises:
        Error: the sweep is wrong.
    """
    plan, _ = plan_of(sweep)
    store = Store(out)
    pieces = list(plan.pieces())
    finished = [piece for piece in pieces if store.has(piece)]
    failed = (store.failure(piece) for piece in pieces if not store.has(piece))
    failures = tuple(failure for failure in failed if failure)
    total, left, settled = len(pieces), float(len(pieces) - len(finished)), None
    if sweep.until is not None:
        cells = [_cell(plan, store, cell) for cell in range(plan.cells)]
        settled = sum(cell.left == 0 for cell in cells)
        left = sum(cell.left for cell in cells)
        total = sum(cell.total for cell in cells)
        finished = [piece for cell in cells for piece in cell.finished]
    running = store.workers()
    eta = None
    if finished and left:
        mean = sum(store.seconds(piece) for piece in finished) / len(finished)
        eta = mean * left / (running or len(os.sched_getaffinity(0)))
    elif not left:
        eta = 0.0
    return Status(len(finished), total, settled, plan.cells, running, eta, failures)


@dataclass(frozen=True)
class _Cell:
    finished: tuple[Piece, ...]
    total: int
    left: float


def _cell(plan: Plan, store: Store, cell: int) -> _Cell:
    finished: list[Piece] = []
    for block in range(plan.blocks):
        piece = plan.piece(cell, block)
        if not store.has(piece):
            break
        finished.append(piece)
    most = plan.blocks
    if not finished:
        return _Cell((), most, float(most))
    settled = until.settle(plan, store, finished[-1])
    if settled.narrow or len(finished) == most:
        return _Cell(tuple(finished), len(finished), 0.0)
    return _Cell(tuple(finished), most, _expected(plan, settled, most - len(finished)))


def _expected(plan: Plan, settled: until.Settled, most: int) -> float:
    """Blocks that a cell will need, if its interval narrows with the root of its runs."""
    asked, estimate = plan.sweep.until, settled.estimate
    if asked is None or estimate is None or not estimate.value:
        return float(most)
    times = (estimate.high - estimate.low) / (asked.relative * abs(estimate.value))
    runs = settled.runs * (times**2 - 1)
    return float(min(most, max(1, math.ceil(runs / plan.sweep.block))))
