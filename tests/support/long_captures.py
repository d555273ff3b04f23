"""Long captures: a short one repeated, with later times and new connections.

python tests/support/long_captures.py PACKETS | rtolab diagnose -
python tests/support/long_captures.py speed  # packets diagnosed in a second of processor time
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from rtolab import _rtolab
from rtolab.run import find_scenario

ENHANCED_PACKET = 6
PART = 4_000_000
"""Bytes written at once, about."""
FIRST_PORT, PORTS = 1024, 60_000
"""Ports of clients; after the last one the first one is reused, as on busy hosts."""


SHORT = (
    ("link.radio.stalls.scripted", "[]"),
    ("flow.transfer.bytes", "60 kB"),
)
"""A transfer without disturbance."""

LONG = (SHORT[0], ("flow.transfer.bytes", "20 MB"))
PACKETS, TIMES = 600_000, 3


def capture(scenario: str = "kernel-stall", *set: tuple[str, str]) -> bytes:
    """A simulated transfer of Linux at its sender, pcapng."""
    path = str(find_scenario(scenario))
    outcome = _rtolab.simulate(path, set=list(set), senders=["linux"], seeds=[1], trace=True)
    return bytes(outcome.pcapng(0, "sender"))


def repeated(once: bytes, packets: int) -> Iterator[bytes]:
    """At least this many packets, in parts to be written one after the other."""
    blocks = list(_blocks(once))
    starts = np.array([start for start, kind in blocks if kind == ENHANCED_PACKET])
    head, single = once[: starts[0]], once[starts[0] :]
    copies = -(-PART // len(single))
    body = np.frombuffer(single * copies, dtype=np.uint8).copy()
    # The copy that each packet belongs to, and its offset in the part.
    copy = np.repeat(np.arange(copies), len(starts))
    frames = np.tile(starts - starts[0], copies) + copy * len(single)
    times = _word(body, frames + 12).astype(np.uint64) << 32 | _word(body, frames + 16)
    span = times.max() - times.min() + 1_000_000
    # The client sends the first packet; the port follows the IP header of 20 bytes.
    address = _word(body, frames + 28 + 12)
    ports = frames + 28 + 20 + np.where(address == address[0], 0, 2)
    yield head
    for first in range(0, -(-packets // len(starts)), copies):
        number = first + copy
        at = times + span * number.astype(np.uint64)
        _put(body, frames + 12, at >> np.uint64(32))
        _put(body, frames + 16, at & np.uint64(0xFFFF_FFFF))
        port = FIRST_PORT + number % PORTS
        body[ports], body[ports + 1] = port >> 8, port & 0xFF
        yield body.tobytes()


def _blocks(file: bytes) -> Iterator[tuple[int, int]]:
    """The offset and the kind of each block of a little-endian file."""
    start = 0
    while start < len(file):
        kind, length = (int.from_bytes(file[at : at + 4], "little") for at in (start, start + 4))
        yield start, kind
        start += length


def _word(body: np.ndarray, at: np.ndarray) -> np.ndarray:
    return np.stack([body[at + i] for i in range(4)], axis=1).copy().view("<u4")[:, 0]


def _put(body: np.ndarray, at: np.ndarray, words: np.ndarray) -> None:
    octets = words.astype("<u4").view(np.uint8).reshape(-1, 4)
    for i in range(4):
        body[at + i] = octets[:, i]


def speed(once: bytes, folder: Path) -> float:
    """The best of several diagnoses of a file, in packets a second of processor time."""
    file = folder / "capture.pcapng"
    with file.open("wb") as written:
        written.writelines(repeated(once, PACKETS))
    best = float("inf")
    for _ in range(TIMES):
        began = time.process_time()
        _rtolab.diagnose(file)
        best = min(best, time.process_time() - began)
    return PACKETS / best


def main() -> None:
    if sys.argv[1] != "speed":
        for part in repeated(capture("kernel-stall", *SHORT), int(sys.argv[1])):
            sys.stdout.buffer.write(part)
        return
    for name, transfer in (("long", LONG), ("short", SHORT)):
        with TemporaryDirectory() as folder:
            found = speed(capture("kernel-stall", *transfer), Path(folder))
        sys.stdout.write(f"{name} transfers: {found / 1e6:.2f} million packets a second\n")


if __name__ == "__main__":
    main()
