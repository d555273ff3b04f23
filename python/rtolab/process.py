"""What this process does with its signals and its standard streams."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rtolab import _rtolab


def end_at_second_interrupt() -> None:
    """Ctrl-C ends what is going on in order, and a second one this process at once."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # Who runs us in the background has it ignored.
    _rtolab.end_at_second_interrupt()
    notice_interrupts()


def notice_interrupts() -> None:
    """Who waits for the system is to notice Ctrl-C; polars, once it is loaded, has it otherwise."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.siginterrupt(signal.SIGINT, True)


@contextmanager
def ends_in_order() -> Iterator[None]:
    """What is told to end here, ends in order: SIGTERM and SIGHUP raise SystemExit."""

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    asked = [getattr(signal, name) for name in names]
    # Who runs us under nohup has the signal ignored.
    handled = [number for number in asked if signal.getsignal(number) == signal.SIG_DFL]
    for number in handled:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def stdout_is_stderr() -> Iterator[None]:
    """For programs started here: what they print goes to standard error."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)
