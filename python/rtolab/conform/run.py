"""Runs scenarios on a stack: the kernel's own TCP, or a client and a server."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TypeVar

from rtolab._rtolab import EmulationError, Error
from rtolab.conform import measure
from rtolab.conform.measure import Ended, Measured
from rtolab.conform.order import GONE, Order
from rtolab.conform.score import Score, Twin, score
from rtolab.conform.suite import SIZES, Scenario, toml
from rtolab.emulation import emulate
from rtolab.run import as_toml

Progress = Callable[[int, int], object]

Item = TypeVar("Item")

TWINS = 5
"""How many undisturbed transfers the twin is the median of."""
ASK_S = 0.1
"""How often a thread asks whether to go on."""
GRACE_S = 60.0
"""How much longer than the client may take a run may take, before it is given up."""


@dataclass(frozen=True)
class Stack:
    """What is scored.

    Attributes:
        name: what results call it.
        set: values that replace the scenarios', by dotted key: how the kernel is set.
        server: a command line for the server's host; nothing for the kernel's own TCP.
        client: program and arguments for the client's host. In both, `{server}` and `{client}` are
            addresses, `{bytes}` is how much is to be transferred, and `{files}` a folder with a
            file of each such size, named by its size.
        lead_s: how long the server may take to listen; the client begins when it does.
    """

    name: str = "kernel"
    set: Mapping[str, object] = field(default_factory=dict)
    server: str = ""
    client: Sequence[str] = ()
    lead_s: float = 10.0


class StoppedError(Error):
    """Nobody waits for the run any more."""


def conform(
    stack: Stack,
    scenarios: Sequence[Scenario],
    *,
    repeat: int = 1,
    parallel: int = 10,
    limit_s: float = 60.0,
    progress: Progress | None = None,
) -> list[Score]:
    """Score a stack, a score a scenario, in their order.

    First the undisturbed twins run, which say how long a transfer takes and where its tail is, then
    the scenarios, each on hosts of its own.

    Args:
        stack: what is scored.
        scenarios: of `suite`.
        repeat: how often each runs, on the same seed; the median is its score.
        parallel: how many at a time.
        limit_s: who takes longer hangs.
        progress: told how many are done, of how many.

    Raises:
        EmulationError: something is missing, or a kernel is not as the scenarios want it.
        Error: not even an undisturbed transfer ends, or a key or value is wrong.
    """
    twins = list({one.bytes: one.twin for one in scenarios}.values())
    total = TWINS * len(twins) + repeat * len(scenarios)
    with tempfile.TemporaryDirectory(prefix="rtolab-conform-") as folder:
        runner = _Runner(stack, Path(folder), limit_s)
        with _Pool(parallel, runner.stopped, total, progress) as pool:
            again = [(twin, number) for twin in twins for number in range(TWINS)]
            done = pool.map(lambda one: runner.run(*one), again)
            for (twin, _), run in zip(again, done, strict=True):
                _check(twin, run)
            found = {
                twin.bytes: Twin.of(done[TWINS * place : TWINS * (place + 1)])
                for place, twin in enumerate(twins)
            }
            # One after the other, so that what disturbs this machine for a while meets one of each.
            each = [(one, number) for number in range(repeat) for one in scenarios]
            runs = pool.map(lambda one: runner.run(*one, found[one[0].bytes].tail), each)
    return [
        score(one, runs[place :: len(scenarios)], found[one.bytes])
        for place, one in enumerate(scenarios)
    ]


def _check(twin: Scenario, run: Measured) -> None:
    if run.ended is not Ended.RECOVERED:
        said = f"; what was said last: {run.said}" if run.said else ""
        raise Error(
            f"a transfer of {twin.bytes} B that nothing disturbs {run.ended}: there is nothing to "
            f"compare with. The client must end with 0 when it has all{said}"
        )
    if run.arrived_bytes < twin.bytes:
        raise Error(
            f"of {twin.bytes} B that the client was to fetch {run.arrived_bytes} B passed the "
            "link: {bytes} in the client's arguments says how many, and {server} is where"
        )


def _last_said(log: str) -> str:
    """Its last line, or that a server is gone, without which no client gets anything, and why."""
    lines = [line.strip() for line in log.strip().splitlines()] or [""]
    for before, line in zip(["", *lines], lines, strict=False):
        if line.startswith(GONE):
            return f"{line}: {before}" if before else line
    return lines[-1]


class _Pool:
    """Threads that each wait for a run; what one raises stops all."""

    def __init__(
        self, parallel: int, stopped: Event, total: int, progress: Progress | None
    ) -> None:
        self.threads = ThreadPoolExecutor(parallel)
        self.stopped = stopped
        self.done, self.total, self.progress = 0, total, progress

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.stopped.set()
        self.threads.shutdown(cancel_futures=True)

    def map(self, work: Callable[[Item], Measured], items: Sequence[Item]) -> list[Measured]:
        futures: list[Future[Measured]] = [self.threads.submit(work, one) for one in items]
        waiting = set(futures)
        while waiting:
            # What a signal raises is raised when this wakes up, which a signal alone may not do.
            done, waiting = wait(waiting, timeout=ASK_S, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
            self.done += len(done)
            if done and self.progress is not None:
                self.progress(self.done, self.total)
        return [future.result() for future in futures]


class _Runner:
    def __init__(self, stack: Stack, folder: Path, limit_s: float) -> None:
        self.stack, self.folder, self.limit_s = stack, folder, limit_s
        self.stopped = Event()
        if stack.client:
            for size in SIZES:
                (folder / str(size)).write_bytes(bytes(size))

    def run(self, scenario: Scenario, number: int, last: int = 0) -> Measured:
        """Runs one for the time of this number; `last` is that of the last packet with data."""
        drops = tuple(range(max(last - scenario.tail, 1) + 1, last + 1)) if scenario.tail else ()
        path = self.folder / f"{scenario.id}-{number}.toml"
        path.write_text(toml(scenario, self.limit_s, drops), encoding="utf-8")
        if self.stack.client:
            return self._command(scenario, path)
        result = emulate(path, seed=scenario.seed, set=self.stack.set, progress=self._go_on)
        return measure.flow(result, self.limit_s)

    def _go_on(self, *_: int) -> None:
        if self.stopped.is_set():
            raise StoppedError("another run could not be done")

    def _command(self, scenario: Scenario, path: Path) -> Measured:
        order = Order(
            scenario=str(path),
            seed=scenario.seed,
            server=self._filled(self.stack.server, scenario),
            client=[self._filled(word, scenario) for word in self.stack.client],
            lead_s=self.stack.lead_s,
            limit_s=self.limit_s,
            set=[(key, as_toml(value)) for key, value in self.stack.set.items()],
        )
        order_file, found, log = (path.with_suffix(end) for end in (".order", ".json", ".log"))
        order_file.write_text(json.dumps(vars(order)), encoding="utf-8")
        words = [sys.executable, "-m", "rtolab.conform.worker", str(order_file), str(found)]
        with (
            log.open("wb") as output,
            subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            ) as process,
        ):
            self._wait(process)
        said = _last_said(log.read_text(encoding="utf-8", errors="replace"))
        if not found.exists():
            _, missing, what = said.partition("rtolab.EmulationError: ")
            if missing:
                raise EmulationError(what)
            raise Error(f"{scenario.id} could not be run: {said or process.returncode}")
        run = json.loads(found.read_text(encoding="utf-8"))
        ended = Ended(run.pop("ended"))
        last_line = said if ended is not Ended.RECOVERED else ""
        return Measured(ended=ended, **{**run, "doubts": tuple(run["doubts"]), "said": last_line})

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        left = self.stack.lead_s + self.limit_s + GRACE_S
        while process.poll() is None and left > 0 and not self.stopped.is_set():
            self.stopped.wait(ASK_S)
            left -= ASK_S
        if process.poll() is None:
            process.terminate()

    def _filled(self, word: str, scenario: Scenario) -> str:
        """Without the hosts, whose addresses the emulation fills in."""
        return word.replace("{bytes}", str(scenario.bytes)).replace("{files}", str(self.folder))
