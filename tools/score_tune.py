"""Scores `rtolab tune`: timeouts that it predicts from a capture against those that then happen.

    python tools/score_tune.py paths        # spurious timeouts by round trip and minimum RTO
    python tools/score_tune.py incast       # completion times of incasts by minimum RTO
    python tools/score_tune.py segment      # one segment's minimum RTO against a path's

`paths` captures request and response flows with Linux's minimum RTO of 200 ms, predicts the
timeouts of other minimums from the capture, and simulates each minimum with the same disturbances.
`incast` simulates 8 to 64 senders that answer at once through one queue. With `--kernel NAME` the
hosts are guests with that kernel, on the virtual clock; a run whose guest fails is named and left
out. `segment` measures tasks of request and response on the engine, with a minimum for all segments
or only for those whose ACK is delayed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

import rtolab
from rtolab import _rtolab
from rtolab.emulation import emulate
from rtolab.kernel import find
from rtolab.result import Result
from rtolab.tuning import Source, source, tune

MINIMUMS_MS = (10, 20, 50, 100, 200, 500)
ROUND_TRIPS = ("0.1 ms", "1 ms", "10 ms", "100 ms")
SENDERS = (8, 16, 32, 64)
RUNS = 10
FLOWS = 10
PATHS = """
title = "Requests over a path that delays some frames and loses others"
duration = "{duration} s"

[[link]]
name = "path"
between = ["server", "client"]
rate = "1 Gbit/s"
delay = "{one_way}"
loss = {loss}
spikes = {{ probability = 0.003, length = {{ exponential = "{late}" }} }}

[receiver]
delayed_ack = "{delayed_ack} ms"

[kernel]
rto_min = "{minimum} ms"

[[flow]]
name = "pages"
from = "server"
to = "client"
count = {flows}
start_jitter = "1 s"
requests = {{ request = "200 B", response = "{size}", think = {{ exponential = "30 ms" }} }}
"""
LOSSY = """
title = "Requests over a path that loses frames"
duration = "60 s"

[[link]]
name = "path"
between = ["server", "client"]
rate = "1 Gbit/s"
delay = "500 us"
loss = 0.002

[receiver]
delayed_ack = "40 ms"

[[flow]]
name = "pages"
from = "server"
to = "client"
count = 10
start_jitter = "1 s"
requests = { request = "200 B", response = "6 kB", think = { exponential = "30 ms" } }
"""
CUBIC = '[kernel]\ncongestion = "cubic"\n'
FLOORS = (
    ("linux", "kernel.rto_min", (200, 50, 20, 5)),
    ("sack", "tcp.rto.min", (200, 50, 20)),
    ("sack", "tcp.rto.min_delayed_ack", (200, 50)),
)
"""Senders, the keys of their minimum RTO, and its values in ms."""
INCAST = """
title = "Senders that answer at once through one queue"
duration = "20 s"

[[link]]
name = "switch"
between = ["switch", "client"]
rate = "10 Gbit/s"
delay = "25 us"
queue = "128 kB"

[receiver]
delayed_ack = "40 ms"

[kernel]
rto_min = "{minimum} ms"
{links}
"""
INCAST_LINK = """
[[link]]
name = "rack{number}"
between = ["server{number}", "switch"]
rate = "10 Gbit/s"
delay = "25 us"

[[flow]]
name = "answer{number}"
from = "server{number}"
to = "client"
start = "1 s"
start_jitter = "20 us"
bytes = "{size}"
"""

INCAST_GUEST = """
[[flow]]
name = "answer"
from = "switch"
to = "client"
count = {senders}
start = "1 s"
start_jitter = "20 us"
bytes = "{size}"
"""
"""Guests send from one host: one kernel has all sockets."""


def say(*cells: object) -> None:
    """Write a row of a table."""
    sys.stdout.write(" | ".join(map(str, cells)) + "\n")
    sys.stdout.flush()


def simulated(text: str, *, runs: int, kernel: str | None, seed: int = 1) -> Result:
    """Run a scenario with Linux's sender on the engine, or with guests of a kernel."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        file.write_text(text)
        if kernel is None:
            return rtolab.run(file, sender="linux", runs=runs, trace=True, seed=seed)
        return emulate(file, runs=runs, kernel=find(kernel), seed=seed)


def timeouts(result: Result) -> pl.DataFrame:
    """The timeouts, without probes."""
    return result.timeouts.filter(pl.col("kind") == "timeout")


def spurious(result: Result) -> int:
    """The server's first timeouts of a segment that the ground truth calls spurious.

    A capture at the server shows no timers of the client.
    """
    first = timeouts(result).filter(pl.col("backoff") == 0, pl.col("end") == "sender")
    return first.filter(pl.col("truth") == "spurious").height


def captured(result: Result, runs: int) -> list[Source]:
    """What `rtolab tune` reads from the captures of the runs."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for run in range(runs):
            file = Path(folder) / f"{run}.pcapng"
            file.write_bytes(result.pcapng(run, "sender"))
            rows = _rtolab.diagnose(file, timers=True)
            found.append(source(file.name, rows, json.loads(rows.json())["summary"]))
    return found


def paths(given: argparse.Namespace) -> None:
    """Print predicted and measured spurious timeouts by round trip and minimum RTO."""
    say("round trip", "late", "loss", "minimum", "predicted", "measured", "difference")
    for round_trip in ROUND_TRIPS:
        for late, loss in (("60 ms", 0.0), ("200 ms", 0.002)):
            values = {"late": late, "loss": loss}
            values |= {"flows": given.flows, "delayed_ack": given.delayed_ack}
            try:
                _path(round_trip, values, (given.runs, given.kernel, given.seed))
            except rtolab.Error as error:
                say(round_trip, late, loss, str(error).splitlines()[-1])


def _path(
    round_trip: str, values: Mapping[str, object], where: tuple[int, str | None, int]
) -> None:
    runs, kernel, seed = where
    one_way = f"{float(round_trip.removesuffix(' ms')) / 2:g} ms"
    base = {"duration": 60, "one_way": one_way, "size": "6 kB", **values}
    text = PATHS.format(**base, minimum=200)
    result = simulated(text, runs=runs, kernel=kernel, seed=seed)
    found = tune(captured(result, runs), prefix=0)
    seconds = sum(one.seconds for one in found.sources)
    [path] = found.classes
    for minimum in MINIMUMS_MS:
        cells = (round_trip, values["late"], values["loss"], f"{minimum} ms")
        own = PATHS.format(**base, minimum=minimum)
        try:
            measured = spurious(simulated(own, runs=runs, kernel=kernel, seed=seed))
        except rtolab.Error as error:
            say(*cells, str(error).splitlines()[0])
            continue
        predicted = path.at(minimum / 1000).spurious.value * seconds / 86400
        difference = f"{predicted / measured - 1:+.0%}" if measured else "-"
        say(*cells, f"{predicted:.0f}", measured, difference)


def incast(runs: int, kernel: str | None) -> None:
    """Print the completion times of incasts, the time of the last answer, by minimum RTO."""
    heads = ("median ms", "99th percentile ms", "timeouts", "spurious")
    say("senders", "size", "minimum", *heads)
    for senders in SENDERS:
        for size in ("4 kB", "32 kB"):
            for minimum in (200, 10, 5):
                links = INCAST_GUEST.format(senders=senders, size=size)
                if kernel is None:
                    numbers = range(senders)
                    links = "".join(INCAST_LINK.format(number=one, size=size) for one in numbers)
                text = INCAST.format(minimum=minimum, links=links)
                result = simulated(text, runs=runs, kernel=kernel)
                took = (pl.col("end_s").max() - pl.col("start_s").min()) * 1000
                ends = result.connections.group_by("run").agg(took.alias("ms"))["ms"].to_numpy()
                cells = (senders, size, f"{minimum} ms")
                times = (f"{np.median(ends):.2f}", f"{np.quantile(ends, 0.99):.2f}")
                say(*cells, *times, timeouts(result).height, spurious(result))


def segment(runs: int) -> None:
    """Print the times of tasks with a minimum RTO for all segments, and for delayed ACKs only."""
    say("sender", "minimum", "mean task ms", "timeouts", "spurious", "probes")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lossy.toml"
        for sender, key, minimums in FLOORS:
            is_linux = sender == "linux"
            file.write_text(LOSSY + CUBIC if is_linux else LOSSY)
            for minimum in minimums:
                values = {key: f"{minimum} ms"}
                if not is_linux:
                    values["tcp.rto.granularity"] = "1 ms"
                result = rtolab.run(file, sender=sender, set=values, runs=runs, trace=True)
                task = (pl.col("end_s") - pl.col("start_s")) * 1000
                mean = result.tasks.select(task.mean()).item()
                expired = timeouts(result)
                wrong = expired.filter(pl.col("truth") == "spurious").height
                probes = result.timeouts.filter(pl.col("kind") == "probe").height
                say(sender, f"{key} = {minimum} ms", f"{mean:.2f}", expired.height, wrong, probes)


def main() -> None:
    """Read the arguments and score."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", choices=("paths", "incast", "segment"))
    arguments.add_argument("--runs", type=int, default=RUNS)
    arguments.add_argument("--kernel")
    arguments.add_argument("--flows", type=int, default=FLOWS, help="of paths")
    arguments.add_argument("--seed", type=int, default=1, help="the first seed of paths")
    arguments.add_argument("--delayed-ack", type=int, default=40, help="of paths, in ms")
    given = arguments.parse_args()
    if given.what == "segment":
        segment(given.runs)
    elif given.what == "incast":
        incast(given.runs, given.kernel)
    else:
        paths(given)


if __name__ == "__main__":
    main()
