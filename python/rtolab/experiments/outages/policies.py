"""The back-off policies of the study."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Policy:
    """A policy for the time in which nothing is acknowledged.

    Attributes:
        label: its name in tables and figures.
        sender: the sender specification.
        set: its settings, by scenario key.
        is_warned: does a node close the window before each outage (Freeze-TCP)?
        source: the RFC or the stack.
    """

    label: str
    sender: str
    source: str
    set: Mapping[str, str] = field(default_factory=dict)
    is_warned: bool = False


SENDER = "rack+frto:linux+cubic"
"""Linux's loss recovery, F-RTO and congestion control; `KEYS` adds its timer."""

KEYS = {"tcp.timestamps": "true", "tcp.rto.min_on_variance": "200 ms", "tcp.rto.max": "120 s"}
"""Settings of every sender, by scenario key."""

POLICIES = (
    Policy("doubling to 120 s", SENDER, "RFC 6298 section 5.5; Linux, TCP_RTO_MAX"),
    Policy("maximum 30 s", SENDER, "Linux 6.15, tcp_rto_max_ms", {"tcp.rto.max": "30 s"}),
    Policy("maximum 5 s", SENDER, "Linux 6.15, tcp_rto_max_ms", {"tcp.rto.max": "5 s"}),
    Policy(
        "cap of idle/16",
        SENDER,
        "picoquic, with an idle timeout of 120 s",
        {"tcp.backoff.cap": "7.5 s"},
    ),
    Policy("cap of 2 s", f"{SENDER}+backoff:2s", "noq 1.4, MAX_PTO_INTERVAL"),
    Policy("six linear", f"{SENDER}+backoff:linear", "Linux, TCP_THIN_LINEAR_RETRIES"),
    Policy("ICMP (LCD)", f"{SENDER}+lcd", "RFC 6069 section 3"),
    Policy("path hint", f"{SENDER}+path-hint", "noq issue 545; quic-go issue 5481"),
    Policy("warning (freeze)", SENDER, "Freeze-TCP (Goff et al. 2000)", is_warned=True),
)
"""All policies, RFC 6298's first."""

DOUBLING, CAP, LINEAR = POLICIES[0], POLICIES[4], POLICIES[5]
