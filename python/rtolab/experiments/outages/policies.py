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


POLICIES = (
    Policy("doubling to 120 s", "linux", "RFC 6298 section 5.5; Linux, TCP_RTO_MAX"),
    Policy("maximum 30 s", "linux", "Linux 6.15, tcp_rto_max_ms", {"kernel.rto_max": "30 s"}),
    Policy("maximum 5 s", "linux", "Linux 6.15, tcp_rto_max_ms", {"kernel.rto_max": "5 s"}),
    Policy(
        "cap of idle/16",
        "linux",
        "picoquic, with an idle timeout of 120 s",
        {"tcp.backoff.cap": "7.5 s"},
    ),
    Policy("cap of 2 s", "linux+backoff:2s", "noq 1.4, MAX_PTO_INTERVAL"),
    Policy("six linear", "linux+backoff:linear", "Linux, TCP_THIN_LINEAR_RETRIES"),
    Policy("ICMP (LCD)", "linux+lcd", "RFC 6069 section 3"),
    Policy("path hint", "linux+path-hint", "noq issue 545; quic-go issue 5481"),
    Policy("warning (freeze)", "linux", "Freeze-TCP (Goff et al. 2000)", is_warned=True),
)
"""All policies, RFC 6298's first."""

DOUBLING, CAP, LINEAR = POLICIES[0], POLICIES[4], POLICIES[5]
