"""The console of all commands: what it prints is data, and never an instruction to a terminal."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from rtolab.text import visible


class DataConsole(Console):
    """A console without markup, which shows control characters in texts as pictures."""

    def __init__(self, width: int | None = None) -> None:
        super().__init__(width=width, markup=False, emoji=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments of something to print; those of Rich itself stay."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)
