"""A watch without packets: the kernel's tracepoint `tcp_retransmit_skb`, and `inet_diag`.

The tracepoint names each socket that retransmits. `inet_diag` (sock_diag(7)) then gives the state
of the socket until it has recovered: whether it is in loss recovery, how many D-SACKs it received,
and whether it undid the reduction of its window. It sees the connections of this host only.
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
MAX_PENDING = 10_000
"""The maximum number of sockets whose verdicts are pending."""
RECOVERY_LIMIT_S = 120.0
"""The watch gives up on a socket that has not recovered after this time."""
POLL_INTERVAL_S = 0.5
"""The interval at which the watch asks for the state of pending sockets."""
DSACK_WAIT_S = 1.0
"""The time after the end of a recovery in which a D-SACK still counts."""
TCP_SYN_SENT, TCP_CA_RECOVERY, TCP_CA_LOSS = 2, 3, 4
NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, INET_DIAG_INFO = 4, 20, 2

Address = IPv4Address | IPv6Address


class Flow(NamedTuple):
    """The addresses and ports of a connection: this host's and its peer's."""

    local: Address
    local_port: int
    peer: Address
    peer_port: int


class TcpInfo(NamedTuple):
    """The fields of `struct tcp_info` (linux/tcp.h) that the watch uses."""

    state: int
    ca_state: int
    retransmits: int
    ssthresh: int
    dsack_dups: int


@dataclass
class PendingSocket:
    """A socket with retransmissions without a verdict. Times are in Unix seconds.

    Attributes:
        since: the time of its first retransmission.
        first: its `tcp_info` at that time.
        min_ssthresh: its smallest ssthresh since then, in segments.
        triggers: the number of its retransmissions by trigger.
        retransmits: `icsk_retransmits` (consecutive timeouts) at its last retransmission.
        recovered: the time at which the watch first saw that it had recovered.
    """

    since: float
    first: TcpInfo
    min_ssthresh: int
    triggers: Counter[str]
    retransmits: int = 0
    recovered: float | None = None


class SocketWatcher:
    """Reports the retransmissions of this host's sockets, with verdicts from their counters."""

    def __init__(self, root: Path | None = None) -> None:
        """Turn the tracepoint on, in an instance of its own.

        Raises:
            WatchError: there is no tracefs, no such tracepoint, or no right to use it.
        """
        self.began = time.time()
        self.pending: dict[Flow, PendingSocket] = {}
        self.retransmissions: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.timeouts: Counter[str] = Counter()
        self.connections = self.evicted = self.lost_events = self.other_namespaces = 0
        self.polled = 0.0
        self.partial_line = b""
        self.instance = _make_instance(root)
        try:
            (self.instance / EVENT / "enable").write_text("1")
            self.pipe = os.open(self.instance / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
            self.netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
        except OSError as error:
            self._remove()
            raise WatchError(f"cannot use the tracepoint tcp_retransmit_skb: {error}") from None
        self.netlink.settimeout(1)

    def poll(self, seconds: float) -> list[str]:
        """Watch for `seconds`. Returns the verdicts of this time, as JSON objects."""
        until = time.monotonic() + seconds
        lines: list[str] = []
        while True:
            left = max(0.0, until - time.monotonic())
            select.select([self.pipe], [], [], min(left, POLL_INTERVAL_S))
            for flow in self._events():
                self._on_retransmission(flow)
            if time.monotonic() - self.polled >= POLL_INTERVAL_S:
                self.polled = time.monotonic()
                lines += self._settle()
            if time.monotonic() >= until:
                return lines

    def finish(self) -> list[str]:
        """End the watch. Returns the verdicts on all sockets that are still pending."""
        lines = list(self._settle(at_end=True))
        self._remove()
        return lines

    def totals(self) -> str:
        """The totals so far, as a JSON object with the same keys as those of a watch of packets."""
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
            "unreported": 0,
            "kernel_drops": self.lost_events,
            "elsewhere": self.other_namespaces,
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
        """The connection of each retransmission since the last call."""
        try:
            text = self.partial_line + os.read(self.pipe, 1 << 16)
        except BlockingIOError:
            return
        *lines, self.partial_line = text.split(b"\n")
        for line in lines:
            if lost := LOST.search(line):
                self.lost_events += int(lost[1])
            elif flow := parse_event(line):
                yield flow

    def _on_retransmission(self, flow: Flow) -> None:
        info = self._info(flow)
        pending = self.pending.get(flow)
        if pending is None and info is None:
            # The tracepoint covers all network namespaces, `inet_diag` only this one.
            self.other_namespaces += 1
            return
        if pending is None:
            assert info
            self.connections += 1
            if len(self.pending) >= MAX_PENDING:
                self.evicted += 1
                return
            pending = PendingSocket(time.time(), info, info.ssthresh, Counter())
            self.pending[flow] = pending
        pending.recovered = None
        if info is None:
            pending.triggers["unknown"] += 1
            return
        pending.triggers[_trigger(pending, info)] += 1
        pending.retransmits = info.retransmits
        if info.ca_state >= TCP_CA_RECOVERY:
            pending.min_ssthresh = min(pending.min_ssthresh, info.ssthresh)

    def _settle(self, *, at_end: bool = False) -> Iterator[str]:
        """The verdicts on sockets that have recovered or are given up; at the end on all."""
        now = time.time()
        for flow, pending in list(self.pending.items()):
            info = self._info(flow)
            if info and (info.ca_state >= TCP_CA_RECOVERY or info.retransmits > 0):
                is_over, info = now - pending.since > RECOVERY_LIMIT_S, None
            else:
                pending.recovered = pending.recovered or now
                is_over = info is None or now - pending.recovered >= DSACK_WAIT_S
            if is_over or at_end:
                del self.pending[flow]
                yield from self._verdicts(flow, pending, info)

    def _verdicts(self, flow: Flow, pending: PendingSocket, last: TcpInfo | None) -> Iterator[str]:
        """The verdicts on a socket's retransmissions. `last` is its state after it recovered."""
        duplicates = last.dsack_dups - pending.first.dsack_dups if last else 0
        # An undo restores the ssthresh from before the reduction.
        is_undone = last is not None and last.ssthresh > pending.min_ssthresh
        about: dict[str, object] = {
            "at": pending.since,
            "client": _endpoint(flow.local, flow.local_port),
            "server": _endpoint(flow.peer, flow.peer_port),
            "from": "client",
        }
        # `tcp_info` counts D-SACKs but does not say which copies they report. We assign them to
        # retransmissions by timeout first.
        order = sorted(pending.triggers.items(), key=lambda item: item[0] != "timeout")
        for trigger in (name for name, count in order for _ in range(count)):
            verdict = "unneeded" if duplicates > 0 else "unknown"
            duplicates -= 1
            self.retransmissions[trigger][verdict] += 1
            row = {"row": "retransmission", "trigger": trigger, "verdict": verdict}
            yield json.dumps(about | row)
        for number in range(pending.triggers["timeout"]):
            class_ = "spurious" if is_undone else "unknown"
            self.timeouts[class_] += 1
            about |= {"row": "timeout", "class": class_, "handshake": False, "backoff": number}
            yield json.dumps(about)

    def _info(self, flow: Flow) -> TcpInfo | None:
        """The current state of a socket; `None` if this network namespace has no such socket."""
        family = socket.AF_INET if flow.local.version == 4 else socket.AF_INET6
        addresses = flow.local.packed.ljust(16, b"\0") + flow.peer.packed.ljust(16, b"\0")
        request = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, 2, 0xFFFFFFFF)
        request += struct.pack("!HH", flow.local_port, flow.peer_port) + addresses
        request += struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)
        header = struct.pack("=IHHII", 16 + len(request), SOCK_DIAG_BY_FAMILY, 1, 0, 0)
        self.netlink.send(header + request)
        try:
            return parse_reply(self.netlink.recv(1 << 13))
        except TimeoutError:
            return None


def _make_instance(root: Path | None) -> Path:
    """Make an instance of tracefs. Its ring buffer is separate from that of other tracers."""
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


def _endpoint(address: Address, port: int) -> str:
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def parse_event(line: bytes) -> Flow | None:
    """The connection in a line of `trace_pipe`; `None` for other events."""
    if b"tcp_retransmit_skb:" not in line:
        return None
    found = {name.decode(): text.decode() for name, text in FIELD.findall(line)}
    local, peer = (IPv6Address(found[f"{end}v6"]) for end in ("saddr", "daddr"))
    ports = int(found["sport"]), int(found["dport"])
    if local.ipv4_mapped and peer.ipv4_mapped:
        return Flow(local.ipv4_mapped, ports[0], peer.ipv4_mapped, ports[1])
    return Flow(local, ports[0], peer, ports[1])


def parse_reply(reply: bytes) -> TcpInfo | None:
    """The state in a reply of `inet_diag`: `struct inet_diag_msg` and its attributes."""
    length, kind = struct.unpack_from("=IH", reply)
    if kind != SOCK_DIAG_BY_FAMILY:
        return None
    state, at = reply[17], 16 + 72
    while at + 4 <= min(length, len(reply)):
        size, name = struct.unpack_from("=HH", reply, at)
        if name == INET_DIAG_INFO:
            info = reply[at + 4 : at + size].ljust(220, b"\0")
            (ssthresh,) = struct.unpack_from("=I", info, 76)
            (dups,) = struct.unpack_from("=I", info, 216)
            return TcpInfo(state, info[1], info[2], ssthresh, dups)
        at += max(4, (size + 3) & ~3)
    return None


def _trigger(pending: PendingSocket, info: TcpInfo) -> str:
    """The trigger of a retransmission, as far as the state of the socket shows it."""
    if info.state == TCP_SYN_SENT:
        return "syn"
    if info.ca_state == TCP_CA_LOSS:
        return "timeout" if info.retransmits > pending.retransmits else "after-timeout"
    if info.ca_state == TCP_CA_RECOVERY:
        return "recovery" if pending.triggers["fast"] else "fast"
    return "tlp"
