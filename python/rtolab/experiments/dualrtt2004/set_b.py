"""Set B: the paper's networks and hosts (sections II-A and VII), as they hit its printed times.

The paper prints a link of 46.8 kbit/s. With 50 kbit/s each way, a clock of 100 ms and a smallest
timeout of 1 s an ns-2.35 sends segment 131 at 28.986 s and times out at 34.537 and 42.137 s, as the
paper prints. What is listed here is set in the scenario.
"""

from rtolab.experiments.base import Alternative, Variant, assumed, stated, taken

FIRST_DATA = 2.9
"""When the first data leave, in s: the paper's ns-2 has no handshake, and its clock begins then."""

WINDOW = 20
"""The receiver's window in segments (Tables I and VIII)."""

TIMESTAMPS = 12
"""Bytes of Eifel's option in every segment (section I)."""

HEADERS = 40
"""Bytes of the IP and TCP headers, without options, that the paper's 576 B hold (section VII-D)."""

HOSTS = (
    stated("tcp.window.initial", "1 segment", "Tables I and VIII"),
    stated("tcp.window.initial_ssthresh", "20 segments", "Tables I and VIII"),
    assumed("receiver.ack_every", "1", "ns-2's sink, by default"),
    assumed("tcp.rto.arithmetic", "ns2", "the paper used ns-2"),
    assumed("tcp.rto.granularity", "100 ms", "ns-2's tick of the time; Table II has its steps"),
    assumed("tcp.rto.min", "1 s", "hits the paper's times"),
    assumed("tcp.rto.sample_handshake", "false", "ns-2 has no handshake"),
    assumed("tcp.rto.sampling", "once-per-window", "ns-2 times one segment at a time"),
    assumed("tcp.rto.restart_on_retransmit", "true", "ns-2"),
    assumed("tcp.window.halves", "window", "ns-2 halves the window, not what is outstanding"),
    assumed("tcp.window.halving", "segments", "ns-2: ssthresh is whole segments"),
    assumed("tcp.window.repeated_timeout", "halves", "ns-2: the second timeout halves again"),
    assumed("tcp.window.full_ack", "halved", "ns-2: what fast recovery leaves"),
    assumed("tcp.window.avoidance", "fraction", "ns-2 counts fractions of segments"),
)
"""Sender and receiver, in all experiments but for the size of their segments."""

PAYLOAD = (
    stated("tcp.mss", "536 B", "Tables I and VIII: a payload of 536 B"),
    stated("receiver.buffer", "10720 B", "Tables I and VIII: a window of 20 segments"),
)

HICCUP = (
    assumed("link.path.rate", "50 kbit/s", "II-A prints 46.8 kbit/s; 50 each way hits its times"),
    stated("link.path.delay", "1.4 s", "II-A: one way"),
    stated(
        "link.path.forward.stalls.scripted",
        f'[{{ at = "{28 + FIRST_DATA:g} s", for = "12 s" }}]',
        "II-A: from 28.0 s for 12 s, in the uplink; the handshake's time is added",
    ),
    stated("link.path.forward.stalls.holds", "entry", "II-A: held before the link's queue"),
)

LIMITED_TRANSMIT = assumed(
    "tcp.recovery.limited_transmit", "true", "ns-2.35; without consequence here"
)

SET_B = (*HICCUP, *PAYLOAD, *HOSTS, LIMITED_TRANSMIT)
"""The one long hold of Figures 2 to 5."""


def eifel(payload: int = 536) -> dict[str, str]:
    """What Eifel's timestamps change: the paper keeps the payload (Table VIII)."""
    return {
        "tcp.mss": f"{payload + TIMESTAMPS} B",
        "receiver.buffer": f"{WINDOW * payload} B",
        "tcp.rto.sampling": "every-ack",
        "receiver.echo": "echo-all",
    }


STAMPED = (
    taken("Eifel's segments", "536 B and 12 B of option", "Table VIII: the payload is the same"),
    taken("Eifel's round trips", "one an ACK", "timestamps time every segment; Fig. 4 needs it"),
    taken("Eifel's echo", "of every segment", "ns-2's sink, before August 2003"),
)
"""What `eifel` assumes."""

KEEP = {"tcp.recover_on_undo": "keep"}
DISCOUNT = {"tcp.recover_on_undo": "discount"}
RESET = {"tcp.recover_on_undo": "reset"}

EIFEL = Variant("reno:no-bugfix+eifel", "Eifel", "with timestamps", eifel())

PRINTED_RATE = Alternative(
    "the printed rate", {"link.path.rate": "46.8 kbit/s"}, "II-A; the printed times then are off"
)
SMALLER_FLOOR = Alternative(
    "a smallest timeout of 200 ms", {"tcp.rto.min": "200 ms"}, "two ticks, ns-2 before 2004"
)
NO_LIMITED_TRANSMIT = Alternative(
    "no limited transmit", {"tcp.recovery.limited_transmit": "false"}, "ns-2 2.1b8, by default"
)
OTHER_CHOICES = (PRINTED_RATE, SMALLER_FLOOR, NO_LIMITED_TRANSMIT)
"""For the one long hold."""
