"""Worker processes: each request has one to itself, which is killed when its time is up."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rtolab._rtolab import Error

if TYPE_CHECKING:
    from rtolab.serve.limits import Limits

LENGTH = 8
"""The size of a message's length prefix, in bytes."""
START_S = 60.0
"""The longest start of a process, in seconds."""
SINGLE_THREADED = ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


class Kind(Enum):
    """Kinds of answers."""

    DONE = 0
    WRONG = 1
    DEFECT = 2
    EXHAUSTED = 3
    """The machine has run out of disk space or descriptors."""


class BusyError(Error):
    """All processes are busy, and the queue is full."""


class StoppedError(Error):
    """A request exceeded its time or memory."""


@dataclass(frozen=True)
class Answer:
    """The answer of a worker: the result, or a `Fault` as JSON."""

    kind: Kind
    body: bytes


@dataclass
class Pool:
    """The workers, and the queue for them.

    Attributes:
        limits: of each request.
        folder: the workers' files, deleted at the end.
    """

    limits: Limits
    folder: Path
    _idle: asyncio.Queue[_Worker | None] = field(default_factory=asyncio.Queue)
    """`None` stands for a worker that could not be started."""
    _all: set[_Worker] = field(default_factory=set)
    _waiting: int = 0

    async def start(self) -> None:
        """Start the processes before the first request."""
        for _ in range(self.limits.at_once):
            await self._begin()

    async def stop(self) -> None:
        """Kill all processes."""
        for worker in list(self._all):
            await self._end(worker)

    async def ask(self, job: str, parameters: Mapping[str, Any], seconds: float) -> Answer:
        """Run a job on a worker.

        Raises:
            BusyError: the queue is full.
            StoppedError: the job exceeded its time or memory.
            OSError: no process could be started.
        """
        if self._waiting >= self.limits.queue:
            raise BusyError("the server is busy: too many requests wait already; try again soon")
        self._waiting += 1
        try:
            worker = await self._one()
        finally:
            self._waiting -= 1
        keeps = False
        try:
            await worker.ready()
            answer, is_spent = await asyncio.wait_for(worker.ask(job, parameters, seconds), seconds)
            keeps = not is_spent
        except TimeoutError:
            raise StoppedError(_too_long(seconds)) from None
        except (asyncio.IncompleteReadError, ConnectionError):
            raise StoppedError(_too_large(self.limits)) from None
        else:
            return answer
        finally:
            if keeps:
                self._idle.put_nowait(worker)
            else:
                with suppress(OSError):  # The next request tries again.
                    await asyncio.shield(self._replace(worker))

    async def _one(self) -> _Worker:
        """The next free worker; replaces one that has died."""
        worker = await self._idle.get()
        while worker is None or worker.process.returncode is not None:
            await self._replace(worker)
            worker = await self._idle.get()
        return worker

    async def _replace(self, worker: _Worker | None) -> None:
        if worker is not None:
            await self._end(worker)
        try:
            await self._begin()
        except OSError:
            self._idle.put_nowait(None)
            raise

    async def _begin(self) -> None:
        worker = await _Worker.begun(self.limits, Path(tempfile.mkdtemp(dir=self.folder)))
        self._all.add(worker)
        self._idle.put_nowait(worker)

    async def _end(self, worker: _Worker) -> None:
        self._all.discard(worker)
        await worker.end()


def _too_long(seconds: float) -> str:
    return (
        f"it was stopped after {seconds:g} s, the longest that a request may take here; make the "
        "scenario shorter (duration) or smaller (bytes), or ask for fewer senders"
    )


def _too_large(limits: Limits) -> str:
    return (
        f"it was stopped: it needed more memory than the {limits.memory // 1_000_000} MB that a "
        "request may take here; make the scenario shorter (duration) or smaller (bytes), or ask "
        "for fewer senders"
    )


@dataclass(eq=False)
class _Worker:
    """A process, and its two pipes."""

    process: asyncio.subprocess.Process
    writer: asyncio.StreamWriter
    reader: asyncio.StreamReader
    is_ready: bool = False

    @classmethod
    async def begun(cls, limits: Limits, folder: Path) -> Self:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "rtolab.serve.worker", folder),
            *(str(number) for number in (limits.memory, limits.spent)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | dict.fromkeys(SINGLE_THREADED, "1"),
            start_new_session=True,  # Ctrl-C reaches only the server, which ends its workers.
        )
        if process.stdin is None or process.stdout is None:
            raise Error("a worker has no pipes")
        return cls(process, process.stdin, process.stdout)

    async def ask(
        self, job: str, parameters: Mapping[str, Any], seconds: float
    ) -> tuple[Answer, bool]:
        message = json.dumps({"job": job, "parameters": parameters, "seconds": seconds}).encode()
        self.writer.write(len(message).to_bytes(LENGTH, "little") + message)
        await self.writer.drain()
        length = int.from_bytes(await self.reader.readexactly(LENGTH), "little")
        body = await self.reader.readexactly(length)
        return Answer(Kind(body[0]), body[2:]), bool(body[1])

    async def ready(self) -> None:
        """Wait until it is ready; this does not count towards a request's time."""
        if self.is_ready:
            return
        try:
            await asyncio.wait_for(self.reader.readexactly(LENGTH), START_S)
        except (TimeoutError, asyncio.IncompleteReadError):
            raise StoppedError("a process for this could not be started; try again") from None
        self.is_ready = True

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        # Close the pipes now; later the event loop may be gone.
        self.writer.close()
