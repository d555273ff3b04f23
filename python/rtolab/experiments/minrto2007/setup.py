"""The one set of assumptions behind every experiment of the paper, and the senders compared.

The paper ran ns-2 and draws its two topologies without saying what its links are. What it leaves
open is the same for all senders. The hosts are ns-2's, except for what restarts the timer. We saw
results under other assumptions before we chose these; `CHOSEN` says which checks that concerns.
`rtolab reproduce --assume key=value` tries another value.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from rtolab.experiments.base import Alternative, Metric, Value, Variant, assumed, stated
from rtolab.experiments.measured import ExperimentRuns, Runs
from rtolab.stats import Estimate, mean_of

PAPER = "The TCP Minimum RTO Revisited"

SENDER = (
    assumed("tcp.mss", "1000 B", "ns-2's packet; on the wire 52 B more"),
    stated("tcp.timestamps", "true", "4: SACK with the timestamps option"),
    stated("tcp.timestamp.tick", "10 ms", "4: the clock granularity"),
    stated("tcp.rto.granularity", "10 ms", "4: the clock granularity"),
    assumed("tcp.rto.arithmetic", "ns2", "4: ns-2, which counts in whole ticks"),
    assumed("tcp.rto.initial", "3 s", "RFC 2988, which the paper cites"),
    assumed("tcp.rto.sample_handshake", "false", "ns-2's senders measure data only"),
    assumed(
        "tcp.rto.restart_on_retransmit",
        "false",
        "RFC 2988, 5.1 to 5.3: new ACKs restart the timer. Chosen after Figure 7(a) was seen",
    ),
    assumed("tcp.window.initial", "2 segments", "ns-2's since 2001"),
    assumed("tcp.window.halves", "window", "ns-2 halves the window"),
    assumed("tcp.window.halving", "segments", "ns-2 halves in whole segments"),
    assumed("tcp.window.repeated_timeout", "halves", "ns-2's windowing after a second timeout"),
    assumed("tcp.window.slow_start", "per-ack", "ns-2: one segment an ACK"),
    assumed("tcp.window.avoidance", "fractional-ack-counting", "ns-2: 1 / cwnd an ACK"),
    assumed("tcp.window.full_ack", "halved", "ns-2: the halved window when recovery ends"),
    assumed("tcp.recovery.limited_transmit", "true", "ns-2's since 2001; it decides Figure 7"),
    assumed("tcp.sack_recovery.rules", "ns2", "4: ns-2; its Sack1, as all else here is ns-2's"),
)
"""The behaviour of the server."""

RECEIVER = (
    stated("receiver.delayed_ack", "200 ms", "4: the delayed-ACK timer"),
    stated("receiver.ack_every", "2", "3: every second packet is acknowledged"),
    assumed(
        "receiver.gap_fill",
        "at-once",
        "RFC 2581, 4.2, the paper's reference 2; and ns-2's sink, by default",
    ),
    assumed("receiver.echo", "ns2bis", "ns-2's sink since 2003"),
)
"""The behaviour of the client."""

HOSTS = SENDER + RECEIVER

CHOSEN = (
    "what restarts the timer was chosen after Figure 7(a) was seen, the buffers and the starts "
    "after Table 2 was seen"
)
"""Of checks of sizes and times, which these choices change."""

SACK = "sack+frto:ns2"
"""SACK, with ns-2's F-RTO as the response to spurious timeouts (section 4)."""

PROPOSED = f"{SACK}+minrto"

LINUX = Variant(SACK, "Linux", "floor 200 ms", {"tcp.rto.min": "200 ms"})
SOLARIS = Variant(SACK, "Solaris", "floor 400 ms", {"tcp.rto.min": "400 ms"})
IETF = Variant(SACK, "IETF", "floor 1 s", {"tcp.rto.min": "1 s"})
NO_FLOOR = Variant(SACK, "None", "no floor", {"tcp.rto.min": "1 ms"})
MECHANISM = Variant(PROPOSED, "Proposed")
RESYNC = Variant(f"{PROPOSED}:resync", "Proposed, parity kept in step")
RESTARTS = "timer restarted by retransmissions"
RESTARTED = Variant(PROPOSED, "Proposed", RESTARTS, {"tcp.rto.restart_on_retransmit": "true"})
"""The other reading of "during FR the Minimum RTO is set to R ms": from its beginning on."""

FLOORS = (LINUX, SOLARIS, IETF)
"""The senders with which the paper compares its mechanism."""

VARIANTS = (*FLOORS, MECHANISM, NO_FLOOR)
"""The same, and no floor at all: nothing but the mechanism's waiting tells it from that."""

EQUAL = Variant(SACK, "Plain", "floor 250 ms", {"tcp.rto.min": "250 ms"})
LOWER = Variant(SACK, "Plain", "floor 180 ms", {"tcp.rto.min": "180 ms"})
CONTROLS = (EQUAL, LOWER)
"""Plain floors, which count no packets: the mean of the mechanism's floors, R on every second
packet and none on the others, and a tenth below that of Linux.

What the mechanism gains over the floors of systems, a lower floor may gain as well. What it gains
over these is due to its parity.
"""

LINUX_AS_IT_IS = Variant(
    SACK,
    "Linux as it is",
    "floor 200 ms on the variance",
    {"tcp.rto.min_on_variance": "200 ms", "tcp.rto.arithmetic": "exact"},
)
"""Linux adds its 200 ms to SRTT: its floor is on the variance, not on the timeout."""

OTHER_HOSTS = (
    Alternative(
        "SACK by RFC 3517, and ACKs of filled gaps delayed",
        {"tcp.sack_recovery.rules": "rfc3517", "receiver.gap_fill": "delayed"},
        "the standard of 2007, and a receiver by RFC 1122: our set until we saw Table 2",
    ),
    Alternative(
        "the timer restarted by retransmissions",
        {"tcp.rto.restart_on_retransmit": "true"},
        "as ns-2 at a fast retransmit: R holds from the beginning of recovery on",
    ),
    Alternative(
        "no limited transmit", {"tcp.recovery.limited_transmit": "false"}, "before RFC 3042"
    ),
    Alternative("the pipe of ns-2", {"tcp.sack_recovery.outstanding": "classic"}),
    Alternative("RFC 2988 in exact numbers", {"tcp.rto.arithmetic": "exact"}),
)
"""Alternatives for the hosts."""


def among(
    variant: Variant, condition: str, change: Mapping[str, str], *, x: float | None = None
) -> Variant:
    """The variant under another condition, as a point of a figure if `x` says where."""
    said = f"{variant.condition}, {condition}" if variant.condition else condition
    series = f"{variant.label} ({variant.condition})" if variant.condition else variant.label
    changed = dict(variant.set) | dict(change)
    return replace(variant, condition=said, set=changed, series=series, x=x)


def gain(
    measured: ExperimentRuns, pair: tuple[Variant, Variant], metric: Metric, *, saved: bool = False
) -> Estimate | None:
    """How much larger a metric is than another sender's on the same seed, as a share of that.

    Args:
        measured: the runs.
        pair: whose gain, and over whom.
        metric: what grows.
        saved: is it what shrinks, such as a time?

    Returns:
        The mean over the seeds with its bootstrap interval, `None` without runs.
    """
    left, right = (measured.values(variant.key, metric) for variant in pair)
    if not left.size or left.size != right.size or not np.all(right):
        return None
    grown = left / right - 1.0
    return mean_of(-grown if saved else grown)


WRONG = (pl.col("kind") == "timeout") & (pl.col("end") == "sender") & ~pl.col("needed")
"""Rows of `timeouts`: the server's whose retransmission was not needed."""


def spurious(runs: Runs) -> pl.Series:
    """The spurious timeouts of the servers, a value a run."""
    return runs.a_run(runs.timeouts.filter(WRONG))


SPURIOUS = Metric("spurious", "Spurious timeouts", "", spurious)


def per_cent(name: str, found: Estimate | None, published: float | None = None) -> Value:
    """A share as a row of a table, in per cent."""
    scaled = (
        None
        if found is None
        else Estimate(100.0 * found.value, 100.0 * found.low, 100.0 * found.high)
    )
    return Value(name, name, scaled, published, unit="%", digits=1)
