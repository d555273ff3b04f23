"""Verdicts on retransmissions and on declared losses, and classes of timeouts, in order."""

VERDICTS = ("unneeded", "needed", "unknown")
CLASSES = ("spurious", "ack-lost", "genuine", "unknown")
LOSSES = ("spurious", "genuine", "unknown")
