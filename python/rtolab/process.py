"""Signals, standard streams and processors of this process."""

import os
import select
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


class EndSignal(SystemExit):
    """A signal ends the process; SystemExit itself may also come from a prototype."""


def ends_in_order() -> AbstractContextManager[None]:
    """SIGTERM and SIGHUP raise EndSignal, so that everything is cleaned up."""

    def end(number: int, _: object) -> None:
        raise EndSignal(128 + number)

    return on_end_signal(end)


@contextmanager
def ends_silently_without_reader() -> Iterator[None]:
    """`rtolab list | head` ends by SIGPIPE, as any filter does.

    Until then SIGPIPE is ignored, as Python leaves it: it would also end a server whose client has
    gone.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as error:
        # Libraries that print exit with 1.
        is_broken = isinstance(error, BrokenPipeError) or error.code == 1
        if is_broken and _has_no_reader(1):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGPIPE)
        raise


def _has_no_reader(descriptor: int) -> bool:
    """Is this a pipe or a socket whose other end is closed?"""
    poll = select.poll()
    poll.register(descriptor, 0)
    return bool(poll.poll(0))


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
