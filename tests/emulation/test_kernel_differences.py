"""The comparison of the engine with a kernel on random paths."""

from dataclasses import replace
from pathlib import Path

import pytest

import rtolab
from guests import require_kernel
from kernel_differences import (
    FIRST_SIGN_S,
    Difference,
    Packet,
    compared,
    first_difference,
    packets,
    scenario,
    shrunk,
)
from rtolab import _rtolab

SAME = (2, 3, 5)
"""Seeds on whose paths engine and guest send the same packets."""

SYN = Packet(0.0, 0, 0, None, syn=True)
DATA = [Packet(0.1, 1, 1448, 1), Packet(0.1, 1449, 1448, 1)]
ACKS = [Packet(0.0, 0, 0, 1, syn=True), Packet(0.2, 1, 0, 1449), Packet(0.2, 1, 0, 2897)]
RUN = {"sender": [SYN, *DATA], "receiver": ACKS}


def changed(place: str, number: int, **fields: object) -> dict[str, list[Packet]]:
    """The run with a changed packet."""
    sent = list(RUN[place])
    sent[number] = replace(sent[number], **fields)  # type: ignore[arg-type]
    return RUN | {place: sent}


def test_equal_runs_have_no_difference() -> None:
    assert first_difference(RUN, RUN) is None
    later = changed("sender", 2, at_s=0.109)
    assert first_difference(RUN, later) is None
    assert first_difference(RUN, later, FIRST_SIGN_S)


def test_pure_acks_of_the_sender_and_the_end_do_not_count() -> None:
    closing = {
        "sender": [*RUN["sender"], Packet(0.1, 2897, 0, 1), Packet(0.3, 2898, 0, 2)],
        "receiver": [*ACKS[:-1], Packet(0.2, 1, 0, 2898), Packet(0.4, 1, 0, 2898)],
    }
    assert first_difference(RUN, closing) is None


@pytest.mark.parametrize(
    ("place", "number", "fields", "kind"),
    [
        ("sender", 2, {"at_s": 0.12}, "the engine sends new data earlier"),
        ("sender", 2, {"seq": 1, "retransmission": True}, "sends new data, the kernel retransm"),
        ("sender", 2, {"length": 100}, "new data of other data"),
        ("receiver", 1, {"ack": 1}, "ACK with another acknowledgment number"),
        ("receiver", 1, {"sack": (1449, 2897)}, "ACK with other SACK blocks"),
    ],
)
def test_the_first_difference_is_named(
    place: str, number: int, fields: dict[str, object], kind: str
) -> None:
    found = first_difference(RUN, changed(place, number, **fields))
    assert found
    assert (found.place, kind in found.kind) == (place, True), found.kind


def test_a_packet_too_many_is_a_difference() -> None:
    more = RUN | {"sender": [*RUN["sender"], Packet(0.5, 1, 1448, 1, retransmission=True)]}
    assert first_difference(more, RUN) == Difference(0.5, "sender", more["sender"][-1], None)
    found = first_difference(RUN, more)
    assert found
    assert found.kind == "only the kernel sends retransmission"


def test_a_seed_gives_a_scenario_that_runs(tmp_path: Path) -> None:
    assert scenario(7) == scenario(7) != scenario(8)
    for seed in range(1, 41):
        (tmp_path / "path.toml").write_text(scenario(seed))
        _rtolab.check(tmp_path / "path.toml")
    sent = packets(rtolab.run(tmp_path / "path.toml", trace=True))
    assert sent["sender"][0].kind == "SYN"
    assert {one.kind for one in sent["sender"]} >= {"new data", "ACK"}


SMALLEST = 1000
"""The bytes that the differing transfer of the next test needs."""


def size_of(text: str) -> int:
    return int(text.partition('bytes = "')[2].partition(" ")[0])


def test_a_scenario_shrinks_to_what_the_difference_needs(tmp_path: Path) -> None:
    path = tmp_path / "path.toml"
    seed = next(seed for seed in range(1, 100) if "loss" in scenario(seed))

    def differs(text: str) -> bool:
        path.write_text(text)
        _rtolab.check(path)
        return "loss" in text and size_of(text) >= SMALLEST

    text = shrunk(scenario(seed), differs)
    assert differs(text)
    assert text.count("loss") == 1
    assert not any(word in text for word in ("queue", "stalls", "jitter", "order", "[kernel]"))
    assert SMALLEST <= size_of(text) < 2 * SMALLEST


def test_some_random_paths_have_no_difference(tmp_path: Path) -> None:
    kernel = require_kernel()
    assert [compared(seed, kernel, tmp_path) for seed in SAME] == [None] * len(SAME)
