"""The words of a diagnosis: classes of timeouts, verdicts, and where a capture was made."""

from collections.abc import Mapping

TIMEOUT, VERDICT, TERM = "class of a timeout", "verdict on a retransmission", "term of a diagnosis"

WORDS: Mapping[str, tuple[str, str, str]] = {
    "spurious": (
        TIMEOUT,
        "The retransmission was unneeded: an acknowledgment of an original arrived late.",
        "RFC 5682",
    ),
    "ack-lost": (
        TIMEOUT,
        "The retransmission was unneeded: the data had arrived, and its acknowledgments were lost.",
        "",
    ),
    "genuine": (TIMEOUT, "The retransmission was needed: the data was lost.", ""),
    "unneeded": (VERDICT, "An earlier copy of the data arrived first.", "RFC 2883"),
    "needed": (VERDICT, "No earlier copy of the data arrived.", ""),
    "unknown": (VERDICT, "The capture does not show which copy arrived first.", ""),
    "vantage": (
        TERM,
        (
            "Where the capture was made: at the sender of most data, at its receiver, between "
            "them, or unknown. At the receiver, neither triggers nor timeouts are known."
        ),
        "",
    ),
    "episode": (
        TERM,
        "A timeout and its consequences, until all data outstanding then is acknowledged.",
        "",
    ),
    "silence": (
        TERM,
        "A time of a second and more without a packet that no retransmission ended.",
        "",
    ),
    "go-back-N": (
        TERM,
        "After a timeout the sender retransmits all outstanding data, also what had arrived.",
        "",
    ),
    "time_lost": (
        TERM,
        "The time by which timeouts and late acknowledgments delayed the connection, in seconds.",
        "",
    ),
}
"""Each word: its kind, its meaning, and the publication."""
