"""Set R: the assumptions of every experiment of the report.

The values that the report omits are the same for every table and every variant. We chose most of
them from the RFCs and Linux 2.4 before the first results, and those in `SETTLED` after we had seen
the tables. `rtolab reproduce --assume key=value` tries another value.
"""

from rtolab.experiments.base import Alternative, assumed, stated

LINK = (
    stated("link.wireless.rate", "28.8 kbit/s", "5.1: 28,800 bps; the uplink is assumed the same"),
    stated("link.wireless.delay", "200 ms", "5.1: propagation; assumed one way, each direction"),
    stated("link.wireless.queue", "7 packets", "5.1: router buffer of seven packets, drop-tail"),
    stated("link.wireless.send_buffer", "1776 B", "5.1; on top of the queue, six packets of 296 B"),
    stated("link.wireless.receive_buffer", "1776 B", "5.1; releases in order"),
    assumed("link.lan.rate", "10 Mbit/s", "an isolated LAN: negligible beside the wireless link"),
    assumed("link.lan.delay", "1 ms", "an isolated LAN: negligible beside the wireless link"),
)

TRANSFER = (
    stated("flow.transfer.bytes", "102400 B", "5.1: 100 KB; a KB is assumed to be 1024 bytes"),
)

SENDER = (
    stated("tcp.mss", "256 B", "5.1: maximum segment size"),
    assumed(
        "tcp.timestamp.in_mss", "true", "12 bytes out of the MSS: 420 segments, about 4 % more"
    ),
    assumed("tcp.window.initial", "2 segments", "RFC 2581's largest initial window"),
    assumed("tcp.window.initial_ssthresh", "unlimited", "RFC 2581: arbitrarily high"),
    assumed("tcp.window.halving", "bytes", "RFC 2581, unmodified"),
    assumed("tcp.window.avoidance", "ack-counting", "RFC 2581's formula, once an ACK"),
    stated(
        "tcp.window.max_burst", "3 segments", "3: three segments an ACK; assumed for every variant"
    ),
    stated("tcp.recovery.limited_transmit", "true", "5.1: with all TCP alternatives"),
    assumed("tcp.rto.min", "1 s", "RFC 2988; any floor up to 1 s gives the same tables"),
    assumed("tcp.rto.initial", "3 s", "RFC 2988"),
    assumed("tcp.rto.k", "4", "RFC 2988"),
    assumed("tcp.rto.granularity", "10 ms", "the clock of Linux 2.4"),
    assumed("tcp.rto.sampling", "every-ack", "RFC 2988, by Karn's rule or by timestamps"),
    assumed(
        "tcp.rto.restart_on_retransmit",
        "true",
        "each one in fast recovery; else Table 2 has 32 rexmits, not 24",
    ),
    assumed("tcp.timestamp.tick", "10 ms", "the clock of Linux 2.4"),
    stated("tcp.sack_recovery.rules", "rfc3517", "5.1: the conservative algorithm of the IETF"),
    assumed("tcp.sack_recovery.outstanding", "classic", "lost segments stay counted in the window"),
    assumed("tcp.recovery.bugfix", "careful", "RFC 2582's careful variant"),
    assumed("tcp.newreno.timer", "slow-but-steady", "each partial ACK restarts the timer"),
    assumed("tcp.window.full_ack", "flight-size", "RFC 2582's min(ssthresh, FlightSize + 1)"),
    assumed("tcp.recover_on_undo", "reset", "3: `send_high` ignored after F-RTO; so after Eifel"),
)

RECEIVER = (
    assumed("receiver.ack_every", "2", "RFC 2581's delayed ACKs, without quick ones"),
    assumed("receiver.delayed_ack", "200 ms", "usual; RFC 2581 allows up to 500 ms"),
    assumed("receiver.echo", "linux", "5.1: the end hosts are Linux 2.4 systems"),
    assumed("receiver.buffer", "32 kB", "never the limit, from 8 kB up"),
)

SET_R = LINK + TRANSFER + SENDER + RECEIVER
"""The assumptions of every experiment."""

SETTLED = (
    "tcp.rto.restart_on_retransmit, tcp.window.max_burst (at transmission), tcp.window.halving and "
    "limited transmit's part of ssthresh, with Tables 1 to 3 in view"
)
"""Choices that we made after seeing results; `docs/decisions.md` has those of alternatives."""

SETTLED_ECHO = "receiver.echo = linux instead of rfc1323, with Table 3 in view"
"""A choice that we made after seeing results, for Eifel alone."""

DELAYS = (
    stated("link.wireless.spikes.probability", "0.02", "5.1: each packet; assumed ACKs too"),
    stated(
        "link.wireless.spikes.length", '{ exponential = "3.5 s" }', "5.1: exponential, mean 3.5 s"
    ),
    assumed(
        "link.wireless.spikes.holds",
        "delivery",
        "later packets are sent until the link's buffers are full, and delivered in order",
    ),
)
"""Table 1: sudden delays."""

LOSSES = (stated("link.wireless.loss", "0.05", "5.1: each packet, uniform; assumed ACKs too"),)
"""Table 2: packet losses."""

OUTAGES = (
    stated(
        "link.wireless.outages.random.good",
        '{ uniform = ["0.1 s", "20 s"] }',
        "5.1: the good state lasts 0.1 to 20 s",
    ),
    stated(
        "link.wireless.outages.random.bad",
        '{ exponential = "3.5 s" }',
        "5.1: exponential, mean 3.5 s; both directions lose everything",
    ),
    assumed("link.wireless.outages.random.stationary", "true", "a SYN may be lost as any packet"),
)
"""Table 3: bursty losses."""

OTHER_CHOICES = (
    Alternative("a clock of 1 ms", {"tcp.rto.granularity": "1 ms", "tcp.timestamp.tick": "1 ms"}),
    Alternative("an initial window of one segment", {"tcp.window.initial": "1 segment"}),
    Alternative("a floor of 200 ms", {"tcp.rto.min": "200 ms"}, "Linux's"),
    Alternative("ssthresh in whole segments", {"tcp.window.halving": "segments"}, "Linux's"),
    Alternative(
        "no restart of the timer by retransmissions", {"tcp.rto.restart_on_retransmit": "false"}
    ),
    Alternative("the strict pipe of RFC 3517", {"tcp.sack_recovery.outstanding": "pipe"}),
    Alternative("NewReno impatient", {"tcp.newreno.timer": "impatient"}, "RFC 6582's choice"),
    Alternative("recovery ends at ssthresh", {"tcp.window.full_ack": "ssthresh"}),
    Alternative("duplicates discounted after an undo", {"tcp.recover_on_undo": "discount"}),
    Alternative("delayed ACKs of 100 ms", {"receiver.delayed_ack": "100 ms"}),
    Alternative("the echo of RFC 1323", {"receiver.echo": "rfc1323"}, "footnote 2"),
    Alternative("every timestamp echoed", {"receiver.echo": "echo-all"}, "footnote 3"),
    Alternative("timestamps beside the MSS", {"tcp.timestamp.in_mss": "false"}, "256 B of payload"),
)
"""Other choices for values that the report omits."""

DATA_ONLY = Alternative(
    "delays of data only",
    {
        "link.wireless.backward.spikes": (
            '{ probability = 0, length = { exponential = "3.5 s" }, holds = "delivery" }'
        )
    },
    "ACKs are packets, too, but the report may mean data",
)
HELD_SERVICE = Alternative(
    "service stops during a delay",
    {"link.wireless.spikes.holds": "service"},
    "the link may send nothing until a late packet has arrived",
)
DATA_LOST = Alternative(
    "losses of data only",
    {"link.wireless.backward.loss": "0"},
    "the report's counts of lost packets contradict it",
)
FRESH_OUTAGES = Alternative(
    "outages that begin with a good time",
    {"link.wireless.outages.random.stationary": "false"},
    "the emulator may start in the good state",
)
