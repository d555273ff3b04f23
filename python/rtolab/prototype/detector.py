"""Detectors of spurious retransmissions, written in Python."""

from dataclasses import dataclass
from enum import StrEnum

from rtolab._rtolab import Ack, Episode, Sent
from rtolab.prototype.named import NamedPrototype


class Verdict(StrEnum):
    """A detector's verdict on a retransmission."""

    OPEN = "open"
    """Undecided so far, like `None`."""
    SPURIOUS = "spurious"
    """It was unneeded: the original was only late."""
    GENUINE = "genuine"
    """It was needed, as far as the detector can see."""


@dataclass(frozen=True)
class Blind:
    """The verdict of a detector that cannot decide, because of what the sender did or lacks.

    Attributes:
        why: the reason, as the table `verdicts` shows it; use few different ones.
    """

    why: str


class Detector(NamedPrototype):
    """The base class of detectors of spurious retransmissions.

    rtolab makes one object for each host of each run, without arguments, and calls it for one
    episode after the other. An episode begins with a timeout or fast retransmit, and ends when data
    sent after its last retransmission is acknowledged. Attributes of the object are its memory;
    `copy.deepcopy` may copy it during a run. It must use only its arguments: no clock, no random
    number.

    Times are whole nanoseconds since the run began; sequence numbers count from the SYN, which
    is 0.

    Attributes:
        name: its name in `judge` and in senders; by default that of the class in kebab
            case, such as `my-detector` for `MyDetector`.

    Example:
        >>> class Early(rtolab.Detector):
        ...     def on_ack(self, ack, episode):
        ...         if ack.is_new and episode.min_rtt:
        ...             early = 4 * (ack.at - episode.began) < episode.min_rtt
        ...             return Verdict.SPURIOUS if early else Verdict.GENUINE
        >>> result = rtolab.run("frto2002-delays", runs=20, judge=[Early, "eifel"])
    """

    def on_retransmission(self, sent: Sent, episode: Episode) -> None:
        """A segment was retransmitted in this episode, the first one included."""

    def on_probe(self, sent: Sent, episode: Episode) -> None:
        """A tail loss probe has retransmitted a segment, in this episode or before it."""

    def on_ack(self, ack: Ack, episode: Episode) -> Verdict | Blind | None:
        """An acknowledgment arrived in this episode, and the detector has not decided yet."""
        raise NotImplementedError

    def at_end(self, episode: Episode) -> Verdict | Blind | None:
        """The episode has ended without a decision: the final verdict."""
