"""Stages of a link, written in Python: they drop or delay frames."""

from dataclasses import dataclass
from enum import StrEnum

from rtolab._rtolab import Frame, Random
from rtolab.prototype.named import NamedPrototype


class FrameAction(StrEnum):
    """A stage's decision about a frame."""

    PASS = "pass"  # noqa: S105
    """Forward it unchanged. `None` means the same."""
    DROP = "drop"
    """Drop it."""


@dataclass(frozen=True)
class Hold:
    """Returned instead of a `FrameAction` to delay the frame by `length`.

    By default the link keeps frames in order, so later frames wait for this one. With
    `order = "free"` they overtake it.

    Attributes:
        length: the delay in nanoseconds.
    """

    length: int


class Stage(NamedPrototype):
    """The base class of link stages.

    A stage acts between transmitter and propagation, in addition to the link's other impairments.
    A scenario attaches it to a link, or to one direction, with the key `stage`. In each run rtolab
    creates one object per direction of such a link, without arguments, and calls `on_frame` at the
    end of the transmission of every frame, in order. It never sees the frames that the queue drops.
    A stage keeps its state in attributes; rtolab may copy it during a run (`copy.deepcopy`). Its
    decisions must depend only on the frames and on `random`, whose numbers follow from the seed.

    Attributes:
        name: its name in scenarios; by default that of the class in kebab case, such as
            `my-stage` for `MyStage`.
        random: its random number generator, set before the first frame.

    Example:
        >>> class Lossy(rtolab.Stage):
        ...     def on_frame(self, frame):
        ...         return FrameAction.DROP if self.random.chance(0.02) else None
        >>> result = rtolab.run("stall", set={"link.radio.stage": "lossy"}, prototypes=[Lossy])
    """

    random: Random

    def on_frame(self, frame: Frame) -> FrameAction | Hold | None:
        """Decide what happens to a frame whose transmission has ended."""
        raise NotImplementedError
