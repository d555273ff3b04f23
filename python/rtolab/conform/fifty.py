"""The suite `fifty`: fifty scenarios of one disturbed path."""

from __future__ import annotations

import random
from collections.abc import Mapping

from rtolab.conform.scenario import USUAL, Direction, Scenario, Spans
from rtolab.suites import Suite

SHORT = 20_000
"""The size of a transfer that is mostly tail, in bytes."""
SLOWED = 600_000
"""The size of a transfer over a link that becomes slow, in bytes."""


def fifty(seed: int) -> list[Scenario]:
    """The scenarios, with random values drawn from the seed."""
    draws = random.Random(seed)  # noqa: S311  (nothing secret)
    made = [*_stalls(draws), *_holds(draws), *_slow(), *_reordering(), *_arq()]
    return [*made, *_tails(), *_outages(draws), *_losses(), *_ack_losses(draws)]


def _middle(draws: random.Random) -> float:
    """A random time in the middle of a transfer."""
    return round(draws.uniform(2.0, 3.0), 3)


def _stalls(draws: random.Random) -> list[Scenario]:
    def stall(name: str, says: str, direction: Direction, *lengths: float) -> Scenario:
        at, spans = _middle(draws), []
        for length in lengths:
            spans.append((at, length))
            at += length + 0.8
        return Scenario(name, Suite.STALLS, says, direction=direction, spans=tuple(spans))

    lengths = (0.3, 0.5, 0.8, 1, 1.5, 2, 3, 4, 6, 8, 10, 12, 15)
    made = [stall(f"stall-{s:g}s", f"all is held for {s:g} s", Direction.BOTH, s) for s in lengths]
    made.append(stall("stalls-3x1s", "all is held for 1 s, three times", Direction.BOTH, 1, 1, 1))
    made.append(stall("stalls-grow", "all is held for 0.5, 1 and 3 s", Direction.BOTH, 0.5, 1, 3))
    made += [
        stall(f"stall-data-{s}s", f"data is held for {s} s", Direction.DATA, s) for s in (1, 3, 6)
    ]
    made += [
        stall(f"stall-acks-{s}s", f"acknowledgments are held for {s} s", Direction.ACKS, s)
        for s in (1, 3, 6)
    ]
    turns = '{ good = { uniform = ["0.5 s", "2 s"] }, bad = { exponential = "0.7 s" }, '
    return [
        *made,
        Scenario(
            "stalls-random",
            Suite.STALLS,
            "stalls of 0.7 s in the mean at random times",
            keys={"stalls.random": turns + "stationary = false }"},
        ),
    ]


def _holds(draws: random.Random) -> list[Scenario]:
    made = []
    for length in (0.7, 1.5, 3.0, 6.0):
        drawn = round(length + draws.uniform(0, 0.2), 3)
        says = f"the handshake is held for {length:g} s"
        span = (0.0, drawn)
        made.append(Scenario(f"syn-hold-{length:g}s", Suite.STALLS, says, SHORT, spans=(span,)))
    return made


def _slow() -> list[Scenario]:
    def slow(name: str, says: str, *rates: tuple[float, int]) -> Scenario:
        return Scenario(name, Suite.STALLS, says, SLOWED, rates=rates)

    return [
        slow("rate-drop-4", "the rate falls to a quarter", (1.2, USUAL.rate_bps // 4)),
        slow("rate-drop-10", "the rate falls to a tenth", (1.2, USUAL.rate_bps // 10)),
        slow(
            "rate-dip",
            "the rate falls to a twentieth for three seconds",
            *((1.0, USUAL.rate_bps // 20), (4.0, USUAL.rate_bps)),
        ),
    ]


def _reordering() -> list[Scenario]:
    def jitter(most: str) -> Scenario:
        keys = {"jitter": f'{{ uniform = ["0 ms", "{most} ms"] }}', "order": '"free"'}
        says = f"packets overtake each other by up to {most} ms"
        return Scenario(
            f"reordering-{most}ms", Suite.STALLS, says, direction=Direction.DATA, keys=keys
        )

    length = 'length = { uniform = ["200 ms", "800 ms"] }'
    spikes = {"spikes": f'{{ probability = 0.005, {length}, holds = "delivery" }}'}
    return [
        *(jitter(most) for most in ("15", "60")),
        Scenario(
            "spikes",
            Suite.STALLS,
            "1 packet in 200 is late by 0.2 to 0.8 s, and all after it wait",
            direction=Direction.DATA,
            keys=spikes,
        ),
    ]


def _arq() -> list[Scenario]:
    def arq(name: str, order: str, says: str) -> Scenario:
        arq = f'[{{ retries = 6, order = "{order}", timeout = "150 ms" }}]'
        return Scenario(name, Suite.STALLS, says, keys={"loss": "0.05", "arq": arq})

    return [
        arq("arq-in-order", "kept", "the link retransmits its losses (5 %), in order"),
        arq("arq-free", "free", "the link retransmits its losses (5 %), out of order"),
    ]


def _tails() -> list[Scenario]:
    return [
        Scenario(
            f"tail-{count}",
            Suite.LOSSES,
            f"the last {count} data packets are lost"
            if count > 1
            else "the last data packet is lost",
            SHORT,
            tail=count,
        )
        for count in (1, 2, 4, 8)
    ]


def _outages(draws: random.Random) -> list[Scenario]:
    return [
        Scenario(
            f"outage-{length:g}s",
            Suite.LOSSES,
            f"everything is lost for {length:g} s",
            kind=Spans.OUTAGES,
            spans=((_middle(draws), length),),
        )
        for length in (0.3, 1, 2, 4, 8)
    ]


def _losses() -> list[Scenario]:
    def loss(name: str, says: str, keys: Mapping[str, str]) -> Scenario:
        return Scenario(name, Suite.LOSSES, says, direction=Direction.DATA, keys=keys)

    return [
        loss("loss-1", "1 % of the data packets are lost", {"loss": "0.01"}),
        loss("loss-3", "3 % of the data packets are lost", {"loss": "0.03"}),
        loss(
            "loss-bursts",
            "2 % of the data packets are lost, in bursts of three",
            {"loss": "0.02", "loss_memory": "0.66"},
        ),
    ]


def _ack_losses(draws: random.Random) -> list[Scenario]:
    outages = [
        Scenario(
            f"ack-outage-{length:g}s",
            Suite.LOSSES,
            f"acknowledgments are lost for {length:g} s",
            direction=Direction.ACKS,
            kind=Spans.OUTAGES,
            spans=((_middle(draws), length),),
        )
        for length in (0.5, 1, 3)
    ]
    thinned = {"loss": "0.3"}
    says = "30 % of the acknowledgments are lost"
    return [
        *outages,
        Scenario("ack-loss-30", Suite.LOSSES, says, direction=Direction.ACKS, keys=thinned),
    ]
