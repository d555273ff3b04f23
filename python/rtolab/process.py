"""Signals, standard streams and processors of this process."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

from rtolab import _rtolab


def processors() -> int:
    """The number of processors that this process may use; where that is unknown, of all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def end_at_second_interrupt() -> None:
    """The first Ctrl-C stops the work in order, the second one ends the process at once."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # A shell that starts us in the background ignores SIGINT.
    _rtolab.end_at_second_interrupt()
    notice_interrupts()


def notice_interrupts() -> None:
    """Ctrl-C interrupts system calls; polars disables this when it is loaded."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.siginterrupt(signal.SIGINT, True)


@contextmanager
def on_end_signal(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Calls `handler` on SIGTERM and SIGHUP, except where they are ignored (as under nohup)."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handled = [number for number in numbers if signal.getsignal(number) == signal.SIG_DFL]
    for number in handled:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def ends_in_order() -> AbstractContextManager[None]:
    """SIGTERM and SIGHUP raise SystemExit, so that everything is cleaned up."""
    return on_end_signal(lambda number, _: sys.exit(128 + number))


@contextmanager
def stdout_is_stderr() -> Iterator[None]:
    """Programs started within print to standard error."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)
