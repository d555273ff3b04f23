"""When a host's first datagram leaves: packets of UDP have no tables that tell it."""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY_S = 0.005
CLONE_NEWNET = 0x40000000


class Watch:
    """Looks at a namespace's count of datagrams sent.

    Attributes:
        first_s: when it was seen to have left 0, as `time.time` has it; `None` until then.
    """

    def __init__(self) -> None:
        self.first_s: float | None = None
        self._over = Event()

    def _look(self, namespace: Path) -> None:
        while not self._over.wait(EVERY_S):
            try:
                _enter(namespace)
                break
            except OSError:
                continue
        while not self._over.wait(EVERY_S):
            text = Path("/proc/thread-self/net/snmp").read_text(encoding="ascii")
            if datagrams(text):
                self.first_s = time.time()
                return

    @classmethod
    @contextmanager
    def of(cls, host: str) -> Iterator[Watch]:
        """Watches a host of the command that this process runs meanwhile."""
        watch = cls()
        namespace = Path("/run/netns", f"rtolab-{os.getpid()}-{host}")
        thread = Thread(target=watch._look, args=(namespace,), daemon=True)
        thread.start()
        try:
            yield watch
        finally:
            watch._over.set()
            thread.join()


def datagrams(snmp: str) -> int:
    """How many were sent, of the text of `/proc/net/snmp`."""
    names, counts = (line.split() for line in snmp.splitlines() if line.startswith("Udp:"))
    return int(counts[names.index("OutDatagrams")])


def _enter(namespace: Path) -> None:
    """Takes this thread, and no other, into a namespace."""
    with namespace.open("rb") as file:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "cannot enter the namespace", str(namespace))
