"""The suite `today`: disturbances of paths that are usual now.

Rates, round-trip times and queues are round numbers near those of such paths. No measured trace is
part of it; each scenario names the source of its disturbance or is drawn by hand. Receivers
advertise less than path and queue hold, so that the undisturbed transfer loses nothing.
"""

from __future__ import annotations

import random
from functools import partial

from rtolab.conform.scenario import HEADERS, Direction, Path, Scenario, Spans
from rtolab.suites import Suite

ACCESS = Path("access", 50_000_000, 0.03, 250_000, 400_000)
"""An access line or a radio cell."""
LOCAL = Path("local", 1_000_000_000, 0.001, 250_000, 350_000)
"""A local network, or a virtual machine beside its database."""
DATA_CENTRE = Path("dc", 10_000_000_000, 0.0001, 16_000_000, 4_000_000)
"""Two racks of a data centre; the queue of the reference runs never overflows."""
LONG = Path("long", 100_000_000, 0.2, 2_500_000, 4_500_000)
"""A long fat pipe between continents; its queue holds the bandwidth-delay product."""
SATELLITE = Path("starlink", 20_000_000, 0.04, 150_000, 200_000)
"""A terminal of a low satellite constellation."""
WIRELESS_LAN = Path("wifi", 50_000_000, 0.008, 128_000, 160_000)
"""A wireless LAN."""
CELL = Path("5g", 100_000_000, 0.02, 500_000, 600_000)
"""A 5G cell."""

PAGE = 100_000
"""The size of a transfer that is mostly tail, in bytes."""
INCAST = 256_000
"""The size of each answer of an incast, in bytes."""
SWITCH_QUEUE = 128_000
"""The queue that the answers of an incast share, in bytes."""
STEP_S = 15.0
"""The time between two satellites, in seconds."""

_scenario = partial(Scenario, suite=Suite.TODAY)


def today(seed: int) -> list[Scenario]:
    """The scenarios, with random values drawn from the seed."""
    draws = random.Random(seed)  # noqa: S311  (nothing secret)
    made = [*_reordering(), *_long_outages(draws), *_local(draws), *_data_centre()]
    made += [*_long(draws), *_starlink(draws), *_wifi(draws), *_cell(draws)]
    return [*made, *_closing()]


def _middle(draws: random.Random, path: Path, size: int) -> float:
    """A random time in the middle of a transfer, in seconds."""
    least_s = size * HEADERS * 8 / path.rate_bps
    return round(least_s * draws.uniform(0.4, 0.6), 3)


def _jitter(most: str) -> dict[str, str]:
    return {"jitter": f'{{ uniform = ["0 s", "{most}"] }}', "order": '"free"'}


def _reordering() -> list[Scenario]:
    data = partial(_scenario, path=ACCESS, bytes=12_000_000, direction=Direction.DATA)
    values = ", ".join(['"0 s"'] * 19 + ['"20 ms"'])
    late = {"jitter": f"{{ empirical = {{ values = [{values}] }} }}", "order": '"free"'}
    return [
        *(
            data(
                f"access-reordering-{most}ms",
                says=f"50 Mbit/s: packets are late by up to {most} ms and overtake each other",
                keys=_jitter(f"{most} ms"),
            )
            for most in (2, 5, 10, 20)
        ),
        data(
            "access-late-20ms",
            says="50 Mbit/s: 1 packet in 20 is late by 20 ms, and others overtake it",
            keys=late,
        ),
    ]


def _long_outages(draws: random.Random) -> list[Scenario]:
    size = 12_000_000
    return [
        _scenario(
            f"access-outage-{length}s",
            says=f"50 Mbit/s: everything is lost for {length} s",
            path=ACCESS,
            bytes=size,
            kind=Spans.OUTAGES,
            spans=((_middle(draws, ACCESS, size), float(length)),),
            # Timers double: the next attempt comes as long after an outage as this took.
            extra_s=2.0 * length,
        )
        for length in (1, 3, 10, 30, 60)
    ]


def _local(draws: random.Random) -> list[Scenario]:
    size = 25_000_000
    local = partial(_scenario, path=LOCAL, bytes=size)
    data = partial(local, direction=Direction.DATA)

    def held(kind: Spans, length_ms: int, verb: str) -> Scenario:
        return local(
            f"local-{kind.value.removesuffix('s')}-{length_ms}ms",
            says=f"1 Gbit/s, 1 ms: everything is {verb} for {length_ms} ms",
            kind=kind,
            spans=((_middle(draws, LOCAL, size), length_ms / 1e3),),
        )

    return [
        data(
            "local-reordering-200us",
            says="1 Gbit/s, 1 ms: packets overtake each other by up to 200 us",
            keys=_jitter("200 us"),
        ),
        data(
            "local-loss-0.1",
            says="1 Gbit/s, 1 ms: 0.1 % of the data packets are lost",
            keys={"loss": "0.001"},
        ),
        held(Spans.STALLS, 50, "held"),
        held(Spans.STALLS, 300, "held"),
        held(Spans.OUTAGES, 300, "lost"),
        _scenario(
            "local-tail-2",
            says="1 Gbit/s, 1 ms: the last 2 data packets are lost",
            path=LOCAL,
            bytes=PAGE,
            tail=2,
        ),
    ]


def _data_centre() -> list[Scenario]:
    incast = [
        _scenario(
            f"dc-incast-{count}",
            says=f"10 Gbit/s, 100 us: {count} answers of 256 kB at once share a queue of 128 kB",
            path=DATA_CENTRE,
            bytes=INCAST,
            flows=count,
            queue=SWITCH_QUEUE,
        )
        for count in (8, 16, 32)
    ]
    return [
        *incast,
        _scenario(
            "dc-tail-1",
            says="10 Gbit/s, 100 us: the last data packet is lost",
            path=DATA_CENTRE,
            bytes=PAGE,
            tail=1,
        ),
    ]


def _closing() -> list[Scenario]:
    """The end of a connection is lost: a FIN, its acknowledgment, a small last datagram."""
    return [
        _scenario(
            "access-close",
            says="50 Mbit/s: all packets of the server after its last data packet are lost once",
            path=ACCESS,
            bytes=PAGE,
            closing=True,
        )
    ]


def _long(draws: random.Random) -> list[Scenario]:
    size = 25_000_000
    long = partial(_scenario, path=LONG, bytes=size)
    data = partial(long, direction=Direction.DATA)
    return [
        data(
            "long-loss-0.01",
            says="100 Mbit/s, 200 ms: 0.01 % of the data packets are lost",
            keys={"loss": "0.0001"},
        ),
        data(
            "long-reordering-10ms",
            says="100 Mbit/s, 200 ms: packets overtake each other by up to 10 ms",
            keys=_jitter("10 ms"),
        ),
        long(
            "long-stall-1s",
            says="100 Mbit/s, 200 ms: all is held for 1 s",
            spans=((_middle(draws, LONG, size), 1.0),),
        ),
        long(
            "long-outage-1s",
            says="100 Mbit/s, 200 ms: everything is lost for 1 s",
            kind=Spans.OUTAGES,
            spans=((_middle(draws, LONG, size), 1.0),),
        ),
    ]


def _starlink(draws: random.Random) -> list[Scenario]:
    """Another satellite every 15 s.

    Mohan et al., "A Multifaceted Look at Starlink Performance" (WWW 2024), find the interval;
    Huston, "A Transport Protocol's View of Starlink" (blog.apnic.net, 17 May 2024), sees the round
    trip change then, at worst from 30 to 80 ms, and packets lost. The 30 ms without a link are
    drawn by hand.
    """
    lost_s = 0.03
    first_s = round(draws.uniform(2.0, 5.0), 3)
    steps = partial(_scenario, path=SATELLITE, kind=Spans.OUTAGES)
    changes_s = (first_s, first_s + STEP_S)
    one_s = round(draws.uniform(2.0, 3.0), 3)
    single = partial(steps, bytes=12_000_000, spans=((one_s, lost_s),))
    return [
        steps(
            "starlink-steps",
            says="20 Mbit/s: another satellite twice, 15 s apart; 30 ms are lost each time",
            bytes=50_000_000,
            spans=tuple((at, lost_s) for at in changes_s),
            round_trips=tuple(zip(changes_s, (0.06, 0.035), strict=True)),
        ),
        single(
            "starlink-longer",
            says="20 Mbit/s: another satellite, 80 ms instead of 40; 30 ms are lost",
            round_trips=((one_s, 0.08),),
        ),
        single(
            "starlink-shorter",
            says="20 Mbit/s: another satellite, 25 ms instead of 40; 30 ms are lost",
            round_trips=((one_s, 0.025),),
        ),
    ]


def _wifi(draws: random.Random) -> list[Scenario]:
    """Handovers between access points, drawn by hand, and a suspension.

    Huitema, "The weird case of the wifi latency spikes" (privateoctopus.com, 18 May 2023), measured
    suspensions of 200 ms and more.
    """
    size = 12_000_000
    wifi = partial(_scenario, path=WIRELESS_LAN, bytes=size)

    def at() -> float:
        return _middle(draws, WIRELESS_LAN, size)

    slower = at()
    return [
        wifi(
            "wifi-roam-50ms",
            says="50 Mbit/s: another access point, 50 ms are lost",
            kind=Spans.OUTAGES,
            spans=((at(), 0.05),),
        ),
        wifi(
            "wifi-roam-1s",
            says="50 Mbit/s: another access point and authentication, 1 s is lost",
            kind=Spans.OUTAGES,
            spans=((at(), 1.0),),
        ),
        wifi(
            "wifi-suspended-250ms",
            says="50 Mbit/s: the radio is suspended for 250 ms, and all waits",
            spans=((at(), 0.25),),
        ),
        wifi(
            "wifi-roam-slower",
            says="50 Mbit/s: an access point of 10 Mbit/s takes over, all is held for 150 ms",
            spans=((slower, 0.15),),
            rates=((slower, 10_000_000),),
        ),
    ]


def _cell(draws: random.Random) -> list[Scenario]:
    """Handovers of a cell, drawn by hand, and a blocked beam.

    Report ITU-R M.2134 allows interruptions of 40 ms within a band and 60 ms between bands.
    MacCartney, Rappaport and Rangan, "Rapid Fading Due to Human Blockage in Pedestrian Crowds at 5G
    Millimeter-Wave Frequencies" (GLOBECOM 2017), find fades of 299 ms in the mean.
    """
    size = 25_000_000
    cell = partial(_scenario, path=CELL, bytes=size)

    def at() -> float:
        return _middle(draws, CELL, size)

    blocked, slower, moved = at(), at(), at()
    return [
        cell(
            "5g-handover-40ms",
            says="100 Mbit/s: another cell, all is held for 40 ms",
            spans=((moved, 0.04),),
        ),
        cell(
            "5g-handover-nearer",
            says="100 Mbit/s: a nearer cell (12 ms instead of 20), all is held for 40 ms",
            spans=((moved, 0.04),),
            round_trips=((moved, 0.012),),
        ),
        cell(
            "5g-blocked-300ms",
            says="100 Mbit/s: the beam is blocked, 1 Mbit/s for 300 ms",
            rates=((blocked, 1_000_000), (round(blocked + 0.3, 3), 100_000_000)),
        ),
        cell(
            "5g-to-4g",
            says="100 Mbit/s: a 4G cell takes over: 20 Mbit/s, 50 ms, all is held for 60 ms",
            spans=((slower, 0.06),),
            rates=((slower, 20_000_000),),
            round_trips=((slower, 0.05),),
        ),
    ]
