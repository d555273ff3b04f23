"""What a diagnosis calls retransmissions and timeouts, in the order in which they are shown."""

VERDICTS = ("unneeded", "needed", "unknown")
CLASSES = ("spurious", "ack-lost", "genuine", "unknown")
