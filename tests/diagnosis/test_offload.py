"""Super-segments of network cards: verdicts are as without offload."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from capture_changes import Packet, merged_by_offload, parts, written
from rtolab.diagnosis import diagnose
from rtolab.run import run

TSO = 50_000
"""A sender hands segments that leave together to its network card, in nanoseconds."""
GRO = 10_000_000
"""The time in which 40 segments arrive, which make a super-segment of 64 kB, in nanoseconds."""
ACKED_AT_ONCE = 1_000_000
"""ACKs closer than this are one if the receiver's network card merges, in nanoseconds."""

LARGEST = 65_000
"""The largest super-segment, in bytes."""

DISTURBANCES = {
    "spurious timeout": {"link.wire.stalls.scripted": '[{ at = "1 s", for = "2 s" }]'},
    "loss": {"link.wire.forward.drops": "[100, 300]"},
    "timeout": {"link.wire.outages.scripted": '[{ at = "1 s", for = "700 ms" }]'},
}
LINK = {
    "link.wire.rate": "50 Mbit/s",
    "link.wire.delay": "20 ms",
    "link.wire.queue": "500 packets",
    "flow.transfer.bytes": "10 MB",
}


def offloaded(capture: bytes, within: int) -> bytes:
    head, packets = parts(capture)
    merged = merged_by_offload(packets, within, by_sender=within == TSO)
    assert max(one.original for one in merged) > 10_000
    return written(head, merged)


def thinned(capture: bytes) -> bytes:
    """The sender's capture if the receiver acknowledges super-segments: fewer ACKs."""
    head, packets = parts(capture)
    kept: list[Packet] = []
    for one in packets:
        last = kept[-1] if kept else one
        is_pure = one.original == 20 + (one.tcp[12] >> 4) * 4 and one.flags == last.flags == 0x10
        is_plain = one.tcp[12] >> 4 == last.tcp[12] >> 4 and len(kept) > 4
        alike = last.source == one.source and last.original == one.original
        advances = one.tcp[8:12] > last.tcp[8:12]
        is_soon = one.at - last.at < ACKED_AT_ONCE
        if is_pure and is_plain and alike and advances and is_soon:
            kept.pop()
        kept.append(one)
    return written(head, kept)


def judged(file: Path, capture: bytes) -> tuple[Counter[str], Counter[str]]:
    """The retransmitted bytes by verdict, and the timeouts by class."""
    file.write_bytes(capture)
    [one] = diagnose(file).document["connections"]
    octets: Counter[str] = Counter()
    for row in one["retransmissions"]:
        octets[row["verdict"]] += row["len"]
    return octets, Counter(row["class"] for row in one["timeouts"])


@pytest.mark.slow
@pytest.mark.parametrize("timestamps", [True, False])
@pytest.mark.parametrize("disturbance", DISTURBANCES)
@pytest.mark.parametrize("sender", ["linux", "sack"])
def test_super_segments_have_the_verdicts_of_their_segments(
    tmp_path: Path,
    sender: str,
    disturbance: str,
    *,
    timestamps: bool,
) -> None:
    table = "kernel" if sender == "linux" else "tcp"
    set: dict[str, Any] = LINK | DISTURBANCES[disturbance] | {f"{table}.timestamps": timestamps}
    result = run("single-link", sender=sender, seed=1, set=set, trace=True)
    at_sender, at_receiver = result.pcapng(0, "sender"), result.pcapng(0, "receiver")
    file = tmp_path / "capture.pcapng"
    plain = judged(file, at_sender)
    assert sum(plain[0].values()) > 0
    assert judged(file, offloaded(at_sender, TSO)) == plain
    assert judged(file, thinned(offloaded(at_sender, TSO))) == plain
    merged, single = (judged(file, one)[0] for one in (offloaded(at_receiver, GRO), at_receiver))
    # A super-segment of retransmitted and new data counts whole: only its verdict is the same.
    assert merged.keys() == single.keys()
    for verdict, octets in single.items():
        assert octets <= merged[verdict] <= octets + LARGEST
