"""Paths of conformance scenarios, their disturbances, and the scenario files for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path as File

from rtolab.suites import Suite

HEADERS = 1.05
"""Bytes on the link per byte of payload."""
FIRST_WINDOW = 15_000
"""Ten segments with their headers, in bytes."""
LEAST_ROUND_TRIP_S = 0.02
"""The round-trip time below which the usual millisecond of lateness is too much, in seconds."""
LATENESS = 0.05
"""The accepted lateness on such a path, relative to its round-trip time."""


class Direction(StrEnum):
    """The disturbed direction; the value is the link's table of that direction."""

    BOTH = ""
    DATA = "backward"
    ACKS = "forward"


class Spans(StrEnum):
    """The disturbance in the spans: packets are held and then continue in order, or are lost."""

    STALLS = "stalls"
    OUTAGES = "outages"


@dataclass(frozen=True)
class Path:
    """A path between `client` and `server`, the same in both directions.

    Attributes:
        name: its name; empty for the path of the suite `fifty`.
        rate_bps: the rate, headers included, in bit/s.
        round_trip_s: the propagation delay both ways, in seconds.
        queue: the size of the queue, in bytes.
        window: the largest window that a TCP receiver advertises, in bytes.
    """

    name: str
    rate_bps: int
    round_trip_s: float
    queue: int
    window: int


USUAL = Path("", rate_bps=2_000_000, round_trip_s=0.1, queue=100_000, window=65_535)
"""The path of the suite `fifty`."""
BULK = 1_200_000
"""The size of a bulk transfer, five seconds at the rate of that path, in bytes."""


@dataclass(frozen=True)
class Scenario:
    """Transfers from `server` to `client` with their disturbances.

    Times count from the client's first packet.

    Attributes:
        id: its name in results.
        suite: the suite; for one of `fifty` its part: `stalls` if nothing is lost, else `losses`.
        says: a description in one line.
        bytes: the size of each transfer.
        path: the undisturbed path.
        flows: the number of transfers, which begin together.
        direction: the disturbed direction.
        kind: the disturbance in `spans`.
        spans: begin and length of each, in seconds.
        keys: other keys of the link's table of that direction, as TOML.
        rates: (begin in seconds, bit/s), both ways.
        round_trips: (begin in seconds, round-trip time in seconds) after the path's own.
        queue: a shorter queue in the data direction, in bytes; 0 for that of the path.
        tail: the number of lost data packets at the end, counted in the reference run.
        closing: are the packets lost that follow the last data packet in the reference run?
        extra_s: what a transfer may take beyond the usual limit, in seconds.
        seed: of the random processes of the link.
    """

    id: str
    suite: Suite
    says: str
    bytes: int = BULK
    path: Path = USUAL
    flows: int = 1
    direction: Direction = Direction.BOTH
    kind: Spans = Spans.STALLS
    spans: tuple[tuple[float, float], ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)
    rates: tuple[tuple[float, int], ...] = ()
    round_trips: tuple[tuple[float, float], ...] = ()
    queue: int = 0
    tail: int = 0
    closing: bool = False
    extra_s: float = 0.0
    seed: int = 1

    @property
    def reference(self) -> Scenario:
        """The same transfers over the same path without disturbances."""
        # The suites of version 1 name their files so.
        words = ["twin", self.path.name, f"{self.bytes // 1000}-kB"]
        words += [f"x{self.flows}"] if self.flows > 1 else []
        return Scenario(
            "-".join(word for word in words if word),
            self.suite,
            "nothing disturbs it",
            self.bytes,
            self.path,
            self.flows,
        )

    @property
    def transfer(self) -> str:
        """Its transfers in words: their path, number and size."""
        number = f"{self.flows} x " if self.flows > 1 else ""
        return f"{self.path.name} {number}{self.bytes // 1000} kB".strip()

    @property
    def path_s(self) -> float:
        """The time that the transfers need on the undisturbed path, the same for every stack.

        A round trip for the handshake; slow start from ten segments (RFC 6928), whose window
        doubles each round trip until it fills the path; the rest at the link's rate; and a round
        trip for the last data and its acknowledgment.
        """
        round_trip_s, bytes_s = self.path.round_trip_s, self.path.rate_bps / 8
        left = self.bytes * self.flows * HEADERS
        window, took_s = float(FIRST_WINDOW * self.flows), round_trip_s
        while left > window and window / bytes_s < round_trip_s:
            left, window, took_s = left - window, 2 * window, took_s + round_trip_s
        return took_s + left / bytes_s + round_trip_s

    @property
    def disturbed_s(self) -> float:
        """The total length of the spans."""
        return sum(length for _, length in self.spans)

    @property
    def capacity(self) -> int:
        """The capacity of the path, in bytes: the bandwidth-delay product and a full queue."""
        product = round(self.path.rate_bps / 8 * self.path.round_trip_s)
        return product + (self.queue or self.path.queue)

    def slower_s(self, reference_s: float) -> float:
        """The extra time that the link needs at its later rates for the rest of the transfers.

        Args:
            reference_s: the time of the reference run. Its link is idle for one round trip at the
                end, and for at most three at the start; the client takes the rest to exit.
        """
        round_trip_s, first_bps = self.path.round_trip_s, self.path.rate_bps
        least_s = self.bytes * self.flows * HEADERS * 8 / first_bps
        busy_s = min(reference_s - round_trip_s, least_s + 3 * round_trip_s)
        left, now, rate = busy_s * first_bps, 0.0, first_bps
        for begin, later in self.rates:
            at = max(begin, now)
            left -= min(left, (at - now) * rate)
            now, rate = at, later
        # Rounding may leave less than nothing.
        return max(now + left / rate - busy_s, 0.0) if left > 0 else 0.0

    @property
    def needs_reference(self) -> bool:
        """Does only the reference run show which packets are lost?"""
        return bool(self.tail) or self.closing

    def drops(self, last: int, end: int) -> tuple[int, ...]:
        """The lost packets in the data direction, counted from 1.

        Args:
            last: the number of the last data packet of the reference run; 0 if it is unknown.
            end: the number of its last packet of any size.
        """
        if not last:
            return ()
        tail = range(max(last - self.tail, 1) + 1, last + 1) if self.tail else ()
        return (*tail, *(range(last + 1, end + 1) if self.closing else ()))

    def write(self, file: File, limit_s: float, drops: tuple[int, ...] = ()) -> None:
        """Writes the scenario's file, and a trace of the delays beside it if they change.

        Args:
            file: the scenario's file.
            limit_s: the time limit; the link itself runs until its disturbances are over.
            drops: the lost packets in the data direction, counted from 1.
        """
        trace = file.with_suffix(".delays")
        if self.round_trips:
            steps = ((0.0, self.path.round_trip_s), *self.round_trips)
            lines = (f"{at:.3f} {delay_s * 1e3:g}\n" for at, delay_s in steps)
            trace.write_text("".join(lines), encoding="utf-8")
        file.write_text(self._toml(trace.name, limit_s, drops), encoding="utf-8")

    def _toml(self, trace: str, limit_s: float, drops: tuple[int, ...]) -> str:
        over_s = max((at + length for at, length in self.spans), default=0.0) + 1
        path = self.path
        delay = f'delay = "{path.round_trip_s / 2:.6f}'.rstrip("0") + ' s"'
        if self.round_trips:
            delay = f'delay_trace = {{ file = "{trace}", of = "round-trip" }}'
        lines = [
            f"# The random processes of `conform`: rtolab emulate --seed {self.seed}",
            f'title = "{self.says}"',
            f'duration = "{max(limit_s + self.extra_s, over_s):.3f} s"',
            'emulation.begin = "first-packet"',
        ]
        if path.round_trip_s < LEAST_ROUND_TRIP_S:
            lines.append(f'emulation.lateness = "{path.round_trip_s * LATENESS * 1e6:g} us"')
        lines += [
            "[[link]]",
            'name = "path"',
            'between = ["client", "server"]',
            f'rate = "{path.rate_bps} bit/s"',
            delay,
            f'queue = "{path.queue} B"',
        ]
        if self.rates:
            later = (f'{{ at = "{at:.3f} s", rate = "{rate} bit/s" }}' for at, rate in self.rates)
            lines.append(f"rate_changes = [{', '.join(later)}]")
        prefix = f"{self.direction}." if self.direction else ""
        lines += [f"{prefix}{key} = {value}" for key, value in self.keys.items()]
        if self.spans:
            spans = (f'{{ at = "{at:.3f} s", for = "{span:.3f} s" }}' for at, span in self.spans)
            lines.append(f"{prefix}{self.kind}.scripted = [{', '.join(spans)}]")
        if self.queue:
            lines.append(f'{Direction.DATA}.queue = "{self.queue} B"')
        if drops:
            lines.append(f"{Direction.DATA}.drops = {list(drops)}")
        lines += ["[tcp]", 'sender = "sack"']
        if scale := (path.window >> 16).bit_length():
            lines.append(f"window_scale = {scale}")
        lines += ["[receiver]", f'buffer = "{path.window} B"']
        lines += ["[[flow]]", 'name = "transfer"', 'from = "server"', 'to = "client"']
        lines += [f'bytes = "{self.bytes} B"']
        if self.flows > 1:
            lines.append(f"count = {self.flows}")
        return "\n".join(lines) + "\n"
