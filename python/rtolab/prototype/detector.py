"""Was that retransmission wrong? Detectors written in Python."""

from dataclasses import dataclass
from enum import StrEnum

from rtolab._rtolab import Ack, Episode, Sent
from rtolab.prototype.named import Named


class Verdict(StrEnum):
    """What a detector says of a retransmission."""

    OPEN = "open"
    """Nothing yet; `None` says the same."""
    SPURIOUS = "spurious"
    """It was not needed: the original was only late."""
    GENUINE = "genuine"
    """No sign of that: it is taken for needed."""


@dataclass(frozen=True)
class Blind:
    """A verdict, too: what the sender did makes the question unanswerable.

    Attributes:
        why: the reason, one of a few, as the table `verdicts` shows it.
    """

    why: str


class Detector(Named):
    """Was that retransmission wrong? The base of detectors that are written in Python.

    One object is made for each host of each run, without arguments, and is asked about one episode
    after the other: a timeout or fast retransmit, until data are acknowledged that were sent after
    its last retransmission. What it is to remember are attributes of the object. It may be copied
    with `copy.deepcopy` in the middle of a run, and must not depend on anything but what it is
    told: no clock, no random number.

    Times are whole nanoseconds since the run began; sequence numbers count from the SYN, which
    is 0.

    Attributes:
        name: by which it is known to `judge` and in senders; by default that of the class, in small
            letters.

    Example:
        >>> class Early(rtolab.Detector):
        ...     def on_ack(self, ack, episode):
        ...         if ack.is_new and episode.min_rtt:
        ...             early = 4 * (ack.at - episode.began) < episode.min_rtt
        ...             return Verdict.SPURIOUS if early else Verdict.GENUINE
        >>> result = rtolab.run("frto2002-delays", runs=20, judge=[Early, "eifel"])
    """

    def on_retransmission(self, sent: Sent, episode: Episode) -> None:
        """A segment was sent again in this episode, the first one included."""

    def on_probe(self, sent: Sent, episode: Episode) -> None:
        """A tail loss probe has sent a segment again, in this episode or before it."""

    def on_ack(self, ack: Ack, episode: Episode) -> Verdict | Blind | None:
        """An acknowledgment arrived in this episode, about which it has said nothing yet."""
        raise NotImplementedError

    def at_end(self, episode: Episode) -> Verdict | Blind | None:
        """The episode ends, and it has said nothing: what is left to say of it."""
