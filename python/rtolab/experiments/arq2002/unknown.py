"""Unstated assumptions of the paper, for `reproduce --search`."""

from rtolab.experiments.arq2002.network import CLEAN_UPLINK, Setting, packets
from rtolab.experiments.base import UnstatedAssumption


def link(delay: int, rate: int) -> dict[str, str]:
    """Another link with the same errors, by scenario key."""
    keys = Setting(1.0, "arq", delay, rate).keys()
    return {key: value for key, value in keys.items() if "loss" not in key and "states" not in key}


def clock(tick: int) -> dict[str, str]:
    """A clock with this tick in ms, and a smallest timeout of two ticks, by scenario key."""
    return {"tcp.rto.granularity": f"{tick} ms", "tcp.rto.min": f"{2 * tick} ms"}


PACKET = UnstatedAssumption(
    "the packet", {f"{payload + 40} B": packets(payload) for payload in (128, 1000)}
)
UPLINK = UnstatedAssumption("the uplink", {"no errors": CLEAN_UPLINK.set})
WINDOW = UnstatedAssumption(
    "the window",
    {f"{count} packets of 512 B": packets(512, count) for count in (10, 50)},
)

OF_VARIANTS = (
    PACKET,
    WINDOW,
    UPLINK,
    UnstatedAssumption("the rate", {"384 kbit/s": link(10, 384)}),
    UnstatedAssumption("the rules of SACK", {"RFC 6675": {"tcp.sack_recovery.rules": "rfc6675"}}),
    UnstatedAssumption(
        "the timer of NewReno", {"slow but steady": {"tcp.newreno.timer": "slow-but-steady"}}
    ),
    UnstatedAssumption("the bugfix", {"none": {"tcp.recovery.bugfix": "none"}}),
)
"""Unstated assumptions about Figure 3's TCPs."""

OF_WEIGHTS = (
    UnstatedAssumption("the clock", {f"{tick} ms": clock(tick) for tick in (1, 2, 5, 20, 100)}),
    UnstatedAssumption(
        "the link",
        {
            "10 ms, 1920 kbit/s": link(10, 1920),
            "50 ms, 384 kbit/s": link(50, 384),
            "100 ms, 144 kbit/s": link(100, 144),
        },
    ),
    PACKET,
    UPLINK,
    UnstatedAssumption("the arithmetic", {"exact": {"tcp.rto.arithmetic": "exact"}}),
    UnstatedAssumption("the samples", {"of every ACK": {"tcp.rto.sampling": "every-ack"}}),
    UnstatedAssumption(
        "the bad state",
        {
            "10 ms on average": {
                "link.wireless.states.good.exponential": "100 ms",
                "link.wireless.states.bad.exponential": "10 ms",
            }
        },
    ),
)
"""Unstated assumptions about Figure 9's timeouts."""
