"""The commands that apply a recommendation."""

from __future__ import annotations

from collections.abc import Iterator

from rtolab.tuning import CURRENT_S, PathClass, Tuning
from rtolab.tuning.bpf import Rule

BPF_LEAST_S = 0.008
"""Two jiffies with CONFIG_HZ=250: BPF and socket options take nothing less."""
CEILING_MS = 120_000
"""Linux's maximum RTO in milliseconds (`TCP_RTO_MAX`)."""


def settings(tuning: Tuning) -> list[PathClass]:
    """A class per prefix with something to set: of several, the one with the largest minimum.

    A route, a rule or a socket knows no round trip, so the classes of a prefix share its setting.
    """
    chosen: dict[str, PathClass] = {}
    unsure = {str(one.network) for one in tuning.classes if is_unsafe(one)}
    for one in tuning.classes:
        key = str(one.network)
        if one.recommended is None or one.recommended >= CURRENT_S or key in unsure:
            continue
        known = chosen.get(key)
        if known is None or (known.recommended or 0.0) < one.recommended:
            chosen[key] = one
    return list(chosen.values())


def is_unsafe(one: PathClass) -> bool:
    """Would a smaller minimum cause spurious timeouts on this class?"""
    return one.limit >= CURRENT_S


def delayed_ack(one: PathClass) -> float | None:
    """The longest delay of ACKs in seconds that lets the minimum RTO fall; None keeps it.

    Half of the minimum that would do without delayed ACKs, because the timer of an ACK is late
    itself.
    """
    least, now = one.without_delay, one.recommended
    if least is None or now is None or least * 2.0 > now:
        return None
    return max(least / 2.0, BPF_LEAST_S)


def rules(tuning: Tuning) -> list[Rule]:
    """The rules of the BPF program, the longest prefix first."""
    made = []
    for one in settings(tuning):
        delay = delayed_ack(one)
        floor = max(one.recommended or CURRENT_S, BPF_LEAST_S)
        microseconds = None if delay is None else round(delay * 1e6)
        made.append(Rule(one.network, round(floor * 1e6), microseconds))
    return sorted(made, key=lambda rule: -(rule.network.prefixlen if rule.network else 0))


def commands(tuning: Tuning) -> Iterator[tuple[str, str]]:
    """What each command does, and the command."""
    chosen = settings(tuning)
    for one in chosen:
        floor = milliseconds(one.recommended or CURRENT_S)
        version = "-6 " if one.network.version == 6 else ""
        yield (
            f"the route to {one.network}",
            f"ip {version}route replace {one.network} via GATEWAY dev DEVICE rto_min {floor}",
        )
    if chosen:
        largest = max(one.recommended or CURRENT_S for one in chosen)
        sure = len(chosen) == len({one.network for one in tuning.classes})
        where = (
            "all sockets, Linux 6.11" if sure else "all sockets, also of other paths, Linux 6.11"
        )
        yield where, f"sysctl -w net.ipv4.tcp_rto_min_us={largest * 1e6:.0f}"
        yield (
            "one socket, Linux 6.15",
            f"setsockopt(fd, IPPROTO_TCP, TCP_RTO_MIN_US, {largest * 1e6:.0f})",
        )
        yield "the sockets of a cgroup, per prefix", "rtolab tune ... --apply --cgroup CGROUP"
        delays = [delay for one in chosen if (delay := delayed_ack(one)) is not None]
        if delays:
            yield (
                "one socket of the receivers, Linux 6.15",
                f"setsockopt(fd, IPPROTO_TCP, TCP_DELACK_MAX_US, {min(delays) * 1e6:.0f})",
            )
    if tuning.cap is not None:
        yield (
            "the longest timeout of all sockets, Linux 6.15",
            f"sysctl -w net.ipv4.tcp_rto_max_ms={tuning.cap * 1000:.0f}",
        )


def milliseconds(seconds: float) -> str:
    """A time as `ip route` reads it."""
    return f"{seconds * 1000:.0f}ms"
