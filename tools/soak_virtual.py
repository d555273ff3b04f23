#!/usr/bin/env python3
"""Prints the memory of a gateway and a watch by the hour of a day on the virtual clock.

    tools/soak_virtual.py [HOURS]

Needs a kernel of `rtolab kernel build`, but not root. Of two guests, `far` runs `rtolab gateway` in
front of a server, and `rtolab watch` on the link. The link loses packets and stalls. At `near` a
client opens connections, leaves some of them idle, resets some, and opens none for ten minutes of
each hour. Ends with 1 if a transfer failed, if the watch missed a packet, or if memory, descriptors
or the time of an exchange grew.
"""

import json
import random
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

import gateway_ends
from gateway_ends import REFUSING, RESET, connect, digest, read_to_end, stream, wanted
from program import PROGRAM
from rtolab.kernel import kernels
from soak_gateway import GROWTH, descriptors, report, resident_mb, thirds

LINK = {
    "link.radio.rate": "10 Mbit/s",
    "link.radio.delay": "20 ms",
    "link.radio.loss": "0.002",
    "link.radio.stalls.random": (
        '{ good = { exponential = "60 s" }, bad = { uniform = ["0.3 s", "4 s"] } }'
    ),
    "link.radio.stalls.scripted": "[]",
}
TO_GATEWAY = (
    "ip route add default dev rto0 table 77",
    "ip rule add pref 10 iif eth0 lookup 77",
    "ip rule add pref 20 lookup local",
    "ip rule del pref 0",
)
"""What routes all packets of the link to the gateway, also those to its own host."""
SETTINGS = ("ip_forward", "conf/rto0/accept_local")
STATUS = 7100
"""The port at which `far` reports memory and descriptors."""
HOUR_S, PAUSE_S, GAP_S, LAST_S = 3600, 600, 1, 5
"""Virtual seconds: an hour, its pause, the mean time between connections, and the end of `far`."""
SIZES, IDLE_S = (100, 50_000), (1.0, 500.0)
"""The range of bytes of a transfer, and of the seconds in which a connection is idle."""
LEFT = 2
"""How many more descriptors may be open: a reset that the link loses leaves one until `--idle`."""
Operation = Callable[[str, float], None]
"""What a client does with a connection to this host, with a number between 0 and 1."""


# The host with the gateway.


def far(hours: int) -> None:
    """Start the gateway, the watch and the server, and report when asked."""
    gateway = [*PROGRAM, "gateway", "--json", "--device", "rto0"]
    watch = [*PROGRAM, "watch", "eth0", "--json"]
    serve = [sys.executable, gateway_ends.__file__, "serve"]
    counts, rows = Path("/tmp/counts"), Path("/tmp/rows")  # noqa: S108
    with counts.open("w") as to_counts, rows.open("w") as to_rows:
        started = subprocess.Popen(gateway, stdout=to_counts, stderr=subprocess.PIPE, text=True)
        assert started.stderr
        report(started.stderr.readline().rstrip())
        for name in SETTINGS:
            Path(f"/proc/sys/net/ipv4/{name}").write_text("1")
        for command in TO_GATEWAY:
            subprocess.run(command.split(), check=True)
        programs: dict[str, subprocess.Popen[Any]] = {"gateway": started}
        programs["watch"] = subprocess.Popen(watch, stdout=to_rows)
    subprocess.Popen(serve, stdout=subprocess.DEVNULL)
    with socket.create_server(("", STATUS)) as server:
        for _ in range(hours):
            asked, _ = server.accept()
            with asked:
                used = {name: use(one.pid) for name, one in programs.items()}
                asked.sendall(json.dumps(used).encode())
    for one in programs.values():
        time.sleep(1)  # The watch reads a packet after up to a tenth of a second.
        one.send_signal(signal.SIGINT)
        one.wait()
    report(json.dumps(json.loads(counts.read_text())))
    report(rows.read_text().splitlines()[-1])


def use(process: int) -> tuple[float, int]:
    """The memory in MB and the descriptors of a process."""
    return round(resident_mb(process), 1), descriptors(process)


# The host with the client.


def size(drawn: float) -> int:
    """The bytes of a transfer, whose logarithm is uniform."""
    return int(SIZES[0] * (SIZES[1] / SIZES[0]) ** drawn)


def exchange(host: str, _: float) -> None:
    """A byte and its echo."""
    with connect(host, b"e.") as connection:
        assert connection.recv(1) == b"."


def idle(host: str, drawn: float) -> None:
    """An exchange, and another one when the connection was idle."""
    with connect(host, b"e.") as connection:
        assert connection.recv(1) == b"."
        time.sleep(IDLE_S[0] * (IDLE_S[1] / IDLE_S[0]) ** drawn)
        connection.sendall(b".")
        assert connection.recv(1) == b"."


def download(host: str, drawn: float) -> None:
    """Bytes from the server."""
    with connect(host, wanted(size(drawn))) as connection:
        assert read_to_end(connection) == stream(size(drawn))


def upload(host: str, drawn: float) -> None:
    """Bytes to the server."""
    with connect(host, b"u") as connection:
        connection.sendall(stream(size(drawn)))
        connection.shutdown(socket.SHUT_WR)
        assert read_to_end(connection).decode() == digest(stream(size(drawn)))


def reset_by_server(host: str, _: float) -> None:
    """A connection that the server resets. The link may lose a reset: then data gets another."""
    with connect(host, b"r") as connection:
        connection.settimeout(10)
        try:
            for _ in range(3):
                with suppress(TimeoutError):
                    assert connection.recv(1)
                connection.sendall(b".")
        except ConnectionResetError:
            return
    raise AssertionError("no reset")


def reset_by_client(host: str, _: float) -> None:
    """A connection that the client resets after an exchange."""
    with connect(host, b"e.") as connection:
        assert connection.recv(1) == b"."
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


def refused(host: str, _: float) -> None:
    """A connection that the server refuses."""
    try:
        socket.create_connection((host, REFUSING), timeout=30).close()
    except ConnectionRefusedError:
        return
    raise AssertionError("not refused")


OPERATIONS: dict[Operation, int] = {
    exchange: 30,
    idle: 10,
    download: 30,
    upload: 20,
    reset_by_server: 4,
    reset_by_client: 4,
    refused: 2,
}
"""What a client does, each with its share in percent."""


def near(host: str, hours: int) -> None:
    """Use the server for the given number of hours, and report by the hour."""
    source = random.Random(1)  # noqa: S311
    made: Counter[str] = Counter()
    used: dict[str, list[tuple[float, int]]] = {}
    exchanges_s: list[float] = []
    began = time.monotonic()
    for hour in range(1, hours + 1):
        until = began + hour * HOUR_S
        took_s = connections(host, source, until - PAUSE_S)
        time.sleep(until - time.monotonic())
        made.update({name: len(of) for name, of in took_s.items()})
        exchanges_s.append(statistics.median(took_s[exchange.__name__]))
        words = [f"{sum(map(len, took_s.values()))} connections", f"{exchanges_s[-1]:.4f} s"]
        with socket.create_connection((host, STATUS)) as connection:
            for name, (mb, files) in json.loads(read_to_end(connection)).items():
                used.setdefault(name, []).append((mb, files))
                words.append(f"{name} {mb} MB, {files} descriptors")
        report(f"{hour:3} h:", "; ".join(words))
    time.sleep(LAST_S)
    report("; ".join(f"{name}: {count}" for name, count in sorted(made.items())))
    sys.exit("\n".join(grown(used, exchanges_s)) or None)


def connections(host: str, source: random.Random, until: float) -> dict[str, list[float]]:
    """Open connections for a time, and wait for their ends. Returns how long each took."""
    running: list[tuple[str, Future[float]]] = []
    with ThreadPoolExecutor(100) as pool:
        while time.monotonic() < until:
            time.sleep(source.expovariate(1 / GAP_S))
            (what,) = source.choices([*OPERATIONS], [*OPERATIONS.values()])
            running.append((what.__name__, pool.submit(timed, what, host, source.random())))
    took_s: dict[str, list[float]] = {}
    for name, one in running:
        took_s.setdefault(name, []).append(one.result())
    return took_s


def timed(operation: Operation, host: str, drawn: float) -> float:
    """How long an operation took, in virtual seconds."""
    began = time.monotonic()
    operation(host, drawn)
    return time.monotonic() - began


def grown(used: dict[str, list[tuple[float, int]]], exchanges_s: list[float]) -> list[str]:
    """What grew from the first third of the hours to the last."""
    wrong = []
    for name, of in used.items():
        first, last = thirds([mb for mb, _ in of])
        wrong += [f"{name}: {first:.1f} MB became {last:.1f}"] * (last > GROWTH * first)
        first, last = thirds([files for _, files in of])
        wrong += [f"{name}: {first:.0f} descriptors became {last:.0f}"] * (last > first + LEFT)
    first, last = thirds(exchanges_s)
    return wrong + [f"an exchange of {first:.4f} s took {last:.4f}"] * (last > GROWTH * first)


def soak(hours: int) -> list[str]:
    """Run both hosts. Returns the failures."""
    settings = [word for item in LINK.items() for word in ("--set", "=".join(item))]
    this = [sys.executable, str(Path(__file__).resolve())]
    command = [*PROGRAM, "emulate", "hold", "--virtual", *settings]
    command += ["--server", shlex.join([*this, "far", str(hours)])]
    command += ["--", *this, "near", "{peer}", str(hours)]
    counts: dict[str, int] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as emulating:
        assert emulating.stdout
        for line in emulating.stdout:
            report(line.rstrip())
            if line.startswith("{"):
                counts |= json.loads(line)
    if emulating.returncode:
        return [f"emulate ended with {emulating.returncode}"]
    passed = counts["segments_in"] + counts["segments_out"]
    seen = counts["packets"] + counts["kernel_drops"]
    wrong = ["the kernel dropped packets"] * (counts["kernel_drops"] > 0)
    return wrong + [f"{passed} packets passed, and the watch saw {seen}"] * (passed != seen)


def main() -> None:
    """Soak for the given number of virtual hours, by default 24."""
    match sys.argv[1:]:
        case ["far", hours]:
            far(int(hours))
        case ["near", host, hours]:
            near(host, int(hours))
        case given:
            hours = given[0] if given else "24"
            if len(given) > 1 or not hours.isdecimal() or int(hours) == 0:
                sys.stderr.write(f"{' '.join(given)}: expected a number of hours, such as 24\n")
                sys.exit(2)
            if not kernels():
                sys.stderr.write("needs a kernel:  rtolab kernel build\n")
                sys.exit(2)
            sys.exit("\n".join(soak(int(hours))) or None)


if __name__ == "__main__":
    main()
