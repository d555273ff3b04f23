"""The formats of recorded series, and their readers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from rtolab._rtolab import Error
from rtolab.paths.cellreplay import read_cellreplay
from rtolab.paths.hypatia import read_hypatia
from rtolab.paths.irtt import read_irtt
from rtolab.paths.mahimahi import read_mahimahi
from rtolab.paths.measured import MeasuredPath
from rtolab.paths.ping import read_ping
from rtolab.text import counted


@dataclass(frozen=True)
class Format:
    """A format of recorded series.

    Attributes:
        files: what each number of files holds, in their order.
        read: reads the files.
    """

    files: tuple[tuple[str, ...], ...]
    read: Callable[[Sequence[Path]], MeasuredPath]


FORMATS = {
    "mahimahi": Format((("UP", "DOWN"), ("TRACE",)), read_mahimahi),
    "cellreplay": Format((("UP-TRAINS", "DOWN-TRAINS", "UP", "DOWN"),), read_cellreplay),
    "ping": Format((("OUTPUT",),), read_ping),
    "irtt": Format((("RESULT.json",),), read_irtt),
    "hypatia": Format((("RTT",), ("RTT", "ROUTES")), read_hypatia),
}


def read_path(name: str, files: Sequence[Path], interval_s: float | None = None) -> MeasuredPath:
    """The path that these files describe.

    Args:
        name: the format, one of `FORMATS`.
        files: the files, as many as the format has.
        interval_s: the time between two pings that were printed without their times, in seconds.

    Raises:
        Error: no such format, another number of files, or invalid content.
        OSError: a file cannot be read.
    """
    if name not in FORMATS:
        near = get_close_matches(name, FORMATS, n=1)
        known = ", ".join([*near, *(other for other in FORMATS if other not in near)][:5])
        raise Error(f"FORMAT: found {name}; expected {known}")
    wanted = FORMATS[name]
    if len(files) not in {len(names) for names in wanted.files}:
        forms = " or ".join(" ".join(names) for names in wanted.files)
        raise Error(f"{name}: found {counted(len(files), 'file')}; expected {forms}")
    if interval_s is None:
        return wanted.read(files)
    if name != "ping":
        raise Error(f"--interval: only for ping; the files of {name} have their times")
    return read_ping(files, interval_s)
