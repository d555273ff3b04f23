"""What now? Responses written in Python."""

from dataclasses import dataclass

from rtolab._rtolab import Situation
from rtolab.prototype.named import Named


@dataclass(frozen=True)
class Answer:
    """What a sender is to do once a detector has spoken.

    Attributes:
        cwnd: the congestion window from now on, in bytes, a segment at least; `None`: as it is.
        ssthresh: the slow start threshold, in bytes; `None`: as it is.
        undo: is the reduction taken back beside the windows, too: CUBIC's curve, and the CWR that
            is owed to a peer that echoed congestion?
        grow: does the window grow for this acknowledgment, as for any?
        estimate: SRTT and RTTVAR from now on, in nanoseconds; the timeout follows from them.
        adapt_from: SRTT and RTTVAR in nanoseconds which the first round trip of new data must not
            lower: then the larger of it and of each of them counts (RFC 4015 section 3.2 step 11).
    """

    cwnd: int | None = None
    ssthresh: int | None = None
    undo: bool = False
    grow: bool = False
    estimate: tuple[int, int] | None = None
    adapt_from: tuple[int, int] | None = None


class Response(Named):
    """What does a sender do when a detector has spoken? The base of responses written in Python.

    One object is made for each sender of each run, without arguments. What it is to remember are
    attributes of the object, which may be copied with `copy.deepcopy` in the middle of a run. It
    must not depend on anything but what it is told: no clock, no random number. Times are whole
    nanoseconds, windows are bytes.

    Attributes:
        name: by which it is known in senders; by default that of the class, in small letters.

    Example:
        >>> class Careful(rtolab.Response):
        ...     def on_spurious(self, situation):
        ...         return Answer(cwnd=situation.before.cwnd // 2)
        >>> result = rtolab.run("stall", sender="sack+eifel:careful", prototypes=[Careful])
    """

    def on_spurious(self, situation: Situation) -> Answer | None:
        """A detector has found that a timeout or fast retransmit was spurious.

        With an answer nothing more is sent again for it, new data may be sent, and it is not asked
        about this episode again; with `None` all goes on as if nobody had spoken.
        """
        raise NotImplementedError

    def on_genuine(self, situation: Situation) -> Answer | None:
        """A detector has seen no sign of that: of the answer only windows and estimates count."""
