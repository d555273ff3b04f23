"""Computation of the missing chunks of a sweep."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.process import processors
from rtolab.sweep.chunks import Plan, PlannedChunk
from rtolab.sweep.compute import ChunkFiles, compute, program
from rtolab.sweep.definition import Sweep
from rtolab.sweep.inputs import Inputs, inputs
from rtolab.sweep.shard import Shard
from rtolab.sweep.store import Failure, NotKeptError, Store

if TYPE_CHECKING:
    from rtolab.sweep.until import CellState

    Progress = Callable[[int, int], object]


AWAKE_S = 0.2
"""How often a wait for chunks checks for signals, in seconds."""


class StoppedError(Error):
    """The sweep ended before this chunk was done."""


class RefusedError(Error):
    """The workers cannot compute this sweep, or are gone."""


class WorkerPool(Protocol):
    """Workers that compute chunks."""

    @property
    def workers(self) -> int:
        """The number of chunks that are computed at a time."""

    @property
    def ahead(self) -> int:
        """The number of chunks in flight, such that no worker idles."""

    def compute(self, inputs: Inputs, planned: PlannedChunk, share: int) -> ChunkFiles:
        """Computes a chunk and waits for it; `share` chunks compete for the workers."""

    def stop(self) -> None:
        """Stops the workers soon."""


class Threads:
    """The threads of this process: runs release the GIL.

    Each chunk has one thread, or several if there are fewer chunks than threads.
    """

    def __init__(self, jobs: int | None) -> None:
        self.workers = jobs or processors()
        self._stopped = threading.Event()

    @property
    def ahead(self) -> int:
        """The number of threads."""
        return self.workers

    def compute(self, inputs: Inputs, planned: PlannedChunk, share: int) -> ChunkFiles:
        """Computes a chunk."""
        jobs = max(1, self.workers // max(1, share))
        self._watch(0, len(planned.chunk.seeds))
        return compute(inputs, planned.chunk, jobs=jobs, progress=self._watch).packed()

    def stop(self) -> None:
        """Ends the current runs; no others begin."""
        self._stopped.set()

    def _watch(self, _done: int, _total: int) -> None:
        if self._stopped.is_set():
            raise StoppedError("stopped")


@dataclass
class SweepOutcome:
    """The outcome of a sweep.

    Attributes:
        finished: the finished chunks, by cell and block.
        computed: the number of those that this call computed.
        failures: the chunks that failed.
        settled: with `until`, the progress of each cell, by cell.
        seconds: the time that it took.
    """

    finished: dict[tuple[int, int], PlannedChunk] = field(default_factory=dict)
    computed: int = 0
    failures: list[Failure] = field(default_factory=list)
    settled: dict[int, CellState] = field(default_factory=dict)
    seconds: float = 0.0

    def summary(self) -> list[str]:
        """The outcome in a few lines."""
        kept = len(self.finished) - self.computed
        finished = f"{len(self.finished)} chunks are finished"
        lines = [f"{finished}: {self.computed} computed, {kept} kept from before"]
        if self.settled:
            narrow = sum(settled.narrow for settled in self.settled.values())
            lines.append(f"{narrow} of {len(self.settled)} cells are as precise as requested")
        return lines + [f"failed: {one.about}: {one.error}" for one in self.failures]

    def _repr_html_(self) -> str:
        from rich.text import Text  # noqa: PLC0415  (only notebooks ask)

        from rtolab.notebook import html  # noqa: PLC0415

        return html(Text("\n".join(self.summary())))


def plan_of(sweep: Sweep) -> tuple[Plan, Inputs]:
    """The plan of a sweep, and the files that its runs read."""
    read = inputs(sweep)
    return Plan(sweep, (*program(), read.key)), read


def run(
    sweep: Sweep,
    out: Path,
    worker_pool: WorkerPool,
    progress: Progress | None = None,
    *,
    shard: Shard | None = None,
) -> SweepOutcome:
    """Compute the missing chunks, and write the manifest.

    Args:
        sweep: the definition.
        out: the folder; its finished chunks are not computed again.
        worker_pool: the workers.
        progress: called with the chunks done and the chunks known of.
        shard: compute only this part, beside other processes that compute other parts in the same
            folder, and write no manifest: a later call without `shard` does. With `until`, a shard
            has whole cells.

    Raises:
        NotKeptError: something cannot be written; finished chunks are kept.
        RefusedError: the workers cannot compute it.
        Error: the sweep is wrong.
    """
    plan, read = plan_of(sweep)
    store = Store(out, shard)
    with store.opened(worker_pool.workers):
        work = _Work(plan, read, store, worker_pool)
        began = time.monotonic()
        try:
            work.do(progress or (lambda _done, _total: None))
        except BaseException:
            # Report the first error, not that the manifest cannot be written either.
            with suppress(NotKeptError):
                work.conclude()
            raise
        work.conclude()
        work.done.seconds = time.monotonic() - began
    return work.done


@contextmanager
def _interrupting_prototypes() -> Iterator[None]:
    """Ends calls of prototypes in other threads, also those that begin only now."""
    over = threading.Event()

    def interrupt() -> None:
        while not over.wait(0.1):
            _rtolab.interrupt_prototypes()

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        yield
    finally:
        over.set()


class _Work:
    def __init__(self, plan: Plan, read: Inputs, store: Store, worker_pool: WorkerPool) -> None:
        self._plan, self._inputs, self._store, self._worker_pool = plan, read, store, worker_pool
        # (cell, block) pairs; their chunks are built while others are computed.
        self._ready: deque[tuple[int, int]] = deque()
        self._running: dict[Future[None], PlannedChunk] = {}
        self._cut_short = True
        self.done = SweepOutcome()

    def do(self, progress: Progress) -> None:
        blocks = self._plan.blocks if self._plan.sweep.until is None else 1
        every = product(range(self._plan.cells), range(blocks))
        shard = self._store.shard
        self._ready.extend(shard.part(every) if shard else every)
        with ThreadPoolExecutor(self._worker_pool.ahead) as pool:
            try:
                while self._ready or self._running:
                    self._submit(pool)
                    self._collect()
                    ended = len(self.done.finished) + len(self.done.failures)
                    progress(ended, ended + len(self._running) + len(self._ready))
            except BaseException:
                self._worker_pool.stop()
                with _interrupting_prototypes():
                    pool.shutdown(cancel_futures=True)
                raise
        self._cut_short = False

    def _submit(self, pool: ThreadPoolExecutor) -> None:
        while self._ready and len(self._running) < self._worker_pool.ahead:
            planned = self._plan.chunk(*self._ready.popleft())
            if self._store.fetch(planned):
                self._finished(planned)
            else:
                share = len(self._ready) + len(self._running) + 1
                self._running[pool.submit(self._compute, planned, share)] = planned

    def _compute(self, planned: PlannedChunk, share: int) -> None:
        self._store.write(planned, self._worker_pool.compute(self._inputs, planned, share))

    def _collect(self) -> None:
        # With Polars loaded, a wait without a timeout ignores Ctrl-C.
        ended: set[Future[None]] = set()
        while self._running and not ended:
            ended = wait(self._running, AWAKE_S, return_when=FIRST_COMPLETED).done
        for future in ended:
            planned = self._running.pop(future)
            error = future.exception()
            match error:
                case None:
                    self.done.computed += 1
                    self._finished(planned)
                case NotKeptError() | RefusedError() | StoppedError():
                    raise error
                case Exception():
                    message = f"{type(error).__name__}: {error}"
                    self._store.fail(planned, message)
                    self.done.failures.append(Failure(planned.key, planned.chunk.about, message))
                case _:
                    raise error

    def _finished(self, planned: PlannedChunk) -> None:
        self.done.finished[planned.cell, planned.block] = planned
        if self._plan.sweep.until is None:
            return
        from rtolab.sweep import until  # noqa: PLC0415  (what it needs takes long to load)

        settled = until.settle(self._plan, self._store, planned)
        self.done.settled[planned.cell] = settled
        if not settled.narrow and planned.block + 1 < self._plan.blocks:
            self._ready.append((planned.cell, planned.block + 1))

    def conclude(self) -> None:
        """Write the manifest; if the sweep is complete, set aside the chunks that are not in it."""
        if self._store.shard:
            return
        sweep, done = self._plan.sweep, self.done
        # An interrupted sweep may have finished chunks that it has not reached yet.
        every = (
            self._plan.chunks()
            if self._cut_short and sweep.until is None
            else self._finished_in_order()
        )
        chunks = [planned for planned in every if self._store.has(planned)]
        facts: dict[str, Any] = {
            "complete": not done.failures and not self._cut_short,
            "made_of": list(self._plan.made_of),
            "scenario": str(sweep.scenario),
            "senders": list(sweep.senders),
            "points": [dict(point.columns) for point in sweep.points],
            "tables": list(sweep.tables),
        }
        self._store.write_manifest(chunks, facts)
        if not self._cut_short:
            self._store.set_aside({planned.key for planned in chunks})

    def _finished_in_order(self) -> list[PlannedChunk]:
        return [planned for _, planned in sorted(self.done.finished.items(), key=itemgetter(0))]
