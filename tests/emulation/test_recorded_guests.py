"""The engine's `linux` beside transfers that a guest kernel made (Linux 6.12, HZ 1000).

The numbers were recorded by `rtolab compare --virtual`. Each of these runs was the same on both.
"""

import pytest

from rtolab.emulation import agreement
from rtolab.emulation.comparison import RECEIVER, SENDER, Transfer, transfers
from rtolab.run import run

ARQ = next(case for case in agreement.CASES if case.name == "ARQ out of order")
STALLS = next(case for case in agreement.CASES if case.name == "stalls at random")

GUESTS = {
    # Every hole that opens costs a SACK block: a receiver remembers four of them.
    "ARQ out of order": (
        ARQ,
        {5: (18.7506, 25, 10, 15), 10: (20.3190, 25, 9, 11), 13: (13.7595, 15, 10, 15)},
    ),
    # Each timeout is undone, and the receiver's window limits the sender.
    "stalls at random": (
        STALLS,
        {3: (62.9484, 24, 5, 9), 5: (45.2857, 5, 1, 2), 16: (46.3860, 9, 2, 3)},
    ),
}


@pytest.mark.parametrize("name", GUESTS)
def test_the_engine_repeats_the_transfers_of_a_guest(name: str) -> None:
    case, guests = GUESTS[name]
    keys = {**RECEIVER, "tcp.rto.timer": "wheel-1000", **case.set}
    found = {seed: engine(case.scenario, seed, keys) for seed in guests}
    for seed, (time_s, *counts) in guests.items():
        one = found[seed]
        assert one.time_s == pytest.approx(time_s, abs=2e-3), seed
        assert [one.retransmissions, one.fast_retransmits, one.unneeded] == counts, seed


def engine(scenario: str, seed: int, keys: dict[str, object]) -> Transfer:
    traced = run(scenario, sender=SENDER, seed=seed, set=keys, trace=True, windows=True)
    return transfers(traced)[0]
