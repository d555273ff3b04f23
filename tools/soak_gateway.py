#!/usr/bin/env python3
"""Measures memory and lateness of a gateway and an emulated link under load, by the minute.

    tools/soak_gateway.py [MINUTES]

Needs Linux and root. Ends with 1 if a transfer failed, or if memory, descriptors or lateness grew.
"""

import json
import os
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from gateway_fixtures import V4, lab
from prerequisites import no_hosts
from program import PROGRAM

DELAY_S, BYTES, PACE_S = 0.010, 1000, 0.002
"""The link's delay each way, the size of an echo request, and the interval between two."""
LINK = {"link.wire.rate": "100 Mbit/s", "link.wire.delay": f"{DELAY_S} s"}
SECOND_AT_100_MBIT_S = 100e6 / 8
MINUTE = 60
ROUND = (
    ("download", "3000000", "equal"),
    ("upload", "3000000", "equal"),
    ("slow_reader", "2000000", "equal"),
    ("is_reset", None, "ConnectionResetError"),
    ("resets", None, ""),
)
"""What a client does: the operation, its argument, and what it prints on success."""
GROWTH = 1.1
"""The most that memory may grow, as a ratio of the last third of the minutes to the first."""
LATER = 3
"""The same for lateness. A busy machine increases it, too."""


def resident_mb(process: int) -> float:
    """The resident memory of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def descriptors(process: int) -> int:
    """The number of open file descriptors of a process."""
    return sum(1 for _ in Path(f"/proc/{process}/fd").iterdir())


def report(*words: object) -> None:
    """Print a line without buffering."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def thirds(values: list[float]) -> tuple[float, float]:
    """The medians of the first third (without the first value) and of the last third."""
    count = max(1, len(values) // 3)
    return statistics.median(values[1 : 1 + count] or values), statistics.median(values[-count:])


def gateway(minutes: int) -> list[str]:
    """Transfers in both directions, many connections at once, and resets. Returns the failures."""
    memory: list[float] = []
    open_files: list[float] = []
    rounds = 0
    with lab("--max-time-wait", "500") as one:
        process = one.gateway.pid
        for minute in range(1, minutes + 1):
            until = time.monotonic() + MINUTE
            while time.monotonic() < until:
                rounds += 1
                for what, argument, expected in ROUND:
                    output = one.run(what, V4, *([argument] if argument else []))
                    if output != expected:
                        return [
                            f"gateway, round {rounds}: {what} printed {output!r}, not {expected!r}"
                        ]
                if (served := one.run("many", V4, "50", "50000")) != "50":
                    return [f"gateway, round {rounds}: {served} of 50 connections served"]
            time.sleep(1)
            memory.append(resident_mb(process))
            open_files.append(descriptors(process))
            report(f"gateway  {minute:3} min: {memory[-1]:6.1f} MB, {open_files[-1]} descriptors")
        one.end()
    down, up = (one.counts[f"bytes_{way}"] / 1e6 for way in ("down", "up"))
    report(f"gateway: {one.counts['established']} connections, {down:.0f} MB down, {up:.0f} MB up")
    return grown("gateway", memory) + [
        f"gateway: {first:.0f} descriptors became {last:.0f}"
        for first, last in [thirds(open_files)]
        if last > first
    ]


def grown(what: str, memory: list[float]) -> list[str]:
    """The failure of a program whose memory grew, if it did."""
    first, last = thirds(memory)
    return [f"{what}: {first:.1f} MB became {last:.1f}"] if last > GROWTH * first else []


def emulator(minutes: int) -> list[str]:
    """Echoes over an emulated link, each of which measures lateness. Returns the failures."""
    settings = [word for item in LINK.items() for word in ("--set", "=".join(item))]
    command = [*PROGRAM, "emulate", "single-link", "--json", *settings, "--"]
    command += [sys.executable, __file__, "echoes", "{peer}", str(minutes)]
    memory: list[float] = []
    lateness: list[float] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        assert it.stdout
        assert it.stderr
        for line in it.stderr:
            if not line.startswith("{"):
                report("emulate:", line.rstrip())
                continue
            memory.append(resident_mb(it.pid))
            lateness.append(json.loads(line)["p99_us"])
            report(f"emulate  {line.rstrip()} {memory[-1]:6.1f} MB")
        document = it.stdout.read()
    if it.returncode or not document:
        return [f"emulate ended with {it.returncode}"]
    late = json.loads(document)["lateness"]
    parts = (f"{part} {late[f'{part}_s'] * 1e6:.0f} us" for part in ("p50", "p99", "max"))
    report(f"emulate: {late['packets']} packets, lateness", ", ".join(parts))
    first, last = thirds(lateness)
    later = [f"emulate: lateness of {first:.0f} us became {last:.0f}"]
    return grown("emulate", memory) + later * (last > LATER * first)


def echoes(peer: str, minutes: int) -> None:
    """Send echo requests at a steady pace, inside the emulation, and report lateness by the minute.

    The delay of both directions is known. The rest of an echo's round trip is lateness of the link,
    in both directions, and of this machine.
    """
    ends = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    ends.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS: when it arrived
    ends.setblocking(False)
    expected = 2 * (DELAY_S + (BYTES + 28) / SECOND_AT_100_MBIT_S)
    sent: dict[int, float] = {}
    due = time.monotonic()
    for minute in range(1, minutes + 1):
        until = time.monotonic() + MINUTE
        late: list[float] = []
        while time.monotonic() < until:
            number = len(late) + len(sent) & 0xFFFF
            while number in sent:
                number = number + 1 & 0xFFFF
            sent[number] = time.time()
            ends.sendto(_request(number), (peer, 0))
            due += PACE_S
            time.sleep(max(0.0, due - time.monotonic()))
            late += [came - sent.pop(known) - expected for known, came in _replies(ends, sent)]
        late.sort()
        p50, p99 = (round(late[int(part * len(late))] * 1e6) for part in (0.5, 0.99))
        line = {"minute": minute, "echoes": len(late), "p50_us": p50, "p99_us": p99}
        sys.stderr.write(json.dumps(line | {"missing": len(sent)}) + "\n")
        sys.stderr.flush()


def _request(number: int) -> bytes:
    """An ICMP echo request with its checksum (RFC 1071)."""
    total = 0x0800 + number
    total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!BBHHH", 8, 0, ~total & 0xFFFF, 0, number) + bytes(BYTES - 8)


def _replies(ends: socket.socket, sent: dict[int, float]) -> list[tuple[int, float]]:
    """The requests that were answered since the last call, with the times of the answers."""
    found: list[tuple[int, float]] = []
    while True:
        try:
            packet, extra, _, _ = ends.recvmsg(2048, 64)
        except BlockingIOError:
            return found
        (secs, nanos) = struct.unpack("qq", extra[0][2])
        kind, number = packet[20], struct.unpack("!H", packet[26:28])[0]
        if kind == 0 and number in sent:
            found.append((number, secs + nanos * 1e-9))


def main() -> None:
    """Run both for the given number of minutes, by default 30."""
    if sys.argv[1:2] == ["echoes"]:
        echoes(sys.argv[2], int(sys.argv[3]))
        return
    if lacking := no_hosts():
        sys.exit(f"needs {lacking}")
    minutes = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    with ThreadPoolExecutor() as pool:
        wrong = [pool.submit(of, minutes) for of in (gateway, emulator)]
    sys.exit("\n".join(what for one in wrong for what in one.result()) or None)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
