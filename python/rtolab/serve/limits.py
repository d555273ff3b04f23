"""How much a request may take."""

from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What a server gives its clients.

    Attributes:
        at_once: runs at a time; each has a process of its own.
        queue: how many more may wait for one of these.
        run_s: a run that takes longer is ended, in seconds.
        capture_s: likewise of a capture's diagnosis.
        memory: address space that a process may take for a request, in bytes.
        spent: a process that has grown so large is replaced, in bytes.
        request: a request's body, in bytes.
        uploads: captures that may be on their way at a time.
        capture: a capture, in bytes.
        packets: of one sender in one answer; more are cut off in time.
        senders: in one request.
        timeouts: of one sender in the table.
    """

    at_once: int = 2
    queue: int = 40
    run_s: float = 20.0
    capture_s: float = 60.0
    memory: int = 1600 * MEGABYTE
    spent: int = 350 * MEGABYTE
    request: int = 256_000
    uploads: int = 4
    capture: int = 64 * MEGABYTE
    packets: int = 20_000
    senders: int = 8
    timeouts: int = 200
