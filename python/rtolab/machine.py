"""What the machine must have left before anything begins.

Libraries that find no descriptors, addresses or threads as they are loaded end the process in words
of their own, or wait for ever.
"""

import mmap
import os
import resource
from contextlib import suppress
from functools import cache
from threading import Event, Thread

from rtolab._rtolab import Error

DESCRIPTORS, DRAWING_DESCRIPTORS = 5, 24
"""What libraries open to be loaded, and what drawing opens."""
ADDRESSES, PAGE_ADDRESSES, PICTURE_ADDRESSES = 800 << 20, 400 << 20, 65 << 30
"""What they ask for to be loaded on few processors, what a page's script takes, and what V8 sets
aside before it draws the first picture: bytes of addresses, hardly any of which become memory."""
THREADS = 24
"""What libraries start on few processors."""
ASK_BELOW = 500
"""Where there may be more threads nobody asks whether there are: asking takes addresses itself."""
NO_MEMORY = ("failed to map segment", "Cannot allocate memory")
NO_THREADS = ("can't start new thread", "Resource temporarily unavailable", "WouldBlock")
"""Words of errors by which libraries report that they ran out of these."""


def check_machine() -> None:
    """Whether libraries can be loaded."""
    _check_descriptors(DESCRIPTORS, "no library can be loaded")
    _check_addresses(ADDRESSES, "no library can be loaded")
    _check_threads()


def check_page() -> None:
    """Whether a page with pictures can be made."""
    _check_descriptors(DRAWING_DESCRIPTORS, "a page with pictures")
    _check_addresses(PAGE_ADDRESSES, "a page with pictures")


def check_picture(name: str) -> None:
    """Whether a picture can be drawn."""
    _check_descriptors(DRAWING_DESCRIPTORS, f"{name}: pictures")
    _check_room_for_pictures()


def _check_descriptors(count: int, what: str) -> None:
    held: list[int] = []
    try:
        held.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(count))
    except OSError:
        raise Error(
            f"{what}: too many open files; `ulimit -n` says how many there may be"
        ) from None
    finally:
        for descriptor in held:
            os.close(descriptor)


def _check_addresses(size: int, what: str) -> None:
    try:
        # Asked for and given back: nothing is ever there.
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ).close()
    except OSError:
        raise Error(
            f"{what}: out of memory: {size >> 20} MB of addresses are wanted; `ulimit -v` says how "
            "many there may be"
        ) from None


@cache
def _check_room_for_pictures() -> None:
    """Once: what the first has taken it keeps for the others."""
    _check_addresses(PICTURE_ADDRESSES, "pictures")


def _check_threads() -> None:
    most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if most == resource.RLIM_INFINITY or most > ASK_BELOW:
        return
    enough = Event()
    threads = [Thread(target=enough.wait) for _ in range(THREADS)]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError:
        raise Error(
            f"libraries start {THREADS} threads; there may not be so many: see `ulimit -u`"
        ) from None
    finally:
        enough.set()
        for thread in threads:
            # One that was never started cannot be waited for.
            with suppress(RuntimeError):
                thread.join()


def out_of(error: BaseException) -> str | None:
    """Which of the machine's resources a library ran out of, by the words of its error."""
    said = str(error)
    if "Too many open files" in said:
        return "too many open files: `ulimit -n` says how many there may be"
    if "No space left on device" in said:
        return "no space left on device"
    if isinstance(error, MemoryError):
        return said or "out of memory"
    if any(words in said for words in NO_MEMORY):
        return "out of memory"
    if any(words in said for words in NO_THREADS):
        return "no memory for another thread, or none allowed: see `ulimit -v` and `ulimit -u`"
    return None
