"""The kernel's own counters of retransmissions: `/proc/net/snmp` and `/proc/net/netstat`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

COUNTERS = {
    "RetransSegs": "Segments that the kernel retransmitted.",
    "TCPTimeouts": "Retransmission timeouts.",
    "TCPSpuriousRTOs": "Recoveries from timeouts that F-RTO undid.",
    "TCPLossUndo": "All recoveries from timeouts that were undone.",
    "TCPFullUndo": "Fast recoveries that timestamps or D-SACKs undid as a whole.",
    "TCPPartialUndo": "Fast recoveries that were undone at a partial ACK.",
    "TCPDSACKUndo": "Recoveries that D-SACKs undid.",
    "TCPFastRetrans": "Fast retransmits.",
    "TCPSlowStartRetrans": "Retransmissions after a timeout.",
    "TCPLossProbes": "Tail loss probes.",
    "TCPDSACKRecv": "D-SACKs received.",
}
"""The counters that are shown, and what they count."""


def counters() -> dict[str, int]:
    """The counters of this process's network namespace; those that the kernel lacks are absent."""
    found: dict[str, int] = {}
    for name in ("snmp", "netstat"):
        with suppress(OSError):
            lines = Path(f"/proc/self/net/{name}").read_text("ascii").splitlines()
            for names, numbers in zip(lines[::2], lines[1::2], strict=False):
                found.update(_pairs(names, numbers))
    return {name: found[name] for name in COUNTERS if name in found}


def grown(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """By how much the counters grew."""
    return {name: count - before.get(name, 0) for name, count in now.items()}


def _pairs(names: str, numbers: str) -> dict[str, int]:
    """A line with names and the line with their numbers, both after the protocol's name."""
    protocol, *keys = names.split()
    if protocol not in ("Tcp:", "TcpExt:"):
        return {}
    return dict(zip(keys, map(int, numbers.split()[1:]), strict=False))
