"""Random paths on which the engine and a kernel are compared packet by packet."""

from __future__ import annotations

import math
import random
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

import rtolab
from rtolab.emulation import Variant, emulate
from rtolab.emulation.comparison import RECEIVER, SENDER, WHEELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from rtolab.kernel import Kernel
    from rtolab.result import Result

    Draw = Callable[[], float]

TOLERANCE_S = 0.01
"""Packets may be this far apart, in seconds."""
FIRST_SIGN_S = 1e-4
"""Packets this far apart, in seconds, show where a difference begins."""
WINDOW = 65535
"""The receiver's window in bytes; a kernel keeps no smaller one (`tcp_measure_rcv_mss`)."""

OPTIONAL = re.compile(
    r"queue|stalls|outages|loss|jitter|order|duplication"
    r"|timestamps|sack =|frto|early_retrans|congestion"
)
"""The keys of a scenario that can be left out."""
BYTES = re.compile(r'bytes = "(\d+) B"')
EMPTY_TABLE = re.compile(r"\n\[(?:link\.\w+|kernel)\]\n(?=\n)")

BLOCKS = [f"sack_{block}_{end}" for block in range(1, 5) for end in ("start", "end")]


@dataclass(frozen=True)
class Packet:
    """A packet that a host sends.

    Attributes:
        at_s: when it leaves, in seconds.
        seq: its first sequence number.
        length: its data in bytes, 0 for an ACK.
        ack: its acknowledgment number.
        sack: the edges of its SACK blocks.
        retransmission: were its data sent before?
        syn: does it open the connection?
    """

    at_s: float
    seq: int
    length: int
    ack: int | None
    sack: tuple[int, ...] = ()
    retransmission: bool = False
    syn: bool = False

    @property
    def kind(self) -> str:
        if self.syn:
            return "SYN"
        if not self.length:
            return "ACK"
        return "retransmission" if self.retransmission else "new data"

    @property
    def content(self) -> tuple[object, ...]:
        return (self.seq, self.length, self.ack, self.sack, self.retransmission, self.syn)


@dataclass(frozen=True)
class Difference:
    """The first packet in which engine and kernel differ.

    Attributes:
        at_s: its time in seconds, the earlier of the two.
        place: the host that sends it: `sender` or `receiver`.
        engine: the engine's packet; `None` if it sends none.
        kernel: the kernel's packet.
    """

    at_s: float
    place: str
    engine: Packet | None
    kernel: Packet | None

    @property
    def kind(self) -> str:
        """What differs, in words."""
        engine, kernel = self.engine, self.kernel
        if engine is None or kernel is None:
            one, who = (kernel, "kernel") if engine is None else (engine, "engine")
            return f"only the {who} sends {one.kind if one else 'nothing'}"
        if engine.content == kernel.content:
            order = "later" if engine.at_s > kernel.at_s else "earlier"
            return f"the engine sends {engine.kind} {order}"
        if engine.kind != kernel.kind:
            return f"the engine sends {engine.kind}, the kernel {kernel.kind}"
        if engine.ack != kernel.ack:
            return f"{engine.kind} with another acknowledgment number"
        return f"{engine.kind} {'with other SACK blocks' if not engine.length else 'of other data'}"


def scenario(seed: int) -> str:
    """A scenario: a random link, transfer, and kernel settings; a seed gives the same anywhere."""
    draw = random.Random(seed).random
    between = partial(_between, draw)
    rate, delay = between(1e5, 1e8), between(2e-4, 0.4)
    size = int(min(between(1e3, 2e6), 10 * rate / 8))
    both = [f'rate = "{int(rate / 1000)} kbit/s"', f'delay = "{int(delay * 1e6)} us"']
    if draw() < 0.5:
        both.append(f'queue = "{int(max(3000, rate / 4 * delay * between(0.2, 4)))} B"')
    if draw() < 0.4:
        what = "stalls" if draw() < 0.6 else "outages"
        at = int(1000 * draw() * (size * 8 / rate + 8 * delay))
        scripted = f'{{ at = "{at} ms", for = "{int(1000 * between(0.05, 12))} ms" }}'
        both.append(f"{what}.scripted = [{scripted}]")
    forward, backward = (
        list(_disturbances(draw, delay, chances)) for chances in ((0.4, 0.25, 0.05), (0.2, 0.1, 0))
    )
    settings = [
        setting
        for chance, setting in (
            (0.15, "timestamps = false"),
            (0.1, "sack = false"),
            (0.15, "frto = 0"),
            (0.1, "early_retrans = 0"),
            (0.2, 'congestion = "reno"'),
        )
        if draw() < chance
    ]
    tables = [
        ("[[link]]", ['name = "path"', 'between = ["near", "far"]', *both]),
        ("[link.forward]", forward),
        ("[link.backward]", backward),
        ("[tcp]", ['sender = "sack"']),
        ("[receiver]", [f'buffer = "{WINDOW} B"']),
        ("[kernel]", settings),
        ("[[flow]]", ['name = "transfer"', 'from = "near"', 'to = "far"', f'bytes = "{size} B"']),
    ]
    lines = [f'title = "Random path {seed}"', 'duration = "200 s"']
    for heading, keys in tables:
        lines += ["", heading, *keys] if keys else []
    return "\n".join(lines) + "\n"


def _between(draw: Draw, low: float, high: float) -> float:
    """A number between two, with a logarithm that is uniform."""
    return math.exp(math.log(low) + draw() * math.log(high / low))


def _disturbances(
    draw: Draw,
    delay: float,
    chances: tuple[float, float, float],
) -> Iterator[str]:
    loss, jitter, duplication = (draw() < chance for chance in chances)
    if loss:
        yield f"loss = {_between(draw, 0.001, 0.1):.4f}"
    if jitter:
        most = int(1e6 * _between(draw, 1e-4, max(2e-4, 2 * delay)))
        yield f'jitter = {{ uniform = ["0 s", "{most} us"] }}'
        if draw() < 0.7:
            yield 'order = "free"'
    if duplication:
        yield f"duplication = {_between(draw, 0.001, 0.1):.4f}"


def compared(seed: int, kernel: Kernel, folder: Path) -> Difference | None:
    """The first difference on the path of this seed, whose scenario is left in the folder."""
    path = folder / f"{seed}.toml"
    path.write_text(scenario(seed))
    return difference_on(path, seed, kernel)


def difference_on(
    path: Path, seed: int, kernel: Kernel, tolerance_s: float = TOLERANCE_S
) -> Difference | None:
    """The first difference in a scenario with this seed."""
    engine = on_engine(path, seed, kernel.hz)
    guest = emulate(path, variants=[Variant()], seed=seed, runs=1, parallel=1, kernel=kernel)
    return first_difference(packets(engine), packets(guest), tolerance_s)


def on_engine(path: Path, seed: int, hz: int) -> Result:
    """A run of the engine as a kernel with this tick behaves."""
    timer = {"tcp.rto.timer": f"wheel-{hz}"} if hz in WHEELS else {}
    return rtolab.run(path, sender=SENDER, seed=seed, set={**RECEIVER, **timer}, trace=True)


def all_compared(
    seeds: Iterable[int], kernel: Kernel, folder: Path, threads: int = 2
) -> Iterator[tuple[int, Difference | None]]:
    """Compares the paths of these seeds, in order."""
    with ThreadPoolExecutor(threads) as pool:
        one = partial(_numbered, kernel=kernel, folder=folder)
        yield from pool.map(one, seeds)


def _numbered(seed: int, kernel: Kernel, folder: Path) -> tuple[int, Difference | None]:
    return seed, compared(seed, kernel, folder)


def shrunk(text: str, differs: Callable[[str], bool]) -> str:
    """The smallest scenario found that still differs.

    It has fewer impairments and settings of the kernel, and a shorter transfer. No single one of
    these steps makes it smaller.

    Args:
        text: a scenario of `scenario`.
        differs: do engine and kernel differ in a scenario?
    """
    while smaller := next(filter(differs, _smaller(text)), None):
        text = smaller
    return text


def _smaller(text: str) -> Iterator[str]:
    """The scenario without one of its optional keys, then with half the bytes."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if OPTIONAL.match(line):
            yield _without_empty_tables(lines[:number] + lines[number + 1 :])
    size = int(BYTES.search(text)[1])  # type: ignore[index]
    if size > 1:
        yield BYTES.sub(f'bytes = "{size // 2} B"', text)


def _without_empty_tables(lines: list[str]) -> str:
    return EMPTY_TABLE.sub("", "\n".join(lines) + "\n")


def packets(result: Result) -> dict[str, list[Packet]]:
    """The packets that sender and receiver send, in order."""
    sent = result.segments.filter(pl.col("event") == "sent")
    return {
        place: [
            Packet(
                row["at_s"],
                row["seq"],
                row["len"],
                row["ack"],
                tuple(row[name] for name in BLOCKS if row[name] is not None),
                row["retransmission"],
                "S" in row["flags"],
            )
            for row in sent.filter(pl.col("place") == place).iter_rows(named=True)
        ]
        for place in ("sender", "receiver")
    }


def first_difference(
    engine: dict[str, list[Packet]],
    kernel: dict[str, list[Packet]],
    tolerance_s: float = TOLERANCE_S,
) -> Difference | None:
    """The first difference until all data are acknowledged.

    The sender's pure ACKs and FINs do not count: programs close at other times than the engine's
    application.
    """
    end = max((one.seq + one.length for one in kernel["sender"] if one.length), default=0)
    found: list[Difference] = []
    for place in ("sender", "receiver"):
        sides = [list(_counted(side[place], place, end)) for side in (engine, kernel)]
        longest = max(map(len, sides))
        for number in range(longest):
            one, other = (side[number] if number < len(side) else None for side in sides)
            if one and other and _are_alike(one, other, tolerance_s):
                continue
            at_s = min(packet.at_s for packet in (one, other) if packet)
            found.append(Difference(at_s, place, one, other))
            break
    return min(found, key=lambda difference: difference.at_s, default=None)


def _are_alike(one: Packet, other: Packet, tolerance_s: float) -> bool:
    return one.content == other.content and abs(one.at_s - other.at_s) <= tolerance_s


def _counted(sent: list[Packet], place: str, end: int) -> Iterator[Packet]:
    """The packets of the data phase. An ACK of the FIN counts as one of all data."""
    for one in sent:
        if place == "sender":
            if one.length or one.syn:
                yield one
        elif one.ack is not None and one.ack >= end > 1:
            yield Packet(one.at_s, 0, 0, end)
            return
        else:
            yield one
