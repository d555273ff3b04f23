"""A watch without packets: the kernel's tracepoint `tcp_retransmit_skb`, and `inet_diag`.

The tracepoint says which socket retransmits; `inet_diag` (sock_diag(7)) says in which state the
socket is then and later: whether it recovers from a timeout, how many D-SACKs came, and whether it
undid its reduction. That is what the kernel knows, for connections of this host alone.
"""

from __future__ import annotations

import json
import os
import re
import select
import socket
import struct
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import NamedTuple

from rtolab._rtolab import WatchError

TRACEFS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
EVENT = "events/tcp/tcp_retransmit_skb"
FIELD = re.compile(rb"(\w+)=(\S+)")
LOST = re.compile(rb"LOST (\d+) EVENTS")
MOST_PENDING = 10_000
"""The most sockets whose retransmissions have not settled."""
GIVEN_UP_S = 120.0
"""A socket that has not recovered after this time is given up."""
AGAIN_S, SETTLES_S = 0.5, 1.0
"""How often sockets are looked at again, and for how long D-SACKs may follow a recovery."""
SYN_SENT, RECOVERY, LOSS = 2, 3, 4

Address = IPv4Address | IPv6Address


class Flow(NamedTuple):
    """The addresses and ports of a connection: this host's and its peer's."""

    local: Address
    local_port: int
    peer: Address
    peer_port: int


class Info(NamedTuple):
    """What `inet_diag` says of a socket: fields of `struct tcp_info` (linux/tcp.h)."""

    state: int
    ca_state: int
    retransmits: int
    ssthresh: int
    dsack_dups: int
    total_rto: int


@dataclass
class Pending:
    """A socket that retransmits.

    Attributes:
        since: when it began, in seconds since 1970-01-01 00:00 UTC.
        first: its state then.
        least_ssthresh: the smallest ssthresh since, in segments.
        triggers: its retransmissions by trigger.
        retransmits: the timeouts in a row when it last retransmitted.
        recovered: when it was first seen to have recovered.
    """

    since: float
    first: Info
    least_ssthresh: int
    triggers: Counter[str]
    retransmits: int = 0
    recovered: float | None = None


class SocketWatcher:
    """Reports the kernel's findings on retransmissions of this host's connections."""

    def __init__(self, root: Path | None = None) -> None:
        """Turn the tracepoint on, in an instance of its own.

        Raises:
            WatchError: there is no tracefs, no such tracepoint, or no right to use it.
        """
        self.began = time.time()
        self.pending: dict[Flow, Pending] = {}
        self.retransmissions: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.timeouts: Counter[str] = Counter()
        self.connections = self.evicted = self.lost = self.elsewhere = 0
        self.looked = 0.0
        self.rest = b""
        self.instance = _instance(root)
        try:
            (self.instance / EVENT / "enable").write_text("1")
            self.pipe = os.open(self.instance / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
            self.netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
        except OSError as error:
            self._remove()
            raise WatchError(f"cannot use the tracepoint tcp_retransmit_skb: {error}") from None
        self.netlink.settimeout(1)

    def poll(self, seconds: float) -> list[str]:
        """Watch for this time; the verdicts that have settled, each as a JSON object."""
        until = time.monotonic() + seconds
        lines: list[str] = []
        while True:
            left = max(0.0, until - time.monotonic())
            select.select([self.pipe], [], [], min(left, AGAIN_S))
            for flow in self._events():
                self._retransmitted(flow)
            if time.monotonic() - self.looked >= AGAIN_S:
                self.looked = time.monotonic()
                lines += self._settled()
            if time.monotonic() >= until:
                return lines

    def finish(self) -> list[str]:
        """End; what is known of sockets that have not recovered."""
        lines = list(self._settled(at_end=True))
        self._remove()
        return lines

    def totals(self) -> str:
        """The totals so far as a JSON object, with the keys of a watch of packets."""
        totals = {
            "began": self.began,
            "ended": time.time(),
            "packets": 0,
            "connections": self.connections,
            "open": len(self.pending),
            "evicted": self.evicted,
            "retransmissions": self.retransmissions,
            "timeouts": self.timeouts,
            "handshake_timeouts": {},
            "unneeded_bytes": 0,
            "time_lost": 0.0,
            "late_acks": 0,
            "untold": 0,
            "kernel_drops": self.lost,
            "elsewhere": self.elsewhere,
        }
        return json.dumps(totals)

    def _remove(self) -> None:
        with suppress(OSError):
            (self.instance / EVENT / "enable").write_text("0")
        if hasattr(self, "pipe"):
            os.close(self.pipe)
            del self.pipe
        with suppress(OSError):
            self.instance.rmdir()

    def _events(self) -> Iterator[Flow]:
        """The connections of the retransmissions since the last call."""
        try:
            text = self.rest + os.read(self.pipe, 1 << 16)
        except BlockingIOError:
            return
        *lines, self.rest = text.split(b"\n")
        for line in lines:
            if lost := LOST.search(line):
                self.lost += int(lost[1])
            elif flow := event(line):
                yield flow

    def _retransmitted(self, flow: Flow) -> None:
        info = self._info(flow)
        one = self.pending.get(flow)
        if one is None and info is None:
            self.elsewhere += 1  # The tracepoint is that of all network namespaces.
            return
        if one is None:
            assert info
            self.connections += 1
            if len(self.pending) >= MOST_PENDING:
                self.evicted += 1
                return
            one = self.pending[flow] = Pending(time.time(), info, info.ssthresh, Counter())
        one.recovered = None
        if info is None:
            one.triggers["unknown"] += 1
            return
        one.triggers[_trigger(one, info)] += 1
        one.retransmits = info.retransmits
        if info.ca_state >= RECOVERY:
            one.least_ssthresh = min(one.least_ssthresh, info.ssthresh)

    def _settled(self, *, at_end: bool = False) -> Iterator[str]:
        now = time.time()
        for flow, one in list(self.pending.items()):
            info = self._info(flow)
            if info and (info.ca_state >= RECOVERY or info.retransmits > 0):
                is_over, info = now - one.since > GIVEN_UP_S, None
            else:
                one.recovered = one.recovered or now
                is_over = info is None or now - one.recovered >= SETTLES_S
            if is_over or at_end:
                del self.pending[flow]
                yield from self._verdicts(flow, one, info)

    def _verdicts(self, flow: Flow, one: Pending, last: Info | None) -> Iterator[str]:
        """What the kernel found out about a socket's retransmissions; `last` if it recovered."""
        duplicates = last.dsack_dups - one.first.dsack_dups if last else 0
        is_undone = last is not None and last.ssthresh > one.least_ssthresh
        about: dict[str, object] = {
            "at": one.since,
            "client": _shown(flow.local, flow.local_port),
            "server": _shown(flow.peer, flow.peer_port),
            "from": "client",
        }
        # D-SACKs count copies, and do not say which: those of timeouts come first.
        order = sorted(one.triggers.items(), key=lambda item: item[0] != "timeout")
        for trigger in (name for name, count in order for _ in range(count)):
            verdict = "unneeded" if duplicates > 0 else "unknown"
            duplicates -= 1
            self.retransmissions[trigger][verdict] += 1
            row = {"row": "retransmission", "trigger": trigger, "verdict": verdict}
            yield json.dumps(about | row)
        for number in range(one.triggers["timeout"]):
            class_ = "spurious" if is_undone else "unknown"
            self.timeouts[class_] += 1
            about |= {"row": "timeout", "class": class_, "handshake": False, "backoff": number}
            yield json.dumps(about)

    def _info(self, flow: Flow) -> Info | None:
        """The state of a socket; `None` if this network namespace has none of these addresses."""
        family = socket.AF_INET if flow.local.version == 4 else socket.AF_INET6
        ends = flow.local.packed.ljust(16, b"\0") + flow.peer.packed.ljust(16, b"\0")
        wanted = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, 2, 0xFFFFFFFF)
        wanted += struct.pack("!HH", flow.local_port, flow.peer_port) + ends
        wanted += struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)
        self.netlink.send(struct.pack("=IHHII", 16 + len(wanted), 20, 1, 0, 0) + wanted)
        try:
            return parsed(self.netlink.recv(1 << 13))
        except TimeoutError:
            return None


def _instance(root: Path | None) -> Path:
    """A new instance of tracefs: a ring of its own, which disturbs no other tracer."""
    roots = [root] if root else TRACEFS
    found = next((one for one in roots if (one / EVENT).is_dir()), None)
    if found is None:
        raise WatchError(
            "`watch --without-packets` needs tracefs, and root; mount it:  "
            "mount -t tracefs nodev /sys/kernel/tracing"
        )
    instance = found / "instances" / f"rtolab-{os.getpid()}"
    try:
        instance.mkdir()
    except OSError as error:
        raise WatchError(f"cannot make {instance}: {error.strerror}; run it with sudo") from None
    return instance


def _shown(address: Address, port: int) -> str:
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def event(line: bytes) -> Flow | None:
    """The connection of a line of `trace_pipe`; `None` for a line of another kind."""
    if b"tcp_retransmit_skb:" not in line:
        return None
    found = {name.decode(): text.decode() for name, text in FIELD.findall(line)}
    local, peer = (IPv6Address(found[f"{end}v6"]) for end in ("saddr", "daddr"))
    ports = int(found["sport"]), int(found["dport"])
    if local.ipv4_mapped and peer.ipv4_mapped:
        return Flow(local.ipv4_mapped, ports[0], peer.ipv4_mapped, ports[1])
    return Flow(local, ports[0], peer, ports[1])


def parsed(answer: bytes) -> Info | None:
    """The state in an answer of `inet_diag`: `struct inet_diag_msg` and its attributes."""
    length, kind = struct.unpack_from("=IH", answer)
    if kind != 20:
        return None
    state, at = answer[17], 16 + 72
    while at + 4 <= min(length, len(answer)):
        size, name = struct.unpack_from("=HH", answer, at)
        if name == 2:
            info = answer[at + 4 : at + size].ljust(248, b"\0")
            (ssthresh,) = struct.unpack_from("=I", info, 76)
            (dups,) = struct.unpack_from("=I", info, 216)
            (rto,) = struct.unpack_from("=H", info, 240)
            return Info(state, info[1], info[2], ssthresh, dups, rto)
        at += max(4, (size + 3) & ~3)
    return None


def _trigger(one: Pending, info: Info) -> str:
    """Why the socket retransmits, as far as its state says it."""
    if info.state == SYN_SENT:
        return "syn"
    if info.ca_state == LOSS:
        return "timeout" if info.retransmits > one.retransmits else "after-timeout"
    if info.ca_state == RECOVERY:
        return "recovery" if one.triggers["fast"] else "fast"
    return "tlp"
