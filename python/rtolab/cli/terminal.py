"""Output of all commands: on a terminal, through a pipe, as JSON."""

from __future__ import annotations

import json
import math
import os
import select
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rtolab._rtolab import Error
from rtolab.text import visible

if TYPE_CHECKING:
    from rtolab.cli.console import DataConsole

SAYS_NO, BAD_INPUT, DEFECT = 1, 2, 70
"""Exit statuses other than 0."""
SHOWN_AFTER_S = 2.0
LOGGED_EVERY_S = 30.0
NARROWEST = 66
ATOMIC_WRITE = getattr(select, "PIPE_BUF", 512)
"""The most bytes that a pipe takes as a whole or not at all."""


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """Options of the form key=value."""
    found = {}
    for item in given or []:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise Error(f"{option} {item}: expected key=value, such as link.wireless.loss=0.02")
        found[key.strip()] = value.strip()
    return found


def finite(value: float | None) -> float | None:
    """The value of an option, unless it is `nan` or `inf`."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"found {value}; expected a finite number")
    return value


def complain(message: str, code: int) -> None:
    """Print a message and exit."""
    announce(message)
    sys.exit(code)


def announce(message: str) -> None:
    """Print a message on standard error."""
    sys.stderr.write(f"rtolab: {visible(message)}\n")
    sys.stderr.flush()


def check_streams() -> None:
    """Repair streams that the parent process has closed, or that accept only ASCII."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # Occupy the descriptor; otherwise the next file gets it, and libraries write to it.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  (until the end)
    if sys.stdout is None:
        complain("standard output is closed", BAD_INPUT)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def stdout(piped: int = 100) -> DataConsole:
    """Standard output, wide enough for our tables, even if a narrow terminal wraps them."""
    from rtolab.cli.console import DataConsole  # noqa: PLC0415  (half of a small command's start)

    return DataConsole(max(NARROWEST, DataConsole().width) if sys.stdout.isatty() else piped)


def program() -> str:
    """What to type for this program: its path, if the shell would not find its name."""
    called = Path(sys.argv[0])
    found = shutil.which("rtolab")
    if called.name != "rtolab" or (found and Path(found).samefile(called)):
        return "rtolab"
    within = called.absolute()
    return str(within.relative_to(Path.cwd()) if within.is_relative_to(Path.cwd()) else within)


def name_files(files: Sequence[Path]) -> None:
    """Print the names of written files."""
    for path in files:
        stdout().print(f"wrote {path}", highlight=False, soft_wrap=True)


def print_json(document: object) -> None:
    """Print one JSON document."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def print_lines(lines: Sequence[str]) -> None:
    """Print lines at once, and each as a whole.

    A signal may interrupt a write to a full pipe, and a pipe may not block. Python's streams then
    drop the rest of the text: unbuffered ones (PYTHONUNBUFFERED) in the first case, all in the
    second. Writes of at most PIPE_BUF bytes are atomic, so that other writers to the pipe cut no
    line, either.
    """
    try:
        descriptor = sys.stdout.fileno()
    except OSError:
        # It is no file but a stand-in for one.
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
        return
    sys.stdout.flush()
    part = b""
    for line in lines:
        whole = f"{line}\n".encode(sys.stdout.encoding, "backslashreplace")
        if len(part) + len(whole) > ATOMIC_WRITE:
            _write(descriptor, part)
            part = b""
        part += whole
    _write(descriptor, part)


def _write(descriptor: int, data: bytes) -> None:
    """Write all of it, even if a signal interrupts or the reader is slow."""
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            select.select([], [descriptor], [])


@contextmanager
def progressing(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar with an ETA on a terminal, after two seconds; a few lines in a log."""
    if not sys.stderr.isatty():
        yield _logged(what)
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(escape(visible(what)))
    began = time.monotonic()

    def tell(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if time.monotonic() - began > SHOWN_AFTER_S:
            bar.start()

    try:
        yield tell
    finally:
        bar.stop()


def _logged(what: str) -> Callable[[int, int], None]:
    """Writes the progress as a line from time to time."""
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LOGGED_EVERY_S:
            last = now
            with suppress(OSError):
                announce(f"{what}: {done} of {total}")

    return tell
