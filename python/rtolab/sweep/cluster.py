"""Chunks on the workers of a Dask cluster."""

import io
import logging
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import polars as pl

from rtolab._rtolab import Error
from rtolab.sweep.chunks import Chunk, PlannedChunk
from rtolab.sweep.compute import ChunkFiles, ChunkTables, compute, program
from rtolab.sweep.engine import RefusedError
from rtolab.sweep.inputs import Inputs

ADDRESS = re.compile(r"((tcp|tls|ws|wss)://)?[^/]+:\d+")
FEWEST_AHEAD, MOST_AHEAD = 64, 2048
"""Bounds of the number of chunks in flight, whatever the number of workers at the start."""
ANSWER_S = 10
"""The longest wait for an answer of the scheduler, in seconds."""


class Cluster:
    """The workers of a Dask scheduler, including those that join later.

    If a worker is lost, another one computes its unfinished chunks.
    """

    def __init__(self, address: str, *, say: Callable[[str], object]) -> None:
        """Connects, waits for a worker, and compares the versions of rtolab.

        Args:
            address: of the scheduler, such as tcp://head:8786.
            say: called with messages about what the cluster waits for.

        Raises:
            RefusedError: no scheduler answers, or a worker has another rtolab.
            Error: the package `distributed` is missing.
        """
        try:
            from distributed import Client  # noqa: PLC0415
        except ImportError:
            wants = f"install it:  {sys.executable} -m pip install distributed"
            raise Error(f"--dask needs the package distributed; {wants}") from None
        # The error that we raise for a lost scheduler contains what the client would log.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self._address = address
        expected = "expected the address of a Dask scheduler, such as tcp://head:8786"
        # With a malformed address the client never returns.
        if not ADDRESS.fullmatch(address):
            raise RefusedError(f"--dask: found {address}; {expected}")
        try:
            self._client: Any = Client(address, timeout=ANSWER_S, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise RefusedError(f"--dask {address}: {error}; {expected}") from None
        try:
            if not self._threads():
                say(f"waiting for a worker of {address}")
                self._client.wait_for_workers(1)
            self._compare()
            self.workers = sum(self._threads().values())
        except BaseException:
            self._client.close()
            raise

    @property
    def ahead(self) -> int:
        """Twice the number of threads, so that no thread idles."""
        return min(MOST_AHEAD, max(FEWEST_AHEAD, 2 * self.workers))

    def compute(self, inputs: Inputs, planned: PlannedChunk, share: int) -> ChunkFiles:  # noqa: ARG002
        """Computes a chunk on a worker and waits for it."""
        future: Any = None
        try:
            future = self._client.submit(
                on_worker, inputs, planned.chunk, program(), key=f"rtolab-{planned.key}"
            )
            sent, seconds = future.result()
        except Exception as error:
            if future is not None and future.status == "error":
                raise  # The worker is fine; the chunk failed.
            raise self._lost(error) from error
        tables = {name: pl.read_ipc_stream(table) for name, table in sent.items()}
        return ChunkTables(tables, seconds).packed()

    def stop(self) -> None:
        """Leaves the cluster, which drops the chunks that have not begun."""
        self._client.close()

    def _threads(self) -> dict[str, int]:
        return dict(self._client.nthreads())

    def _compare(self) -> None:
        """Raises RefusedError unless all workers run the rtolab of this process."""
        found: dict[str, list[str]] = defaultdict(list)
        for worker, answer in self._client.run(program, on_error="return").items():
            if answer != program():
                found[_version_text(answer)].append(worker)
        if found:
            others = "; ".join(f"{what} on {', '.join(who)}" for what, who in found.items())
            raise RefusedError(_mismatch(others))

    def _lost(self, error: Exception) -> RefusedError:
        kept = "what is finished is kept, and the same command continues from there"
        return RefusedError(f"the scheduler at {self._address} is gone ({error}); {kept}")


def on_worker(
    inputs: Inputs, chunk: Chunk, expected: tuple[str, str]
) -> tuple[dict[str, bytes], float]:
    """Computes a chunk; returns its tables as Arrow streams, and the seconds that it took."""
    if program() != expected:
        raise RefusedError(_mismatch(f"{_version_text(program())} on a worker that came later"))
    computed = compute(inputs, chunk)
    sent = {}
    for name, table in computed.tables.items():
        buffer = io.BytesIO()
        table.write_ipc_stream(buffer)
        sent[name] = buffer.getvalue()
    return sent, computed.seconds


def _version_text(answer: object) -> str:
    """The version that a worker reports."""
    match answer:
        case (version, extension):
            return f"rtolab {version} (extension {extension})"
        case _:
            return f"no rtolab that sweeps ({answer})"


def _mismatch(others: str) -> str:
    here = _version_text(program())
    return f"found {others}; expected what is here, {here}: results would not be comparable"
