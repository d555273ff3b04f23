#!/usr/bin/env python3
"""Prints the memory of `rtolab watch` by the minute, beside many short transfers.

    tools/soak_watch.py [MINUTES]

Needs Linux, root and /dev/net/tun. Ends with 1 if the memory grew or the kernel dropped packets.
"""

import json
import random
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from prerequisites import no_hosts
from program import PROGRAM
from score_watch import Used, measure, report

LINK = {
    "link.radio.rate": "40 Mbit/s",
    "link.radio.delay": "5 ms",
    "link.radio.queue": "1 MB",
    "link.radio.loss": "0.0005",
    "link.radio.stalls.random": (
        '{ good = { exponential = "8 s" }, bad = { uniform = ["0.3 s", "1 s"] } }'
    ),
    "link.radio.stalls.scripted": "[]",
}
PORT, WORKERS = 5001, 10
SIZES = (2_000, 5_000_000)
"""The least and the most bytes of a transfer, whose logarithm is drawn uniformly."""
GROWTH = 1.1
"""The most that memory may grow, as a ratio of the last third of the minutes to the first."""


def serve() -> None:
    """Answer each connection with as many bytes as it asks for, for ever."""

    def answer(connection: socket.socket) -> None:
        with connection:
            connection.sendall(bytes(int(connection.recv(64))))

    with socket.create_server(("", PORT), backlog=512) as server, ThreadPoolExecutor(64) as pool:
        while True:
            pool.submit(answer, server.accept()[0])


def transfers(peer: str, seconds: float) -> None:
    """Let the peer ask this host for bytes, one transfer after the other on each of its threads."""
    threading.Thread(target=serve, daemon=True).start()
    ask = [sys.executable, __file__, "ask", str(seconds)]
    subprocess.run(["ip", "netns", "exec", peer, *ask], check=True)


def ask(seconds: float) -> None:
    """Fetch until the time is over."""
    until = time.monotonic() + seconds

    def fetch(number: int) -> None:
        drawn = random.Random(number)  # noqa: S311
        least, most = SIZES
        while time.monotonic() < until:
            size = int(least * (most / least) ** drawn.random())
            try:
                with socket.create_connection(("10.83.0.1", PORT), timeout=30) as connection:
                    connection.sendall(str(size).encode())
                    while connection.recv(1 << 20):
                        pass
            except OSError:
                time.sleep(0.1)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(fetch, range(WORKERS)))


def soak(minutes: int) -> list[str]:
    """Watch beside the transfers; the failures."""
    settings = [word for item in LINK.items() for word in ("--set", "=".join(item))]
    command = [*PROGRAM, "emulate", "hold", "--json", *settings, "--"]
    command += [sys.executable, __file__, "transfers", str(60 * minutes)]
    used, last = Used(), deque[str](maxlen=1)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as emulating:
        near = f"rtolab-{emulating.pid}-near"
        while not Path(f"/run/netns/{near}").exists():
            time.sleep(0.1)
        time.sleep(1)
        watch = ["ip", "netns", "exec", near, *PROGRAM, "watch", "link0", "--json"]
        with subprocess.Popen(watch, stdout=subprocess.PIPE, text=True) as watching:
            assert watching.stdout
            threading.Thread(target=measure, args=(watching.pid, used), daemon=True).start()
            reading = threading.Thread(target=last.extend, args=(watching.stdout,))
            reading.start()
            for minute in range(1, minutes + 1):
                time.sleep(60)
                now_mb, spent = used.memory_mb[-1], used.cpu_s[-1]
                report(f"{minute:3} min: {now_mb:6.1f} MB, {spent:6.1f} s of processor")
            watching.send_signal(signal.SIGINT)
            reading.join()
        emulating.wait()
    summary = json.loads(last[0])
    report(*(f"{key}: {summary[key]}" for key in ("packets", "connections", "kernel_drops")))
    report(f"timeouts: {summary['timeouts']}, retransmissions: {summary['retransmissions']}")
    memory = used.memory_mb[len(used.memory_mb) // 6 :]
    third = len(memory) // 3
    first, end = (statistics.median(part) for part in (memory[:third], memory[-third:]))
    report(f"memory: {first:.1f} MB in the first third, {end:.1f} MB in the last")
    wrong = [f"memory: {first:.1f} MB became {end:.1f}"] if end > GROWTH * first else []
    return wrong + ["the kernel dropped packets"] * (summary["kernel_drops"] > 0)


def main() -> None:
    """Soak for the given number of minutes, by default 60."""
    match sys.argv[1:]:
        case ["transfers", seconds]:
            import os  # noqa: PLC0415

            transfers(os.environ["RTOLAB_PEER_NETNS"], float(seconds))
            return
        case ["ask", seconds]:
            ask(float(seconds))
            return
    if lacking := no_hosts():
        sys.stderr.write(f"needs {lacking}\n")
        sys.exit(2)
    wrong = soak(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
