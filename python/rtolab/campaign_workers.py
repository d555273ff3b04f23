"""Experiments of a campaign in several processes, so that no core is idle.

An experiment alternates between the simulator, which uses all cores, and statistics and figures,
which use one. Two experiments at a time fill the gaps of each other.

A worker reads one line of JSON with the parameters, then one id after the other, and answers each
with a line. A family of experiments with common runs goes to one worker, which simulates these runs
once. A worker ends with its parent. If an experiment fails in a worker, the parent repeats it and
reports the error.
"""

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Self

from rtolab.campaign import Campaign, Part, Settings
from rtolab.experiments.base import Experiment
from rtolab.experiments.sharing import FAMILIES, SharedRuns, families
from rtolab.process import processors

Progress = Callable[[int, int], object]

DONE, FAILED = "done\n", "failed\n"
FEWEST = 4
"""The fewest experiments for which workers are worth their start of a second."""
MOST = 4
"""The most workers: each uses all cores while it simulates."""
ASK_S = 0.2
LONGEST = (
    "minrto2007/concl",
    "minrto2007/section-5.1",
    "minrto2007/eq6",
    "detectors/study/reordering",
    "dualrtt2004/fig15",
    "detectors/study/loss",
    "detectors/study/ack-loss",
    "minrto2007/fig7a",
    "minrto2007/fig7c",
    "detectors/study",
    "arq2002/fig10-delays",
    "outages/study",
    "arq2002/fig3",
    "arq2002/fig9",
    "today/minimum-rto",
    "dualrtt2004/fig7",
    "dualrtt2004/section-v-c",
    "minrto2007/fig7b",
    "arq2002/fig4-rates",
    "arq2002/fig11",
    "frto2002/future-work",
    "dualrtt2004/table5",
    "arq2002/fig7",
)
"""Experiments that begin first, so that none is left alone at the end: those with the most CPU
time, and before them those that draw most, for which they use one core."""
ALLOCATIONS = 100_000
"""How many allocations the garbage collector waits for. It finds next to nothing here, and with
Python's own 700 it takes 3 % of the CPU time of short experiments."""


class Workers:
    """Processes that run experiments, the longest first."""

    def __init__(self, campaign: Campaign, experiments: Sequence[Experiment]) -> None:
        """Start them, if there are enough experiments.

        Args:
            campaign: how the experiments are run.
            experiments: what is to be run, in the order in which it is needed.
        """
        self._campaign = campaign
        self._processes: list[subprocess.Popen[str]] = []
        self._idle: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        self._futures: dict[str, Future[bool]] = {}
        count = min(campaign.jobs or processors(), MOST)
        if count < 2 or len(experiments) < FEWEST:
            return
        # Without memory or permission for processes the parent runs everything itself.
        with suppress(OSError):
            for _ in range(count):
                self._start()
        self._pool = ThreadPoolExecutor(max(1, len(self._processes)))
        ids = [experiment.id for experiment in experiments]
        first = [id_ for id_ in LONGEST if id_ in ids]
        if self._processes:
            self._futures = {id_: Future() for id_ in ids}
            for family in families([*first, *ids]):
                self._pool.submit(self._run, family)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for future in self._futures.values():
            future.cancel()
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.communicate()

    @property
    def finished(self) -> int:
        """The number of experiments that workers have finished."""
        done = (future for future in self._futures.values() if future.done())
        return sum(not future.cancelled() and future.result() for future in done)

    def part(self, experiment: Experiment, progress: Progress) -> Part | None:
        """Wait for the results of an experiment; `None` if no worker could run it.

        Args:
            experiment: the experiment.
            progress: called from time to time with the finished experiments and all.
        """
        future = self._futures.get(experiment.id)
        if future is None:
            return None
        while not future.done():
            wait([future], timeout=ASK_S)
            progress(self.finished, len(self._futures))
        return self._campaign.stored(experiment) if future.result() else None

    def _start(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "rtolab.campaign_workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._processes.append(process)
        campaign = self._campaign
        how = {"out": str(campaign.out), "jobs": campaign.jobs} | asdict(campaign.settings)
        _tell(process, json.dumps(how))
        self._idle.put(process)

    def _run(self, ids: Sequence[str]) -> None:
        """Have one worker run these experiments. The future of each says whether it has."""
        process = self._idle.get()
        for id_ in ids:
            future = self._futures[id_]
            if not future.set_running_or_notify_cancel():
                continue
            answer = ""
            with suppress(OSError, ValueError):
                _tell(process, id_)
                answer = process.stdout.readline() if process.stdout else ""
            future.set_result(answer == DONE)
        self._idle.put(process)


def _tell(process: subprocess.Popen[str], line: str) -> None:
    if process.stdin:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()


def main() -> None:
    """Run experiments until standard input ends."""
    # The parent decides what an interrupt means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(ALLOCATIONS)
    from rtolab.experiments import EXPERIMENTS  # noqa: PLC0415  (takes a while)

    gc.freeze()
    orders: SimpleQueue[str] = SimpleQueue()
    Thread(target=_read, args=(orders,), daemon=True).start()
    how = json.loads(orders.get())
    out, jobs = Path(how.pop("out")), how.pop("jobs")
    campaign = Campaign(out, Settings(**how), jobs)
    by_id = {experiment.id: experiment for experiment in EXPERIMENTS}
    # The output of libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    family: Sequence[str] = ()
    shared = SharedRuns()
    while True:
        id_ = orders.get()
        if id_ not in family:
            family = next((family for family in FAMILIES if id_ in family), ())
            shared = SharedRuns()
        try:
            campaign.run(by_id[id_], shared=shared if family else None)
            answer = DONE
        except Exception:
            # The parent meets the same error, and explains it.
            answer = FAILED
        answers.write(answer)
        answers.flush()


def _read(orders: SimpleQueue[str]) -> None:
    """Passes lines on; the process ends at once when its parent has ended."""
    for line in sys.stdin:
        orders.put(line.rstrip("\n"))
    os._exit(0)


if __name__ == "__main__":
    main()
