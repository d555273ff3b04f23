"""Traces of CellReplay.

Sentosa and others, "CellReplay: Towards accurate record-and-replay for cellular networks", NSDI
2025.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rtolab._rtolab import Error
from rtolab.paths.mahimahi import read_opportunities
from rtolab.paths.measured import MeasuredPath, OneWay
from rtolab.paths.text import numbered, wrong

TRAIN = re.compile(r"^\d{1,9} \d{1,9}( \d{1,9})+$", re.ASCII)


def read_cellreplay(files: Sequence[Path]) -> MeasuredPath:
    """A path from four files, in the order of `mm-cellular`.

    The base delays and light opportunities of uplink and downlink, then their heavy opportunities.

    Raises:
        Error: a line is invalid, the times are not in order, or a file has fewer than two.
    """
    up, down = _trains(files[0]), _trains(files[1])
    heavy = [read_opportunities(path) for path in files[2:]]
    names = ", ".join(path.name for path in files)
    return MeasuredPath(
        title=f"A cellular path replayed from CellReplay's {files[1].name}",
        origin=[
            f"Imported from {names}.",
            "The first packets after an idle time have the light opportunities, all others the",
            "heavy ones. Each carries 1500 B here, and 1400 B in CellReplay.",
            "The traces do not show the queue.",
        ],
        duration_s=max(up[-1][0], down[-1][0], heavy[0][-1], heavy[1][-1]) / 1000,
        forward=_one_way(down, heavy[1]),
        backward=_one_way(up, heavy[0]),
    )


def _one_way(trains: list[tuple[int, int, list[int]]], heavy: list[int]) -> OneWay:
    begin = trains[0][0]
    return OneWay(
        delays=[((at - begin) / 1000, delay) for at, delay, _ in trains],
        opportunities=heavy,
        light=[(at - begin, light) for at, _, light in trains],
    )


def _trains(path: Path) -> list[tuple[int, int, list[int]]]:
    """The time, the base delay and the light opportunities of each train, in milliseconds."""
    trains: list[tuple[int, int, list[int]]] = []
    for number, line in numbered(path):
        if not TRAIN.match(line):
            expected = "milliseconds: time, base delay and opportunities such as 500 21 0 0 2 5"
            raise wrong(path, number, line, expected)
        at, delay, *light = (int(word) for word in line.split())
        if trains and at < trains[-1][0]:
            raise wrong(path, number, line, f"no time before {trains[-1][0]}")
        if trains and at == trains[-1][0]:
            continue
        # A packet that overtook another in its train had an opportunity no later than that.
        light = [min(light[index:]) for index in range(len(light))]
        trains.append((at, delay, light))
    if len(trains) <= 1:
        raise Error(f"{path}: found fewer than two trains; expected a packet-train trace")
    return trains
