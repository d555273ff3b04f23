#!/usr/bin/env python3
"""Scores `rtolab watch` beside an emulated link, whose ground truth is known.

    tools/score_watch.py [--seconds S] [--flows N] [--rate RATE] [--seed S] [--set KEY=VALUE]...
                         [--keep FOLDER]

Real kernels transfer over a link that stalls and loses packets; the watch runs at the sending host.
The script prints how many of the spurious timeouts the watch found, its false positives, packets
that the kernel dropped, processor time and memory. Needs Linux, root, /dev/net/tun and util-linux.
Ends with 1 if a goal is missed, with 2 if it cannot run here.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

import polars as pl

from prerequisites import no_hosts
from program import PROGRAM
from rtolab.emulation import EmulationResult, emulate

BEGIN_S = 8.0
"""The start of the flows, in seconds: the watch starts before it."""
SENDER_PORTS = 30_000
"""The port of the first flow's sender; the others' follow."""
LEAST_FOUND, MOST_CORES, PACKETS = 0.97, 0.1, 100_000
"""The goals: the share of spurious timeouts found, and processors for 100,000 packets a second."""
CLASSES = ("spurious", "ack-lost", "genuine", "unknown", "none")
Line = dict[str, Any]
SCENARIO = """
title = "Bulk transfers over a link that stalls and loses"
duration = "{end} s"

[[link]]
name = "path"
between = ["near", "far"]
rate = "{rate}"
delay = "10 ms"
loss = 0.00002
queue = "4 MB"

[link.stalls]
scripted = [{stalls}]

[link.outages]
scripted = [{outages}]

[tcp]
mss = "1448 B"
window_scale = 7

[receiver]
buffer = "2 MB"

[kernel]
mtu = "1500 B"
"""
FLOW = """
[[flow]]
name = "f{number}"
from = "near"
to = "far"
start = "{begin:.3f} s"
"""


@dataclass
class Used:
    """What a process used, by the second: processor seconds, and resident memory in MB."""

    cpu_s: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)


def report(*words: object) -> None:
    """Print a line without buffering."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def disturbances(begin: float, end: float, seed: int) -> tuple[str, str]:
    """Stalls of 0.4 to 2 s, and an outage of 0.5 s instead of every fourth."""
    drawn = random.Random(seed)  # noqa: S311
    stalls, outages = [], []
    at, number = begin + 2, 0
    while at < end - 4:
        number += 1
        if number % 4:
            length = drawn.uniform(0.4, 2)
            stalls.append(f'{{ at = "{at:.3f} s", for = "{length:.3f} s" }}')
        else:
            length = 0.5
            outages.append(f'{{ at = "{at:.3f} s", for = "{length} s" }}')
        at += length + drawn.uniform(2, 4)
    return ", ".join(stalls), ", ".join(outages)


def scenario(seconds: float, flows: int, rate: str, seed: int) -> str:
    """The scenario as TOML."""
    end = BEGIN_S + seconds
    stalls, outages = disturbances(BEGIN_S, end, seed)
    starts = (BEGIN_S + number * 0.5 / flows for number in range(flows))
    text = SCENARIO.format(end=end, rate=rate, stalls=stalls, outages=outages)
    return text + "".join(FLOW.format(number=n, begin=at) for n, at in enumerate(starts))


def namespaces() -> Iterator[str]:
    """The network namespaces that this process has opened, in the order of the hosts."""
    folder = Path("/proc/self/fd")
    for entry in sorted(folder.iterdir(), key=lambda entry: int(entry.name)):
        try:
            if entry.readlink().name.startswith("net:"):
                yield f"/proc/{os.getpid()}/fd/{entry.name}"
        except OSError:
            continue


def first_namespace() -> str:
    """The network namespace of the sending host, as soon as it exists."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if len(found := list(namespaces())) >= 2:
            return found[0]
        time.sleep(0.02)
    raise TimeoutError("the hosts were not made")


def measure(process: int, used: Used) -> None:
    """Record the resources of the process each second until it ends."""
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    while True:
        try:
            words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            resident = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        except OSError:
            return
        if words[0] == "Z":
            return
        used.cpu_s.append((int(words[11]) + int(words[12])) / tick)
        used.memory_mb.append(resident * page / 1e6)
        time.sleep(1)


def watched(seconds: float, used: Used, lines: list[Line], capture: Path | None) -> None:
    """Watch the sending host until the flows are over, and capture it if asked to."""
    enter = ["nsenter", f"--net={first_namespace()}"]
    command = [*enter, *PROGRAM, "watch", "link0", "--json"]
    with ExitStack() as stack:
        process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        processes = [process]
        if capture:
            tcpdump = ["tcpdump", "-i", "link0", "-s", "128", "-B", "65536", "-w", str(capture)]
            processes.append(stack.enter_context(subprocess.Popen([*enter, *tcpdump, "tcp"])))
        assert process.stdout
        threading.Thread(target=measure, args=(process.pid, used), daemon=True).start()
        for one in processes:
            threading.Timer(BEGIN_S + seconds - 1, one.send_signal, [signal.SIGINT]).start()
        lines += map(json.loads, process.stdout)


def matched(truth: pl.DataFrame, lines: list[Line]) -> Counter[tuple[str, str]]:
    """Counts of timeouts by truth and verdict of the watch; `none` without a verdict.

    Timeouts are matched by flow, sequence number, and order.
    """
    counts: Counter[tuple[str, str]] = Counter()
    said = defaultdict(list)
    for line in lines:
        if line["row"] in ("retransmission", "timeout"):
            # Whose SYN was not seen may be taken for the server.
            port = int(line[line["from"]].rpartition(":")[2])
            if port >= SENDER_PORTS:
                said[f"f{port - SENDER_PORTS}"].append(line)
    known = truth.sort("at_s").partition_by("flow", as_dict=True)
    for flow in sorted({*said, *(flow for (flow,) in known)}):
        rows = known[flow,].to_dicts() if (flow,) in known else []
        first = first_sequence_number(rows, said[flow])
        found, real = defaultdict(list), defaultdict(list)
        for line in sorted(said[flow], key=lambda line: line["at"]):
            if line["row"] == "timeout" and not line["handshake"]:
                found[(line["seq"] - first) % 2**32].append(line["class"])
        for row in rows:
            if row["kind"] == "timeout":
                real[row["seq"] % 2**32].append(row["truth"])
        for seq in {*found, *real}:
            counts.update(zip_longest(real[seq], found[seq], fillvalue="none"))
    return counts


def first_sequence_number(rows: list[dict[str, Any]], said: list[Line]) -> int:
    """The difference of the wire's sequence numbers to those of the truth."""
    differences = Counter(
        (line["seq"] - row["seq"]) % 2**32
        for row in rows
        for line in said
        if line["row"] == "retransmission"
    )
    return differences.most_common(1)[0][0] if differences else 0


def score(result: EmulationResult, lines: list[Line], used: Used) -> Iterator[str]:
    """Print the score; yields the goals that were missed."""
    counts, summary = matched(result.timeouts, lines), lines[-1]
    report("timeouts by truth (rows) and verdict of the watch (columns)")
    report(f"{'':10}" + "".join(f"{name:>10}" for name in CLASSES))
    for truth in CLASSES:
        if any(counts[truth, said] for said in CLASSES):
            report(f"{truth:10}" + "".join(f"{counts[truth, said]:10}" for said in CLASSES))
    total = sum(count for (truth, _), count in counts.items() if truth == "spurious")
    found = counts["spurious", "spurious"]
    report(f"spurious timeouts found: {found} of {total} ({found / max(total, 1):.1%})")
    # The truth comes from samples of the sockets, which miss a timeout now and then.
    told = sum(count for (_, said), count in counts.items() if said != "none")
    counted = summary["kernel"]["TCPTimeouts"]
    beyond = max(0, told - counted)
    wrong = counts["genuine", "spurious"] + counts["ack-lost", "spurious"]
    report(f"invented: {wrong + beyond}; timeouts: {told}, and {counted} by the kernel's count")
    packets, drops = summary["packets"], summary["kernel_drops"]
    idle = used.cpu_s[min(int(BEGIN_S), len(used.cpu_s)) - 1]
    cores = (used.cpu_s[-1] - idle) / packets * PACKETS
    rate = packets / (summary["ended"] - summary["began"])
    report(f"packets: {packets:,}, {rate:,.0f} a second; the kernel dropped {drops}")
    report(f"processor: {cores:.3f} of a core for {PACKETS:,} packets a second")
    memory = used.memory_mb
    report(
        f"memory: {memory[len(memory) // 3]:.0f} MB after a third, {memory[-2]:.0f} MB at the end"
    )
    kernel = {name: count for name, count in summary["kernel"].items() if count}
    report("this kernel:", ", ".join(f"{name} {count}" for name, count in kernel.items()))
    for doubt in result.doubts[0]:
        report("the emulated link:", doubt)
    if not total or found < LEAST_FOUND * total:
        yield "spurious timeouts found"
    if wrong + beyond:
        yield "none invented"
    if drops:
        yield "no drops"
    if cores > MOST_CORES:
        yield "processor"


def scored(given: argparse.Namespace) -> list[str]:
    """Emulate, watch and print the score; the goals that were missed."""
    settings = dict(one.partition("=")[::2] for one in given.set)
    used, lines = Used(), list[Line]()
    keep: Path | None = given.keep
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stalls.toml"
        path.write_text(scenario(given.seconds, given.flows, given.rate, given.seed))
        capture = keep / "sender.pcap" if keep else None
        arguments = given.seconds, used, lines, capture
        watching = threading.Thread(target=watched, args=arguments, daemon=True)
        watching.start()
        result = emulate(path, seed=given.seed, set=settings)
        watching.join()
    if keep:
        result.timeouts.write_ndjson(keep / "truth.jsonl")
        (keep / "verdicts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return list(score(result, lines, used))


def main() -> None:
    """Score, and end with 1 if a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--flows", type=int, default=40)
    parser.add_argument("--rate", default="1 Gbit/s")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="write the truth, the verdicts, and a capture of the sending host (needs tcpdump)",
    )
    given = parser.parse_args()
    if lacking := no_hosts():
        sys.stderr.write(f"needs {lacking}\n")
        sys.exit(2)
    missed = scored(given)
    report("missed: " + ", ".join(missed) if missed else "all goals are met")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
