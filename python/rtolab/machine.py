"""Checks of free resources before libraries are loaded.

Without descriptors, address space or threads, some libraries abort the process or hang while they
load.
"""

import mmap
import os
import resource
from contextlib import suppress
from functools import cache
from threading import Event, Thread

from rtolab._rtolab import Error

DESCRIPTORS, DRAWING_DESCRIPTORS = 5, 24
"""The number of descriptors needed to load libraries, and to draw."""
ADDRESSES, PAGE_ADDRESSES, PICTURE_ADDRESSES = 800 << 20, 400 << 20, 65 << 30
"""Address space, in bytes, that libraries reserve at import, the script of a page needs, and V8
reserves before the first figure. Hardly any of it becomes memory."""
THREADS = 24
"""Threads that libraries start on few processors."""
ASK_BELOW = 500
"""Limits of threads above this are not checked, because the check itself takes address space."""
NO_MEMORY = ("failed to map segment", "Cannot allocate memory")
NO_THREADS = ("can't start new thread", "Resource temporarily unavailable", "WouldBlock")
"""Error texts of libraries that have run out of threads."""


def check_machine() -> None:
    """Raises Error if libraries cannot be loaded."""
    _check_descriptors(DESCRIPTORS, "no library can be loaded")
    _check_addresses(ADDRESSES, "no library can be loaded")
    _check_threads()


def check_page() -> None:
    """Raises Error if a page with figures cannot be made."""
    _check_descriptors(DRAWING_DESCRIPTORS, "a page with figures")
    _check_addresses(PAGE_ADDRESSES, "a page with figures")


def check_picture(name: str) -> None:
    """Raises Error if a figure cannot be drawn."""
    _check_descriptors(DRAWING_DESCRIPTORS, f"{name}: figures")
    _check_room_for_pictures()


def _check_descriptors(count: int, what: str) -> None:
    held: list[int] = []
    try:
        held.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(count))
    except OSError:
        raise Error(f"{what}: too many open files; `ulimit -n` shows the limit") from None
    finally:
        for descriptor in held:
            os.close(descriptor)


def _check_addresses(size: int, what: str) -> None:
    try:
        # Reserved and released at once; no page is touched.
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ).close()
    except OSError:
        raise Error(
            f"{what}: out of memory: {size >> 20} MB of address space are needed; `ulimit -v` "
            "shows the limit"
        ) from None


@cache
def _check_room_for_pictures() -> None:
    """Checked once: later figures reuse what the first one has reserved."""
    _check_addresses(PICTURE_ADDRESSES, "figures")


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
            f"libraries start {THREADS} threads; the limit is lower: see `ulimit -u`"
        ) from None
    finally:
        enough.set()
        for thread in threads:
            # A thread that was not started cannot be joined.
            with suppress(RuntimeError):
                thread.join()


def out_of(error: BaseException) -> str | None:
    """The resource that a library has run out of, by the text of its error; None if none."""
    said = str(error)
    if "Too many open files" in said:
        return "too many open files: `ulimit -n` shows the limit"
    if "No space left on device" in said:
        return "no space left on device"
    if isinstance(error, MemoryError):
        return said or "out of memory"
    if any(words in said for words in NO_MEMORY):
        return "out of memory"
    if any(words in said for words in NO_THREADS):
        return "no memory for another thread, or none allowed: see `ulimit -v` and `ulimit -u`"
    return None
