"""From the times of probes to a path."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from rtolab._rtolab import Error
from rtolab.paths.measured import MeasuredPath, OneWay, split_losses
from rtolab.paths.recording.protocol import SINGLE, TRAIN, Reply
from rtolab.paths.series import remove_clock

STEP_S = 2e-6
"""The least time between two delays of a series."""
STEADY = 1.5
"""The rate counts as constant if nine tenths of the trains are within this factor of the median."""
ASIDE = 2
"""The rate at a time is the median of this number of trains before, and after, and the one then."""
FEWEST = 10
"""The fewest probes that make a path."""


@dataclass
class Sent:
    """A probe that was sent, at a time in ns of the client's clock."""

    at: int
    train: int
    place: int
    length: int
    left: bool = True


@dataclass
class Measurement:
    """What is known about the probes.

    Attributes:
        place: the server.
        headers: the bytes of the IP and UDP headers.
        sent: all probes, by their numbers.
        log: the server's times of each probe that it received.
        arrived: when each reply arrived, in ns of the client's clock.
        complete: is the server's log complete?
        notes: sentences about the measurement.
    """

    place: str
    headers: int
    sent: list[Sent] = field(default_factory=list)
    log: dict[int, Reply] = field(default_factory=dict)
    arrived: dict[int, int] = field(default_factory=dict)
    complete: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass
class _Direction:
    """One direction: for each probe when it left and, if it did, when it arrived, in ns."""

    left: dict[int, int]
    arrived: dict[int, int]
    sent: list[Sent]
    headers: int

    def rates(self) -> list[tuple[float, float | None]]:
        """For each complete train when it left in ns, and its rate in bit/s.

        The rate is None if too few packets waited for others of their train.
        """
        trains: dict[int, list[int]] = {}
        for number in self.arrived:
            if self.sent[number].length > 1:
                trains.setdefault(self.sent[number].train, []).append(number)
        rates: list[tuple[float, float | None]] = []
        for numbers in trains.values():
            numbers.sort(key=lambda number: self.arrived[number])
            rates.append((float(self.left[min(numbers)]), self._rate(numbers)))
        return sorted(rates)

    def _rate(self, numbers: list[int]) -> float | None:
        """The rate that a train shows, in bit/s: of its packets that waited behind another.

        A packet waited if, with the delay of the first one, it would have arrived before the one
        before it. This host may have paused while it sent the others.
        """
        left, arrived = self.left[numbers[0]], self.arrived[numbers[0]]
        waited = gaps = 0
        for before, number in pairwise(numbers):
            # Where one between them is lost, its transmission may be part of the gap.
            follows = number == before + 1
            if follows and self.left[number] - left <= self.arrived[before] - arrived:
                waited += 1
                gaps += self.arrived[number] - self.arrived[before]
        if waited < max(2, self.sent[numbers[0]].length // 2) or gaps <= 0:
            return None
        return waited * (TRAIN + self.headers) * 8 * 1e9 / gaps

    def shadows(self) -> list[tuple[int, int]]:
        """When the queue still holds a train of ours, as departures in ns."""
        trains: dict[int, list[int]] = {}
        for number in self.left:
            if self.sent[number].length > 1:
                trains.setdefault(self.sent[number].train, []).append(number)
        spreads = [self._spread(numbers) for numbers in trains.values()]
        # A pause of the path within a train is no queue of ours.
        most = 2 * median(spreads) if spreads else 0
        return sorted(
            (
                min(self.left[number] for number in numbers),
                round(max(self.left[number] for number in numbers) + min(spread, most)),
            )
            for numbers, spread in zip(trains.values(), spreads, strict=True)
        )

    def _spread(self, numbers: list[int]) -> int:
        """How much longer a train was when it arrived than when it left, in ns."""
        both = [number for number in numbers if number in self.arrived]
        if not both:
            return 0
        left = [self.left[number] for number in both]
        arrived = [self.arrived[number] for number in both]
        return max(0, max(arrived) - min(arrived) - (max(left) - min(left)))

    def singles(self) -> list[int]:
        """The single probes that met none of our trains, in the order in which they left."""
        numbers = [number for number in self.left if self.sent[number].length == 1]
        numbers.sort(key=lambda number: self.left[number])
        shadows = self.shadows()
        free, current = [], 0
        for number in numbers:
            at = self.left[number]
            while current < len(shadows) and shadows[current][1] < at:
                current += 1
            if current == len(shadows) or at < shadows[current][0]:
                free.append(number)
        return free

    def reordered(self) -> int:
        """The number of single probes that arrived after one that left later."""
        numbers = [number for number in self.singles() if number in self.arrived]
        latest = late = 0
        for number in numbers:
            late += self.arrived[number] < latest
            latest = max(latest, self.arrived[number])
        return late


def measured_path(measurement: Measurement) -> MeasuredPath:
    """The path that these probes met; forward is from the server to the client.

    Raises:
        Error: too few probes arrived.
    """
    sent, log, arrived = measurement.sent, measurement.log, measurement.arrived
    left = {number: one.at for number, one in enumerate(sent) if one.left}
    there = _Direction(
        left,
        {number: log[number].received for number in log if number in left},
        sent,
        measurement.headers,
    )
    back = _Direction(
        {number: reply.left for number, reply in log.items() if number in left},
        {number: at for number, at in arrived.items() if number in log and number in left},
        sent,
        measurement.headers,
    )
    complete = sum(sent[number].length == 1 for number in back.arrived)
    if complete < FEWEST:
        found = f"{complete} complete round trips of {len(sent)} probes"
        raise Error(f"{measurement.place}: found {found}; expected {FEWEST} at least")
    begin = min(left.values())
    series = [_series(direction) for direction in (there, back)]
    # The server's times in those of the client: its clock may have any offset.
    offset = median(log[number].received - left[number] for number in back.arrived)
    there_ms, back_ms = remove_clock(
        [((at - begin) / 1e9, ms) for at, ms in series[0]],
        [((at - offset - begin) / 1e9, ms) for at, ms in series[1]],
    )
    backward, up = _one_way(there, there_ms, begin)
    forward, down = _one_way(back, back_ms, begin + offset)
    if not measurement.complete:
        # Without the log nobody knows which direction a probe was lost in.
        backward.loss, backward.outages = 0.0, []
        measurement.notes.append(
            "The server's log did not arrive: losses towards the server are unknown."
        )
    return MeasuredPath(
        title=f"The path to {measurement.place}, measured",
        origin=[
            f"Measured by `rtolab record {measurement.place}`.",
            f"Of {len(left)} probes {len(back.arrived)} came back.",
            *measurement.notes,
            f"Rate towards the client: {down}; towards the server: {up}.",
            "The clocks of both ends differ, so each direction has half of the least round trip",
            "as its least delay. Not measured: the queue.",
        ],
        duration_s=(max(left.values()) - begin) / 1e9,
        forward=forward,
        backward=backward,
    )


def _series(direction: _Direction) -> list[tuple[int, float]]:
    """When each single probe left, in ns, and its arrival minus its departure in ms."""
    return [
        (direction.left[number], (direction.arrived[number] - direction.left[number]) / 1e6)
        for number in direction.singles()
        if number in direction.arrived
    ]


def _one_way(
    direction: _Direction, delays: list[tuple[float, float]], begin: float
) -> tuple[OneWay, str]:
    """A direction, and what its trains say about the rate; `begin` is in ns of its sender."""
    rates, said = _rates(direction, begin)
    bits = (SINGLE + direction.headers) * 8
    steps: list[tuple[float, float]] = []
    current = 0
    for at, ms in delays:
        while current + 1 < len(rates) and rates[current + 1][0] <= at:
            current += 1
        # The link adds the transmission itself.
        own = bits / rates[current][1] * 1000 if rates else 0.0
        start = max(at, steps[-1][0] + STEP_S) if steps else 0.0
        steps.append((start, max(0.0, ms - own)))
    probes = [
        ((direction.left[number] - begin) / 1e9, number not in direction.arrived)
        for number in direction.singles()
    ]
    loss, outages = split_losses(probes)
    return OneWay(
        delays=steps,
        rates=rates,
        loss=loss,
        outages=[(max(0.0, at), length) for at, length in outages],
        reorders=direction.reordered() > 0,
    ), said


def _rates(direction: _Direction, begin: float) -> tuple[list[tuple[float, float]], str]:
    """The rate over time, empty if trains do not show it, and how to say it."""
    found = direction.rates()
    shown = [(at, rate) for at, rate in found if rate is not None]
    if not found or len(shown) < len(found) / 2:
        return [], "too high for these trains" if found else "no train arrived"
    middle = median(rate for _, rate in shown)
    # Jitter within a train disturbs it; the median of several trains has less of that.
    smooth = [
        (at, median(rate for _, rate in shown[max(0, index - ASIDE) : index + ASIDE + 1]))
        for index, (at, _) in enumerate(shown)
    ]
    near = sum(middle / STEADY <= rate <= middle * STEADY for _, rate in smooth)
    if near >= 0.9 * len(smooth):
        return [(0.0, middle)], f"{middle / 1e6:.3g} Mbit/s"
    steps: list[tuple[float, float]] = []
    for at, rate in smooth:
        start = max((at - begin) / 1e9, steps[-1][0] + STEP_S) if steps else 0.0
        steps.append((start, rate))
    rates = sorted(rate for _, rate in steps)
    return steps, f"{rates[0] / 1e6:.3g} to {rates[-1] / 1e6:.3g} Mbit/s, varying"
