"""Computing what is missing of a sweep."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rtolab._rtolab import Error
from rtolab.sweep.chunks import Piece, Plan
from rtolab.sweep.compute import Packed, compute, program
from rtolab.sweep.definition import Sweep
from rtolab.sweep.inputs import Inputs, inputs
from rtolab.sweep.store import Failure, NotKeptError, Store

if TYPE_CHECKING:
    from rtolab.sweep.until import Settled

    Progress = Callable[[int, int], object]


AWAKE_S = 0.2
"""Whoever waits for chunks looks up so often, in seconds."""


class StoppedError(Error):
    """The sweep ends before this chunk is done."""


class RefusedError(Error):
    """The workers cannot do this sweep, or are gone."""


class Crew(Protocol):
    """Who computes chunks."""

    @property
    def workers(self) -> int:
        """How many chunks are computed at a time."""

    @property
    def ahead(self) -> int:
        """How many chunks are asked for at a time, so that nobody waits for work."""

    @property
    def turn(self) -> AbstractContextManager[object]:
        """Held while a chunk is computed and written, but not while the disk is waited for."""

    def compute(self, inputs: Inputs, piece: Piece, share: int) -> Packed:
        """Computes a chunk, while `share` chunks want to be computed; waits for it."""

    def stop(self) -> None:
        """Whoever computes, stops soon."""


class Threads:
    """The threads of this process: runs hold no lock of Python's.

    A thread a chunk; where there are fewer chunks than threads, a chunk has several.
    """

    def __init__(self, jobs: int | None) -> None:
        self.workers = jobs or len(os.sched_getaffinity(0))
        self.turn = threading.Semaphore(self.workers)
        self._stopped = threading.Event()

    @property
    def ahead(self) -> int:
        """Twice as many as there are threads: while one waits for the disk, another is computed."""
        return 2 * self.workers

    def compute(self, inputs: Inputs, piece: Piece, share: int) -> Packed:
        """Computes a chunk."""
        jobs = max(1, self.workers // max(1, share))
        self._watch(0, len(piece.chunk.seeds))
        return compute(inputs, piece.chunk, jobs=jobs, progress=self._watch).packed()

    def stop(self) -> None:
        """Runs that have begun end; no others begin."""
        self._stopped.set()

    def _watch(self, _done: int, _total: int) -> None:
        if self._stopped.is_set():
            raise StoppedError("stopped")


@dataclass
class Done:
    """What came of a sweep.

    Attributes:
        pieces: the finished ones, by cell and block.
        computed: how many of them were computed now.
        failures: those that could not be.
        settled: with `until`, how far each cell came, by cell.
        seconds: how long it took.
    """

    pieces: dict[tuple[int, int], Piece] = field(default_factory=dict)
    computed: int = 0
    failures: list[Failure] = field(default_factory=list)
    settled: dict[int, Settled] = field(default_factory=dict)
    seconds: float = 0.0

    def told(self) -> list[str]:
        """What came of it, in a few lines."""
        kept = len(self.pieces) - self.computed
        finished = f"{len(self.pieces)} chunks are finished"
        lines = [f"{finished}: {self.computed} computed, {kept} kept from before"]
        if self.settled:
            narrow = sum(settled.narrow for settled in self.settled.values())
            lines.append(f"{narrow} of {len(self.settled)} cells are as precise as asked")
        return lines + [f"failed: {one.about}: {one.error}" for one in self.failures]

    def _repr_html_(self) -> str:
        from rich.text import Text  # noqa: PLC0415  (only notebooks ask)

        from rtolab.notebook import html  # noqa: PLC0415

        return html(Text("\n".join(self.told())))


def plan_of(sweep: Sweep) -> tuple[Plan, Inputs]:
    """What there is to do, with the files that it reads."""
    read = inputs(sweep)
    return Plan(sweep, (*program(), read.key)), read


def run(sweep: Sweep, out: Path, crew: Crew, progress: Progress | None = None) -> Done:
    """Compute what is missing, and write the manifest.

    Args:
        sweep: what is to be computed.
        out: the folder; what is finished there is not computed again.
        crew: who computes.
        progress: called with the chunks done and the chunks known of.

    Raises:
        NotKeptError: something cannot be written; what was finished is kept.
        RefusedError: the workers cannot do it.
        Error: the sweep is wrong.
    """
    plan, read = plan_of(sweep)
    store = Store(out)
    with store.opened(crew.workers):
        work = _Work(plan, read, store, crew)
        began = time.monotonic()
        try:
            work.do(progress or (lambda _done, _total: None))
        except BaseException:
            # That it ends is what is to be told, not that it cannot write the manifest either.
            with suppress(NotKeptError):
                work.conclude()
            raise
        work.conclude()
        work.done.seconds = time.monotonic() - began
    return work.done


class _Work:
    def __init__(self, plan: Plan, read: Inputs, store: Store, crew: Crew) -> None:
        self._plan, self._inputs, self._store, self._crew = plan, read, store, crew
        # Cells with blocks: what they hold is put together while others are computed.
        self._ready: deque[tuple[int, int]] = deque()
        self._running: dict[Future[None], Piece] = {}
        self._cut_short = True
        self.done = Done()

    def do(self, progress: Progress) -> None:
        blocks = self._plan.blocks if self._plan.sweep.until is None else 1
        self._ready.extend(product(range(self._plan.cells), range(blocks)))
        with ThreadPoolExecutor(self._crew.ahead) as pool:
            try:
                while self._ready or self._running:
                    self._submit(pool)
                    self._collect()
                    ended = len(self.done.pieces) + len(self.done.failures)
                    progress(ended, ended + len(self._running) + len(self._ready))
            except BaseException:
                self._crew.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        self._cut_short = False

    def _submit(self, pool: ThreadPoolExecutor) -> None:
        while self._ready and len(self._running) < self._crew.ahead:
            piece = self._plan.piece(*self._ready.popleft())
            if self._store.fetch(piece):
                self._finished(piece)
            else:
                share = len(self._ready) + len(self._running) + 1
                self._running[pool.submit(self._compute, piece, share)] = piece

    def _compute(self, piece: Piece, share: int) -> None:
        with self._crew.turn:
            self._store.write(piece, self._crew.compute(self._inputs, piece, share))
        self._store.finish(piece)

    def _collect(self) -> None:
        # Once Polars is loaded a wait without end does not hear Ctrl-C.
        ended: set[Future[None]] = set()
        while self._running and not ended:
            ended = wait(self._running, AWAKE_S, return_when=FIRST_COMPLETED).done
        for future in ended:
            piece = self._running.pop(future)
            error = future.exception()
            match error:
                case None:
                    self.done.computed += 1
                    self._finished(piece)
                case NotKeptError() | RefusedError() | StoppedError():
                    raise error
                case Exception():
                    told = f"{type(error).__name__}: {error}"
                    self._store.fail(piece, told)
                    self.done.failures.append(Failure(piece.key, piece.chunk.about, told))
                case _:
                    raise error

    def _finished(self, piece: Piece) -> None:
        self.done.pieces[piece.cell, piece.block] = piece
        if self._plan.sweep.until is None:
            return
        from rtolab.sweep import until  # noqa: PLC0415  (what it needs takes long to load)

        settled = until.settle(self._plan, self._store, piece)
        self.done.settled[piece.cell] = settled
        if not settled.narrow and piece.block + 1 < self._plan.blocks:
            self._ready.append((piece.cell, piece.block + 1))

    def conclude(self) -> None:
        """Write the manifest; where nothing is left to do, what has no place in it goes aside."""
        sweep, done = self._plan.sweep, self.done
        # Of a sweep that is cut short there may be more than was looked at until then.
        every = self._plan.pieces() if self._cut_short and sweep.until is None else self._pieces()
        pieces = [piece for piece in every if self._store.has(piece)]
        facts: dict[str, Any] = {
            "complete": not done.failures and not self._cut_short,
            "made_of": list(self._plan.made_of),
            "scenario": str(sweep.scenario),
            "senders": list(sweep.senders),
            "points": [dict(point.columns) for point in sweep.points],
            "tables": list(sweep.tables),
        }
        self._store.write_manifest(pieces, facts)
        if not self._cut_short:
            self._store.set_aside({piece.key for piece in pieces})

    def _pieces(self) -> list[Piece]:
        return [piece for _, piece in sorted(self.done.pieces.items(), key=itemgetter(0))]
