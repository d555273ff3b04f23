"""Set B: the paper's network (section II-A), as it hits the paper's printed times.

The paper prints a link of 46.8 kbit/s. With 50 kbit/s each way, a clock of 100 ms and a smallest
timeout of 1 s an ns-2.35 sends segment 131 at 28.986 s and times out at 34.537 and 42.137 s, as the
paper prints. What is listed here is set in the scenario.
"""

from __future__ import annotations

from rtolab.experiments.base import assumed, stated

FIRST_DATA = 2.9
"""When the first data leave, in s: the paper's ns-2 has no handshake, and its clock begins then."""

SET_B = (
    assumed("link.path.rate", "50 kbit/s", "II-A prints 46.8 kbit/s; 50 each way hits its times"),
    stated("link.path.delay", "1.4 s", "II-A: one way"),
    stated(
        "link.path.forward.stalls.scripted",
        f'[{{ at = "{28 + FIRST_DATA:g} s", for = "12 s" }}]',
        "II-A: from 28.0 s for 12 s, in the uplink; the handshake's time is added",
    ),
    stated("link.path.forward.stalls.holds", "entry", "II-A: held before the link's queue"),
    stated("tcp.mss", "536 B", "Table I: a payload of 536 B"),
    stated("tcp.window.initial", "1 segment", "Table I"),
    stated("tcp.window.initial_ssthresh", "20 segments", "Table I"),
    stated("receiver.buffer", "10720 B", "Table I: a window of 20 segments"),
    assumed("receiver.ack_every", "1", "ns-2's sink, by default"),
    assumed("tcp.rto.arithmetic", "ns2", "the paper used ns-2"),
    assumed("tcp.rto.granularity", "100 ms", "ns-2's tick of the time; Table II has its steps"),
    assumed("tcp.rto.min", "1 s", "hits the paper's times"),
    assumed("tcp.recovery.limited_transmit", "true", "ns-2.35; without consequence here"),
)
