"""Chunks on the workers of a Dask cluster."""

import io
import logging
import re
from collections import defaultdict
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import polars as pl

from rtolab._rtolab import Error
from rtolab.sweep.chunks import Chunk, Piece
from rtolab.sweep.compute import Computed, Packed, compute, program
from rtolab.sweep.engine import RefusedError
from rtolab.sweep.inputs import Inputs

ADDRESS = re.compile(r"((tcp|tls|ws|wss)://)?[^/]+:\d+")
FEWEST_AHEAD, MOST_AHEAD = 64, 2048
"""Chunks asked for at a time, however few or many workers there are when the sweep begins."""
ANSWER_S = 10
"""How long a scheduler may take to answer."""


class Cluster:
    """The workers of a Dask scheduler, those that come later included.

    What a worker that is lost had not handed over is computed again by another.
    """

    def __init__(self, address: str, *, say: Callable[[str], object]) -> None:
        """Connects, waits for a worker, and compares what programs they run.

        Args:
            address: of the scheduler, such as tcp://head:8786.
            say: told what is waited for.

        Raises:
            RefusedError: no scheduler answers, or a worker has another rtolab.
            Error: the package `distributed` is missing.
        """
        try:
            from distributed import Client  # noqa: PLC0415
        except ImportError:
            wants = "--dask needs the package distributed; install it:  pip install 'rtolab[dask]'"
            raise Error(wants) from None
        # All that the client logs of a lost scheduler is in the error that is raised for it.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self._address = address
        expected = "expected the address of a Dask scheduler, such as tcp://head:8786"
        # A client that finds out for itself never ends.
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
        """Twice as many as there are threads, so that none waits for its next."""
        return min(MOST_AHEAD, max(FEWEST_AHEAD, 2 * self.workers))

    @property
    def turn(self) -> nullcontext[None]:
        """Whoever waits for a worker keeps nobody else from it."""
        return nullcontext()

    def compute(self, inputs: Inputs, piece: Piece, share: int) -> Packed:  # noqa: ARG002
        """Computes a chunk on some worker; waits for it."""
        future: Any = None
        try:
            future = self._client.submit(
                on_worker, inputs, piece.chunk, program(), key=f"rtolab-{piece.key}"
            )
            sent, seconds = future.result()
        except Exception as error:
            if future is not None and future.status == "error":
                raise  # It is the chunk that failed.
            raise self._lost(error) from error
        tables = {name: pl.read_ipc_stream(table) for name, table in sent.items()}
        return Computed(tables, seconds).packed()

    def stop(self) -> None:
        """Leaves the cluster: what it has not begun it forgets."""
        self._client.close()

    def _threads(self) -> dict[str, int]:
        return dict(self._client.nthreads())

    def _compare(self) -> None:
        """Raises RefusedError unless all workers have the rtolab that is here."""
        found: dict[str, list[str]] = defaultdict(list)
        for worker, answer in self._client.run(program, on_error="return").items():
            if answer != program():
                found[_told(answer)].append(worker)
        if found:
            others = "; ".join(f"{what} on {', '.join(who)}" for what, who in found.items())
            raise RefusedError(_mismatch(others))

    def _lost(self, error: Exception) -> RefusedError:
        kept = "what is finished is kept, and the same command goes on from there"
        return RefusedError(f"the scheduler at {self._address} is gone ({error}); {kept}")


def on_worker(
    inputs: Inputs, chunk: Chunk, expected: tuple[str, str]
) -> tuple[dict[str, bytes], float]:
    """Computes a chunk; its tables as streams of Arrow's, and how long it took."""
    if program() != expected:
        raise RefusedError(_mismatch(f"{_told(program())} on a worker that came later"))
    computed = compute(inputs, chunk)
    sent = {}
    for name, table in computed.tables.items():
        buffer = io.BytesIO()
        table.write_ipc_stream(buffer)
        sent[name] = buffer.getvalue()
    return sent, computed.seconds


def _told(answer: object) -> str:
    """What a worker says that it runs."""
    match answer:
        case (version, extension):
            return f"rtolab {version} (extension {extension})"
        case _:
            return f"no rtolab that sweeps ({answer})"


def _mismatch(others: str) -> str:
    here = _told(program())
    return f"found {others}; expected what is here, {here}: results would not be comparable"
