"""Progress of a sweep, read from its folder, whichever process works on it."""

import math
from dataclasses import dataclass
from pathlib import Path

from rtolab.process import processors
from rtolab.sweep import until
from rtolab.sweep.chunks import Plan, PlannedChunk
from rtolab.sweep.definition import Sweep
from rtolab.sweep.engine import plan_of
from rtolab.sweep.store import Failure, Store


@dataclass(frozen=True)
class Status:
    """Progress of a sweep.

    Attributes:
        finished: the number of finished chunks, with those that the next run restores.
        total: the number of all chunks; with `until`, the most for cells whose interval is still
            too wide.
        settled: with `until`, the number of cells that need no more runs; else None.
        cells: the number of cells.
        running: the number of workers that are active now.
        eta_s: the estimated time left, in seconds; None before the first chunk is finished.
            With `until`, it assumes that an interval narrows with the root of the runs.
        failures: chunks whose last attempt failed.
    """

    finished: int
    total: int
    settled: int | None
    cells: int
    running: int
    eta_s: float | None
    failures: tuple[Failure, ...]


def status(sweep: Sweep, out: Path) -> Status:
    """The progress of a sweep; changes nothing.

    Raises:
        Error: the sweep is wrong.
    """
    plan, _ = plan_of(sweep)
    store = Store(out)
    chunks = list(plan.chunks())
    finished = [planned for planned in chunks if store.is_kept(planned)]
    failed = (store.failure(planned) for planned in chunks if not store.is_kept(planned))
    failures = tuple(failure for failure in failed if failure)
    total, left, settled = len(chunks), float(len(chunks) - len(finished)), None
    if sweep.until is not None:
        cells = [_cell(plan, store, cell) for cell in range(plan.cells)]
        settled = sum(cell.left == 0 for cell in cells)
        left = sum(cell.left for cell in cells)
        total = sum(cell.total for cell in cells)
        finished = [planned for cell in cells for planned in cell.finished]
    running = store.workers()
    eta = None
    if finished and left:
        mean = sum(store.seconds(planned) for planned in finished) / len(finished)
        eta = mean * left / (running or processors())
    elif not left:
        eta = 0.0
    return Status(len(finished), total, settled, plan.cells, running, eta, failures)


@dataclass(frozen=True)
class _Cell:
    finished: tuple[PlannedChunk, ...]
    total: int
    left: float


def _cell(plan: Plan, store: Store, cell: int) -> _Cell:
    finished: list[PlannedChunk] = []
    for block in range(plan.blocks):
        planned = plan.chunk(cell, block)
        if not store.is_kept(planned):
            break
        finished.append(planned)
    most = plan.blocks
    if not finished:
        return _Cell((), most, float(most))
    settled = until.settle(plan, store, finished[-1])
    if settled.narrow or len(finished) == most:
        return _Cell(tuple(finished), len(finished), 0.0)
    return _Cell(tuple(finished), most, _expected(plan, settled, most - len(finished)))


def _expected(plan: Plan, settled: until.CellState, most: int) -> float:
    """The blocks that a cell needs if its interval narrows with the root of its runs."""
    goal, estimate = plan.sweep.until, settled.estimate
    if goal is None or estimate is None or not estimate.value:
        return float(most)
    times = (estimate.high - estimate.low) / (goal.relative * abs(estimate.value))
    runs = settled.runs * (times**2 - 1)
    return float(min(most, max(1, math.ceil(runs / plan.sweep.block))))
