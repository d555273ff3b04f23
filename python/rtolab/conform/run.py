"""Runs of scenarios on a stack: the kernel's TCP, or a client and a server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import TypeVar

from rtolab import _rtolab
from rtolab._rtolab import EmulationError, Error
from rtolab.conform import measure, quic
from rtolab.conform.check import check_numbers, check_stack
from rtolab.conform.evidence import collect, moved, save_captures, save_files
from rtolab.conform.measure import TransferMeasurement, TransferOutcome
from rtolab.conform.order import Order
from rtolab.conform.scenario import Scenario
from rtolab.conform.score import Score, UndisturbedTransfer, score, without_reference
from rtolab.emulation import EmulationResult, emulate
from rtolab.emulation.placeholders import check_placeholders
from rtolab.emulation.programs import GONE
from rtolab.kernel import Kernel
from rtolab.process import processors
from rtolab.run import as_toml

Progress = Callable[[int, int], object]

Item = TypeVar("Item")

TWINS = 5
"""The number of undisturbed transfers whose median is the reference."""
ASK_S = 0.1
"""How often a thread checks whether to continue, in seconds."""
PLACEHOLDERS = ("server", "client", "peer", "bytes", "files", "logs")
"""The placeholders in the commands of a stack."""
LOGS = "{logs}"
"""What stands for a host's folder for logs in commands."""
GUEST_LOGS = "/tmp/rtolab-logs"  # noqa: S108  (in the memory of a guest)
"""That folder in a guest, in its memory."""
LAST_LINE = "; the last line of client and server: "
"""What a message puts before the last line of the log, which both programs write."""
GRACE_S = 60.0
"""How long after the client's time limit a run is given up, in seconds."""

SEVERAL = """
count=$1 ids= code=0
shift
while [ "$count" -gt 0 ]; do
    "$@" &
    ids="$ids $!" count=$((count - 1))
done
for id in $ids; do
    wait "$id" || code=$?
done
exit "$code"
"""
"""A script for `sh` that runs a client several times at once; it fails if one of them fails."""


@dataclass(frozen=True)
class Stack:
    """A stack to score.

    Attributes:
        name: its name in results.
        set: kernel settings that replace those of the scenarios, by dotted key.
        server: a command line for the server's host; empty for the kernel's TCP.
        client: program and arguments for the client's host. In both, `{server}` and `{client}` are
            addresses, `{bytes}` is the size of the transfer, `{files}` is a folder with a file of
            each size, named by its size, and `{logs}` is a folder for logs: qlogs in it are judged.
        lead_s: the longest wait until the server listens, in seconds.
        kernel: the kernel of both hosts, on a virtual clock; `None` for this machine's.
    """

    name: str = "kernel"
    set: Mapping[str, object] = field(default_factory=dict)
    server: str = ""
    client: Sequence[str] = ()
    lead_s: float = 10.0
    kernel: Kernel | None = None


class UndisturbedTransferError(Error):
    """No undisturbed transfer of a stack ended, so there is nothing to compare with."""


class StoppedError(Error):
    """The run was cancelled."""


def conform(
    stack: Stack,
    scenarios: Sequence[Scenario],
    *,
    repeat: int = 1,
    parallel: int = 10,
    limit_s: float = 60.0,
    progress: Progress | None = None,
    evidence: Path | None = None,
) -> list[Score]:
    """Score a stack on each scenario, in order.

    First the reference runs: they determine how long a transfer takes and where its tail is. Then
    the scenarios, each on hosts of its own.

    Args:
        stack: the stack.
        scenarios: from `suite`.
        repeat: runs of each scenario on the same seed; the score is the median.
        parallel: concurrent runs.
        limit_s: a longer transfer counts as hung, in seconds.
        progress: called with the finished runs and all runs.
        evidence: the folder for captures and logs of each scenario's run, in a folder per
            scenario; `None` keeps none.

    Returns:
        A score per scenario. If an undisturbed transfer does not end, its scenarios have 0 points
        and are not run.

    Raises:
        EmulationError: a prerequisite is missing, or a kernel rejects a setting.
        UndisturbedTransferError: no undisturbed transfer ends.
        Error: an argument, a key, a value or a placeholder is wrong.
    """
    check_stack(stack)
    check_numbers(repeat=repeat, parallel=parallel, limit_s=limit_s)
    if not scenarios:
        raise Error("found no scenarios; expected those of a suite")
    check_placeholders("--server", [stack.server], PLACEHOLDERS)
    check_placeholders("the client", stack.client, PLACEHOLDERS)
    references = list({one.reference.id: one.reference for one in scenarios}.values())
    # On a virtual clock all runs of a seed are equal.
    alike = 1 if stack.kernel else TWINS
    if stack.kernel:
        # A guest waits for nothing but a processor.
        parallel = min(parallel, processors())
    total = alike * len(references) + repeat * len(scenarios)
    given_up: dict[str, tuple[TransferMeasurement, str]] = {}
    with tempfile.TemporaryDirectory(prefix="rtolab-conform-") as folder:
        runner = _Runner(stack, Path(folder), limit_s, keeps=evidence is not None)
        runner.provide({one.bytes for one in scenarios})
        with _Pool(parallel, runner.stopped, total, progress) as pool:
            repetitions = [
                (reference, number) for reference in references for number in range(alike)
            ]
            done = pool.map(lambda one: runner.run(*one), repetitions)
            for (reference, _), run in zip(repetitions, done, strict=True):
                why = problem(reference, run, limit_s)
                if why:
                    given_up.setdefault(reference.id, (run, why))
            if len(given_up) == len(references):
                name, (run, why) = next(iter(given_up.items()))
                kept = (
                    f"; its captures are in {moved(run.evidence, evidence / name)}"
                    if evidence
                    else ""
                )
                raise UndisturbedTransferError(f"{stack.name}: {why}{kept}")
            found = {
                reference.id: UndisturbedTransfer.of(done[alike * place : alike * (place + 1)])
                for place, reference in enumerate(references)
                if reference.id not in given_up
            }
            runnable = [one for one in scenarios if one.reference.id in found]
            pool.total = len(repetitions) + repeat * len(runnable)
            # Interleave the scenarios, so that a busy period of this machine affects each once.
            each = [(one, number) for number in range(repeat) for one in runnable]
            runs = pool.map(
                lambda one: _complete(one[0], runner.run(*one, found[one[0].reference.id])), each
            )
        of_scenario = {one.id: runs[place :: len(runnable)] for place, one in enumerate(runnable)}
        scores = [
            score(one, of_scenario[one.id], found[one.reference.id])
            if one.id in of_scenario
            else without_reference(one, *given_up[one.reference.id])
            for one in scenarios
        ]
        return collect(scores, evidence) if evidence else scores


def _with_losses(run: TransferMeasurement, logs: Mapping[str, Path]) -> TransferMeasurement:
    """The measurement with the counts of the programs' logs."""
    found = quic.counts(logs)
    return replace(run, **asdict(found)) if found else run


def _complete(scenario: Scenario, run: TransferMeasurement) -> TransferMeasurement:
    """The measurement; failed if the client ended with 0 before all bytes can have arrived."""
    every = scenario.bytes * scenario.flows
    if run.ended is not TransferOutcome.RECOVERED or run.arrived_bytes >= every:
        return run
    said = f"the client ended with 0 after {run.arrived_bytes} B of {every} B passed the link"
    return replace(run, ended=TransferOutcome.FAILED, said=said)


def problem(reference: Scenario, run: TransferMeasurement, limit_s: float) -> str:
    """What is wrong with a reference run, and what helps; empty if nothing is.

    Args:
        reference: the undisturbed transfer.
        run: its measurement.
        limit_s: a longer transfer counts as hung, in seconds.
    """
    about = f"the transfer of {reference.transfer} that nothing disturbs"
    said = f"{LAST_LINE}{run.said}" if run.said else ""
    every = reference.bytes * reference.flows
    if run.ended is TransferOutcome.HUNG:
        helps = "raise --limit if it needs longer, or select other transfers with --only"
        return f"{about} did not end within {limit_s:g} s (--limit): {helps}{said}"
    if run.ended is not TransferOutcome.RECOVERED:
        status = "" if run.exit_status is None else f" with exit status {run.exit_status}"
        return f"{about} failed{status}: the client must end with 0 when it has everything{said}"
    if run.arrived_bytes < every:
        return (
            f"of {every} B that the client was to fetch {run.arrived_bytes} B passed the "
            "link: {bytes} in the client's arguments says how many, and {server} is where"
        )
    return ""


def _last_line_of(log: str) -> str:
    """The last line of a log of client and server, or that the server has ended and why."""
    lines = [line.strip() for line in log.strip().splitlines()] or [""]
    for before, line in zip(["", *lines], lines, strict=False):
        if line.startswith(GONE):
            return f"{line}: {before}" if before else line
    return lines[-1]


class _Pool:
    """Threads that each wait for a run; an exception of one stops all."""

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

    def map(
        self, work: Callable[[Item], TransferMeasurement], items: Sequence[Item]
    ) -> list[TransferMeasurement]:
        futures: list[Future[TransferMeasurement]] = [
            self.threads.submit(work, one) for one in items
        ]
        waiting = set(futures)
        while waiting:
            # The timeout lets signal handlers run: a signal alone may not wake this wait.
            done, waiting = wait(waiting, timeout=ASK_S, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
            self.done += len(done)
            if done and self.progress is not None:
                self.progress(self.done, self.total)
        return [future.result() for future in futures]


class _Runner:
    def __init__(self, stack: Stack, folder: Path, limit_s: float, *, keeps: bool) -> None:
        self.stack, self.folder, self.limit_s, self.keeps = stack, folder, limit_s, keeps
        self.stopped = Event()

    def provide(self, sizes: Iterable[int]) -> None:
        """Makes the files that a server may offer; they take no space."""
        if self.stack.client:
            for size in sizes:
                with (self.folder / str(size)).open("wb") as file:
                    file.truncate(size)

    def run(
        self, scenario: Scenario, number: int, reference: UndisturbedTransfer | None = None
    ) -> TransferMeasurement:
        """Runs a scenario for the `number`th time; its reference run shows what to drop."""
        drops = scenario.drops(reference.tail, reference.end) if reference else ()
        path = self.folder / f"{scenario.id}-{number}.toml"
        scenario.write(path, self.limit_s, drops)
        run = self._run(scenario, path)
        return replace(run, evidence=str(self._evidence(path))) if self.keeps else run

    @staticmethod
    def _evidence(path: Path) -> Path:
        return path.with_suffix(".evidence")

    def _run(self, scenario: Scenario, path: Path) -> TransferMeasurement:
        if self.stack.client and self.stack.kernel:
            return self._in_guests(scenario, path, self.stack.kernel)
        if self.stack.client:
            return self._command(scenario, path)
        result = emulate(
            path,
            seed=scenario.seed,
            set=self.stack.set,
            kernel=self.stack.kernel,
            progress=self._go_on,
        )
        if self.keeps:
            save_captures(self._evidence(path), result)
            save_files(self._evidence(path), path)
        return measure.flows(result, self.limit_s + scenario.extra_s)

    def _go_on(self, *_: int) -> None:
        if self.stopped.is_set():
            raise StoppedError("another run could not be done")

    def _in_guests(self, scenario: Scenario, path: Path, kernel: Kernel) -> TransferMeasurement:
        log, archives = path.with_suffix(".log"), path.with_suffix(".logs")
        client, server = self._client(scenario), self._filled(self.stack.server, scenario)
        has_logs = any(LOGS in word for word in (*client, server))
        if has_logs:
            archives.mkdir()
            client = ["sh", "-c", f'mkdir -p {GUEST_LOGS}; exec "$@"', "sh", *client]
            client = [word.replace(LOGS, GUEST_LOGS) for word in client]
            server = f"mkdir -p {GUEST_LOGS}; {server.replace(LOGS, GUEST_LOGS)}"
        outcome, report = _rtolab.emulate_programs(
            path,
            guest=(kernel.folder, kernel.title),
            client=client,
            server=server,
            set=[(key, as_toml(value)) for key, value in self.stack.set.items()],
            seed=scenario.seed,
            lead_s=self.stack.lead_s,
            limit_s=self.limit_s + scenario.extra_s,
            keep=True,
            log=log,
            kept=(GUEST_LOGS, archives) if has_logs else None,
            goes_on=self._go_on,
        )
        result = EmulationResult(str(path), outcome, [report])
        found = measure.command(result, report["returncode"])
        logs = quic.unpack(archives) if has_logs else {}
        if has_logs:
            found = _with_losses(found, logs)
        if self.keeps:
            save_captures(self._evidence(path), result)
            save_files(self._evidence(path), path, log, logs)
        if has_logs:
            shutil.rmtree(archives)
        said = _last_line_of(log.read_text(encoding="utf-8", errors="replace"))
        return found if found.ended is TransferOutcome.RECOVERED else replace(found, said=said)

    def _command(self, scenario: Scenario, path: Path) -> TransferMeasurement:
        logs = {host: path.with_suffix(".logs") / host for host in ("client", "server")}
        for folder in logs.values():
            folder.mkdir(parents=True)
        server = self._filled(self.stack.server, scenario)
        client = [word.replace(LOGS, str(logs["client"])) for word in self._client(scenario)]
        order = Order(
            scenario=str(path),
            seed=scenario.seed,
            server=server.replace(LOGS, str(logs["server"])),
            client=client,
            lead_s=self.stack.lead_s,
            limit_s=self.limit_s + scenario.extra_s,
            evidence=str(self._evidence(path)) if self.keeps else "",
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
            self._wait(process, self.limit_s + scenario.extra_s)
        said = _last_line_of(log.read_text(encoding="utf-8", errors="replace"))
        if not found.exists():
            _, missing, what = said.partition("rtolab.EmulationError: ")
            if missing:
                raise EmulationError(what)
            # The file is rtolab's own, so a setting is wrong.
            _, wrong, what = said.partition("rtolab.ScenarioError: ")
            if wrong:
                raise Error(what)
            raise Error(f"{scenario.id} could not be run: {said or process.returncode}")
        run = json.loads(found.read_text(encoding="utf-8"))
        ended = TransferOutcome(run.pop("ended"))
        last_line = said if ended is not TransferOutcome.RECOVERED else ""
        measured = TransferMeasurement(
            ended=ended, **{**run, "doubts": tuple(run["doubts"]), "said": last_line}
        )
        measured = _with_losses(measured, logs)
        if self.keeps:
            save_files(self._evidence(path), path, log, logs)
        shutil.rmtree(path.with_suffix(".logs"))
        return measured

    def _wait(self, process: subprocess.Popen[bytes], limit_s: float) -> None:
        left = self.stack.lead_s + limit_s + GRACE_S
        while process.poll() is None and left > 0 and not self.stopped.is_set():
            self.stopped.wait(ASK_S)
            left -= ASK_S
        if process.poll() is None:
            process.terminate()

    def _client(self, scenario: Scenario) -> list[str]:
        """Program and arguments that fetch once, or as often as the scenario has transfers."""
        words = [self._filled(word, scenario) for word in self.stack.client]
        return (
            words
            if scenario.flows == 1
            else ["sh", "-c", SEVERAL, "sh", str(scenario.flows), *words]
        )

    def _filled(self, word: str, scenario: Scenario) -> str:
        """Fills in sizes and folders; the emulation fills in addresses."""
        return word.replace("{bytes}", str(scenario.bytes)).replace("{files}", str(self.folder))
