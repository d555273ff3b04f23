"""The answer distinguishes a full link from other losses, on paths that differ in this only."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

import rtolab
from rtolab.diagnosis import diagnose

RUNS = 80
PATH = """
title = "One link"
duration = "120 s"

[[link]]
name = "path"
between = ["near", "far"]
rate = "{rate} kbit/s"
delay = "{delay} ms"
{losses}

[tcp]
sender = "{sender}"

[[flow]]
name = "transfer"
from = "near"
to = "far"
count = {flows}
bytes = "{size} B"
"""
SENDERS = ("linux", "newreno", "sack", "freebsd-14", "rack")


def answers(losses: str, flows: int, folder: Path) -> Counter[str]:
    """How often a full link is named, on random paths."""
    found = Counter({"full": 0, "probably": 0, "not": 0})
    for seed in range(RUNS):
        random = Random(f"{losses} {flows} {seed}")
        loss, queue = 10 ** random.uniform(-2.7, -1.6), random.randint(15, 60)
        rate = round(10 ** random.uniform(2.5, 3.5))
        text = PATH.format(
            rate=rate,
            delay=random.randint(5, 80),
            losses=losses.format(loss=loss, queue=queue),
            sender=random.choice(SENDERS),
            flows=flows,
            size=int(rate * 125 * random.uniform(6, 20) / flows),
        )
        scenario, capture = folder / "path.toml", folder / "path.pcapng"
        scenario.write_text(text, encoding="utf-8")
        run = rtolab.run(scenario, seed=seed + 1, trace=True)
        if run.connections["needed"].sum() == 0:
            continue
        capture.write_bytes(run.pcapng(0, "sender", headers=True))
        said = " ".join(one["text"] for one in diagnose(capture).document["answer"]["sentences"])
        is_full, is_probable = "the link is full" in said, "the link was probably full" in said
        found["full" if is_full else "probably" if is_probable else "not"] += 1
    return found


@pytest.mark.parametrize("flows", [1, 4])
def test_random_losses_are_no_full_link(tmp_path: Path, flows: int) -> None:
    """The queue has no limit, and so grows until a packet is lost."""
    found = answers("loss = {loss:.5f}", flows, tmp_path)
    assert found["full"] <= 0.03 * found.total()
    assert found["probably"] <= 0.08 * found.total()


@pytest.mark.parametrize("flows", [1, 4])
def test_a_full_queue_is_a_full_link(tmp_path: Path, flows: int) -> None:
    found = answers('queue = "{queue} packets"', flows, tmp_path)
    assert found["full"] + found["probably"] >= 0.75 * found.total(), found
