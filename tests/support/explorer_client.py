"""What tests of the explorer share: parsed answers, a server process, its memory."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from program import PROGRAM

HOLD = {"scenario": "hold", "senders": ["newreno", "newreno+frto"]}
"""The run that the page opens with."""
CAPTURE = Path(__file__).parents[1] / "captures" / "stall-3s-acks-sack-frto-off.sender.pcapng.gz"
HOST = "http://127.0.0.1:8642"
JSON = {"Content-Type": "application/json"}
BINARY = {"Content-Type": "application/octet-stream"}
POSTS = ("scenario", "check", "run", "what-if", "branch", "download/html")
HEAVY = """\
title = "A transfer that exceeds the limits of a request"
duration = "100000 s"

[[link]]
name = "fat"
between = ["a", "b"]
rate = "10 Gbit/s"
delay = "1 ms"
queue = "100 MB"

[[flow]]
name = "endless"
from = "a"
to = "b"
"""
TYPES = {"f8": "<f8", "u1": "u1"}


def unpack(answer: bytes) -> dict[str, Any]:
    """An answer's head, with its columns in their places."""
    length = int.from_bytes(answer[:4], "little")
    begin = 4 + length
    assert begin % 8 == 0, "columns begin at multiples of eight"

    def whole(value: Any) -> Any:
        if isinstance(value, list):
            return [whole(one) for one in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"type", "at", "count"}:
            kind = np.dtype(TYPES[value["type"]])
            return np.frombuffer(answer, kind, value["count"], begin + value["at"])
        return {key: whole(one) for key, one in value.items()}

    found: dict[str, Any] = whole(json.loads(answer[4:begin]))
    return found


def most_resident(pid: int, clients: Sequence[Future[Any]]) -> float:
    """The largest memory of a server with its workers, in MB, until these clients are done."""
    most = 0.0
    while not all(client.done() for client in clients):
        most = max(most, sum(resident(pid).values()))
        time.sleep(0.1)
    return most


@contextmanager
def server(*options: str, **how: Any) -> Iterator[tuple[str, int]]:
    """`rtolab serve` as a process; its address and the number of its process."""
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0", *options],
        stdout=subprocess.PIPE,
        text=True,
        **how,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert found, f"it said {line!r}"
        yield found[0], process.pid
    finally:
        if (status := process.poll()) is not None:
            sys.stderr.write(f"rtolab serve had ended with {status}\n")
        process.terminate()
        process.wait(300)
        process.stdout.close()


def resident(pid: int) -> dict[int, float]:
    """The memory of a process and its children, each in MB."""
    found = {pid: _resident(pid)}
    for other in Path("/proc").iterdir():
        if other.name.isdigit() and _parent(int(other.name)) == pid:
            found[int(other.name)] = _resident(int(other.name))
    return found


def _resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def _parent(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])


def error_of(response: Any) -> dict[str, Any]:
    """The error that a refusal carries."""
    error: dict[str, Any] = response.json()["error"]
    return error
