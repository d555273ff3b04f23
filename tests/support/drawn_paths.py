"""Paths, senders and receivers drawn at random, and how often the diagnosis is right on them.

No rule of the diagnosis was made on these.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from labelled_captures import Labelled, labels
from rtolab.diagnosis import diagnose
from rtolab.result import PLACES
from rtolab.run import run

SENDERS = ("reno", "newreno", "sack", "sack+frto", "sack+eifel", "linux", "freebsd-14")
JUDGING = range(2001, 2401)
"""Numbers of paths on which nothing was chosen. Confidences were chosen on 1 to 400 and on 1001 to
1400."""

LEVELS = (0.0, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
"""The lower ends of the classes of confidence."""


SHARED = """
title = "A transfer that shares a queue, on a link with outages"
duration = "90 s"

[[link]]
name = "wire"
between = ["sender", "receiver"]
rate = "1 Mbit/s"
outages.random = {{ good = {{ exponential = "8 s" }}, bad = {{ exponential = "1 s" }} }}

[tcp]
sender = "sack"

[[flow]]
name = "transfer"
from = "sender"
to = "receiver"
bytes = "1 MB"

[[flow]]
name = "others"
from = "sender"
to = "receiver"
{others}
"""
"""A scenario whose other flows keep the queue from emptying, except in outages."""

SHARED_JUDGING = range(5001, 5101)
"""Numbers of shared queues on which nothing was chosen. Rules were made on 400 others, drawn
from the same ranges."""


@dataclass(frozen=True)
class Drawn:
    """A scenario, by name or as text, with a sender and settings."""

    sender: str
    set: dict[str, Any]
    scenario: str = "single-link"


def drawn(seed: int) -> Drawn:
    """The path with this number, the same everywhere."""
    random = Random(seed)

    def between(low: float, high: float) -> float:
        """Uniform in the logarithm."""
        return low * float((high / low) ** random.random())

    def one_in(count: int) -> bool:
        return random.random() * count < 1

    rate_kbps = between(100, 20_000)
    delay_ms = between(1, 300)
    packets = 5 + rate_kbps / 12 * 2 * delay_ms / 1000 * between(0.5, 4)
    link = {
        "rate": f"{rate_kbps:.0f} kbit/s",
        "delay": f"{delay_ms:.0f} ms",
        "queue": f"{packets:.0f} packets",
    }
    disturbed: dict[str, Any] = {}
    if not one_in(3):
        disturbed["forward.loss"] = round(between(0.0005, 0.05), 4)
    if one_in(2):
        disturbed["backward.loss"] = round(between(0.001, 0.2), 4)
    if one_in(3):
        mean = f"{between(1, 20):.0f} ms"
        disturbed["jitter"] = f'{{ exponential = "{mean}" }}'
        disturbed["order"] = ("kept", "free")[one_in(2)]
    if not one_in(3):
        length = f"{between(200, 5000):.0f} ms"
        disturbed["stalls.random.good"] = '{ exponential = "8 s" }'
        disturbed["stalls.random.bad"] = f'{{ exponential = "{length}" }}'
    set: dict[str, Any] = {f"link.wire.{key}": value for key, value in (link | disturbed).items()}
    set["duration"] = "60 s"
    set["flow.transfer.bytes"] = f"{between(50, 1500):.0f} kB"
    sender = SENDERS[int(random.random() * len(SENDERS))]
    # The systems' own settings hold for these.
    if sender not in ("linux", "freebsd-14"):
        set["tcp.timestamps"] = one_in(2)
        set["receiver.dsack"] = one_in(2)
        set["receiver.delayed_ack"] = ("40 ms", "200 ms")[one_in(2)]
    return Drawn(sender, set)


def drawn_shared(seed: int) -> Drawn:
    """The path with this number whose queue other flows share, the same everywhere."""
    random = Random(f"shared {seed}")

    def between(low: float, high: float) -> float:
        """Uniform in the logarithm."""
        return low * float((high / low) ** random.random())

    rate_kbps, delay_ms = between(200, 10_000), between(3, 100)
    packets = 5 + max(rate_kbps / 12 * 2 * delay_ms / 1000, 4) * between(0.5, 6)
    link: dict[str, Any] = {
        "rate": f"{rate_kbps:.0f} kbit/s",
        "delay": f"{delay_ms:.0f} ms",
        "queue": f"{packets:.0f} packets",
        "outages.random.good.exponential": f"{between(3, 12):.1f} s",
        "outages.random.bad.exponential": f"{between(300, 3000):.0f} ms",
    }
    if random.random() < 0.4:
        link["forward.loss"] = round(between(0.0005, 0.03), 4)
    if random.random() < 0.4:
        link["backward.loss"] = round(between(0.001, 0.1), 4)
    set: dict[str, Any] = {f"link.wire.{key}": value for key, value in link.items()}
    set["flow.transfer.bytes"] = f"{between(50, 1500):.0f} kB"
    set["flow.transfer.start"] = random.choice(["0 s", "2 s", "5 s"])
    set["receiver.dsack"] = random.random() < 0.6
    set["receiver.delayed_ack"] = random.choice(["40 ms", "200 ms"])
    sender = random.choice(SENDERS)
    table = "kernel" if sender == "linux" else "tcp"
    set[f"{table}.timestamps"] = random.random() < 0.25
    if random.random() < 0.6:
        others = f'count = {random.choice([1, 2, 4, 8])}\nstart_jitter = "1 s"'
    else:
        rate = f"{rate_kbps * between(0.4, 1.05):.0f} kbit/s"
        others = f'datagrams = {{ rate = "{rate}", packet = "1000 B" }}'
    return Drawn(sender, set, SHARED.format(others=others))


def verdicts(
    seeds: Sequence[int], folder: Path, draw: Callable[[int], Drawn] = drawn
) -> Iterator[dict[str, Any]]:
    """A row each verdict about a retransmission or a timeout, with its truth."""
    file, scenario = folder / "drawn.pcapng", folder / "drawn.toml"
    for seed in seeds:
        path = draw(seed)
        if path.scenario != Drawn.scenario:
            scenario.write_text(path.scenario)
        name = Drawn.scenario if path.scenario == Drawn.scenario else str(scenario)
        result = run(name, sender=path.sender, seed=seed, set=path.set, trace=True)
        for place in PLACES:
            file.write_bytes(result.pcapng(0, place))
            known = labels(Labelled("", result, 0), place)
            truth = {(what, frame): truth for frame, what, truth in known.iter_rows()}
            for one in diagnose(file).document["connections"]:
                found = [("verdict", row, row["verdict"]) for row in one["retransmissions"]]
                found += [("timeout", row, row["class"]) for row in one["timeouts"]]
                for what, row, said in found:
                    if label := truth.get((what, row["frame"])):
                        yield {
                            "seed": seed,
                            "place": place,
                            "what": what,
                            "frame": row["frame"],
                            "said": said,
                            "truth": label,
                            "confidence": float(row["confidence"]),
                        }


def calibration(rows: pl.DataFrame) -> pl.DataFrame:
    """For each class of confidence: verdicts, the mean confidence, and the share that is right."""
    known = rows.filter(pl.col("said") != "unknown")
    level = pl.lit(LEVELS[0])
    for low in LEVELS[1:]:
        level = pl.when(pl.col("confidence") >= low).then(pl.lit(low)).otherwise(level)
    right = (pl.col("said") == pl.col("truth")).mean()
    classes = known.group_by("what", level.alias("from"))
    return classes.agg(
        pl.len().alias("verdicts"), pl.col("confidence").mean(), right.alias("right")
    ).sort("what", "from")


def lines(folder: Path) -> Iterator[str]:
    """The classes of the judging paths, a line each."""
    for one in calibration(pl.DataFrame(list(verdicts(JUDGING, folder)))).iter_rows(named=True):
        what, count = one["what"], one["verdicts"]
        yield f"  {what:8} {count:6}  confidence {one['confidence']:.3f}  right {one['right']:.3f}"
