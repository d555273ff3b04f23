"""Transfers of real kernels, some of which run in the background of other tests."""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

from rtolab.emulation import EmulationResult, Variant, emulate

OF_OLD = {"kernel.frto": 0, "kernel.timestamps": False}
RENO = OF_OLD | {"kernel.congestion": "reno", "kernel.sack": False, "kernel.dsack": False}
SLOW = {
    "link.radio.rate": "28.8 kbit/s",
    "link.radio.stalls.scripted": '[{ at = "5 s", for = "8 s" }]',
    "flow.transfer.bytes": "100 kB",
    "tcp.mss": "536 B",
    "receiver.buffer": "8192 B",
    "kernel.timestamps": False,
    "kernel.sack": False,
    "kernel.dsack": False,
}
SHORT = {
    "link.radio.rate": "2 Mbit/s",
    "link.radio.delay": "30 ms",
    "link.radio.stalls": "{}",
    "flow.transfer.bytes": "100 kB",
}
STALLS: dict[str, dict[str, Any]] = {
    "default": {},
    "of old": OF_OLD,
    "reno": RENO,
    "slow": SLOW,
}
"""Senders and links of which captures from other hosts exist, with a similar kernel."""


@cache
def stalls() -> Future[EmulationResult]:
    """The transfers of `STALLS`, which take three quarters of a minute together."""
    variants = [Variant(name, values) for name, values in STALLS.items()]
    pool = ThreadPoolExecutor(1)
    running = pool.submit(emulate, "kernel-stall", variants=variants, parallel=len(variants))
    pool.shutdown(wait=False)
    return running


def _stalled(direction: str, at: str, length: str) -> dict[str, Any]:
    both, span = "link.radio.stalls.scripted", f'[{{ at = "{at} s", for = "{length} s" }}]'
    return {both: "[]"} | {f"link.radio.{direction}stalls.scripted": span}


LINKS: dict[str, dict[str, Any]] = {
    "short": _stalled("", "5", "1"),
    "3 s": _stalled("", "5", "3"),
    "long": _stalled("", "4", "6"),
    "early": _stalled("", "1.5", "2"),
    "forward": _stalled("forward.", "5", "3"),
    "backward": _stalled("backward.", "5", "3"),
    "fast": _stalled("", "3", "2")
    | {"link.radio.rate": "4 Mbit/s", "link.radio.delay": "50 ms", "flow.transfer.bytes": "3 MB"},
}
OPTIONS: dict[str, dict[str, Any]] = {
    "timestamps": {},
    "none but SACK": {"kernel.timestamps": False},
    "none": {"kernel.timestamps": False, "kernel.sack": False, "kernel.dsack": False},
}
FRTO_PAIRS: dict[str, dict[str, Any]] = {
    f"{link}, {options}, F-RTO {word}": LINKS[link] | OPTIONS[options] | {"kernel.frto": frto}
    for link in LINKS
    for options in OPTIONS
    for word, frto in (("off", 0), ("on", 2))
}
"""The same transfer over the same link, without F-RTO and with it."""


@cache
def frto_pairs() -> EmulationResult:
    """The transfers of `FRTO_PAIRS`, which take half a minute together."""
    variants = [Variant(name, values) for name, values in FRTO_PAIRS.items()]
    return emulate("kernel-stall", variants=variants, parallel=len(variants) // 2)
