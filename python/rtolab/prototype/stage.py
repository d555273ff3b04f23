"""Stages of a link, written in Python: they drop or delay frames."""

from dataclasses import dataclass
from enum import StrEnum

from rtolab._rtolab import Frame, Random
from rtolab.prototype.named import Named


class FrameAction(StrEnum):
    """What a stage does with a frame."""

    PASS = "pass"  # noqa: S105
    """Nothing; `None` says the same."""
    DROP = "drop"
    """It is lost."""


@dataclass(frozen=True)
class Hold:
    """Returned instead of a `FrameAction`: the frame leaves the stage later by `length`.

    If the link keeps order, which is its default, the frames behind it wait for it; with
    `order = "free"` they overtake it.

    Attributes:
        length: in nanoseconds.
    """

    length: int


class Stage(Named):
    """The base class of link stages.

    A stage acts between transmitter and propagation, in addition to the link's other impairments.
    `stage` of a link, or of one of its directions, names it. rtolab makes one object for each
    direction of each such link of each run, without arguments, and calls it for every frame at the
    end of its transmission, in order; frames that the queue drops never get there. Attributes of
    the object are its memory; `copy.deepcopy` may copy it during a run. It must use only its
    arguments and the random numbers of `random`, which follow from the seed.

    Attributes:
        name: its name in scenarios; by default that of the class, in small letters.
        random: its random numbers, given before the first frame.

    Example:
        >>> class Lossy(rtolab.Stage):
        ...     def on_frame(self, frame):
        ...         return FrameAction.DROP if self.random.chance(0.02) else None
        >>> result = rtolab.run("stall", set={"link.radio.stage": "lossy"}, prototypes=[Lossy])
    """

    random: Random

    def on_frame(self, frame: Frame) -> FrameAction | Hold | None:
        """A frame has been sent."""
        raise NotImplementedError
