"""Limits of requests."""

from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """Resources that clients may use.

    Attributes:
        at_once: concurrent runs; each has a process of its own.
        queue: requests that may wait for a process.
        run_s: the longest run, in seconds.
        capture_s: the longest diagnosis of a capture, in seconds.
        memory: address space of a process for a request, in bytes.
        spent: a larger process is replaced after its request, in bytes.
        request: the largest body of a request, in bytes.
        uploads: concurrent uploads of captures.
        capture: the largest capture, in bytes.
        packets: the most packets of a sender in a response; later ones are cut off.
        senders: the most senders in a request.
        timeouts: the most timeouts of a sender in the table.
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
