"""Verdicts on retransmissions and classes of timeouts, in display order."""

VERDICTS = ("unneeded", "needed", "unknown")
CLASSES = ("spurious", "ack-lost", "genuine", "unknown")
