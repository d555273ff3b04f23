"""Responses to spurious retransmissions, written in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtolab.prototype.named import NamedPrototype

if TYPE_CHECKING:
    from rtolab._rtolab import ResponseContext


@dataclass(frozen=True)
class ResponseAction:
    """The action of a sender after a detector's verdict.

    Attributes:
        cwnd: the new congestion window in bytes, at least one segment; `None`: unchanged.
        ssthresh: the new slow start threshold in bytes; `None`: unchanged.
        undo: are the other effects of the reduction undone, too: CUBIC's curve, and a pending CWR
            to a peer that echoed congestion?
        grow: does the window also grow on this acknowledgment?
        estimate: the new SRTT and RTTVAR in nanoseconds; the timeout follows from them.
        adapt_from: lower bounds for SRTT and RTTVAR in nanoseconds after the first round trip of
            new data (RFC 4015 section 3.2 step 11).
    """

    cwnd: int | None = None
    ssthresh: int | None = None
    undo: bool = False
    grow: bool = False
    estimate: tuple[int, int] | None = None
    adapt_from: tuple[int, int] | None = None


class Response(NamedPrototype):
    """The base class of responses to spurious retransmissions.

    rtolab makes one object for each sender of each run, without arguments. Attributes of the object
    are its memory; `copy.deepcopy` may copy it during a run. It must use only its arguments: no
    clock, no random number. Times are whole nanoseconds, windows are bytes.

    Attributes:
        name: its name in senders; by default that of the class in kebab case, such as
            `my-response` for `MyResponse`.

    Example:
        >>> class Careful(rtolab.Response):
        ...     def on_spurious(self, context):
        ...         return ResponseAction(cwnd=context.before.cwnd // 2)
        >>> result = rtolab.run("stall", sender="sack+eifel:careful", prototypes=[Careful])
    """

    def on_spurious(self, context: ResponseContext) -> ResponseAction | None:
        """A detector has found that a timeout or fast retransmit was spurious.

        After an action the sender retransmits nothing more for it and may send new data, and this
        method is not called again for the episode. `None` continues as without a detector.
        """
        raise NotImplementedError

    def on_genuine(self, context: ResponseContext) -> ResponseAction | None:
        """A detector has found the retransmission genuine.

        Only windows and estimates of the action count.
        """
