"""The output of ping: iputils, BSD, macOS and busybox."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rtolab._rtolab import Error
from rtolab.paths.measured import MeasuredPath, OneWay, split_losses
from rtolab.paths.text import numbered

REPLY = re.compile(
    r"^(?:\[(?P<at>\d+\.\d+)\] )?\d+ \S.*\b(?:icmp_)?seq=(?P<seq>\d+)\b.*=(?P<ms>\d+(?:\.\d+)?) ?ms"
)
SEQUENCE_NUMBERS = 1 << 16
STEP_S = 2e-6
"""The least time between two delays of a series."""


def read_ping(files: Sequence[Path], interval_s: float = 1.0) -> MeasuredPath:
    """A path from the output of `ping`, at best of `ping -D`, which prints when a reply came.

    Args:
        files: the output.
        interval_s: the time between two requests without `-D`, in seconds.

    Raises:
        Error: fewer than two replies.
    """
    path = files[0]
    replies: dict[int, tuple[float | None, float]] = {}
    rounds = last = 0
    for _, line in numbered(path):
        found = REPLY.match(line)
        if not found or "(DUP!)" in line:
            continue
        seq = int(found["seq"])
        if seq < last - SEQUENCE_NUMBERS // 2:
            rounds += SEQUENCE_NUMBERS
        last = seq
        ms = float(found["ms"])
        sent = float(found["at"]) - ms / 1000 if found["at"] else None
        replies.setdefault(seq + rounds, (sent, ms))
    if len(replies) <= 1:
        expected = "lines such as `64 bytes from 192.0.2.1: icmp_seq=1 ttl=52 time=82.4 ms`"
        raise Error(f"{path}: found fewer than two replies; expected {expected}")
    probes = _probes(replies, interval_s)
    return round_trips(
        probes, f"the pings of {path.name}", [f"Imported from {path.name}, the output of ping."]
    )


def _probes(
    replies: dict[int, tuple[float | None, float]], interval_s: float
) -> list[tuple[float, float | None]]:
    """When each request was sent, and its round trip in ms; None: no reply."""
    numbers = sorted(replies)
    first, last = numbers[0], numbers[-1]
    begin, end = replies[first][0], replies[last][0]
    if begin is not None and end is not None and end > begin:
        interval_s = (end - begin) / (last - first)
    probes: list[tuple[float, float | None]] = []
    for seq in range(first, last + 1):
        sent, ms = replies.get(seq, (None, None))
        known = sent is not None and begin is not None
        at = sent - begin if known else (seq - first) * interval_s  # type: ignore[operator]
        # Replies that the host reads late seem to have been sent late.
        probes.append((max(at, probes[-1][0] + STEP_S) if probes else 0.0, ms))
    return probes


def round_trips(
    probes: Sequence[tuple[float, float | None]], what: str, origin: list[str]
) -> MeasuredPath:
    """A path from round trips: when each probe was sent, in s, and its round trip in ms or None.

    Both directions get half of the delay and of the losses: a round trip does not say which
    direction a packet was lost in.
    """
    loss, outages = split_losses([(at, ms is None) for at, ms in probes])
    delays = [(at, ms) for at, ms in probes if ms is not None]
    begin = delays[0][0]
    return MeasuredPath(
        title=f"A path measured by {what}",
        origin=[
            *origin,
            "Measured: round trips, of which each direction has half, and losses.",
            "Not measured: the rate and the queue.",
        ],
        duration_s=probes[-1][0] - begin,
        both=OneWay(
            delays=[(at - begin, ms) for at, ms in delays],
            round_trip=True,
            loss=1 - (1 - loss) ** 0.5,
            outages=[(at - begin, length) for at, length in outages if at >= begin],
        ),
    )
