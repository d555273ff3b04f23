"""Results of IRTT, the Isochronous Round-Trip Tester: `irtt client -o FILE.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rtolab._rtolab import Error
from rtolab.paths.measured import MeasuredPath, OneWay, split_losses
from rtolab.paths.ping import STEP_S, round_trips
from rtolab.paths.series import remove_clock
from rtolab.paths.text import read_text

LOST_THERE, LOST_BACK, LOST = "true_up", "true_down", "true"
UNSENT = {LOST, LOST_THERE}
KEYS = ("rtt", "send", "receive")


def read_irtt(files: Sequence[Path]) -> MeasuredPath:
    """A path from a result in JSON, which gzip may have packed.

    With the server's wall-clock timestamps the directions have delays of their own.

    Raises:
        Error: no result of IRTT, or fewer than two round trips.
    """
    path = files[0]
    try:
        document = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise Error(f"{path}: found no JSON ({error}); expected the file of irtt -o") from None
    rounds = document.get("round_trips") if isinstance(document, dict) else None
    if not isinstance(rounds, list):
        raise Error(f"{path}: found no key round_trips; expected the file of irtt -o")
    probes = [_probe(path, number, one) for number, one in enumerate(rounds)]
    arrived = [probe for probe in probes if probe["rtt"] is not None]
    if len(arrived) <= 1:
        raise Error(f"{path}: found {len(arrived)} complete round trips; expected two at least")
    begin = min(probe["sent"] for probe in probes)
    for probe in probes:
        probe["sent"] = (probe["sent"] - begin) / 1e9
    origin = [f"Imported from {path.name}, a result of IRTT."]
    if any(probe["send"] is None or probe["receive"] is None for probe in arrived):
        series = [(probe["sent"], _ms(probe["rtt"])) for probe in probes]
        return round_trips(series, f"IRTT in {path.name}", origin)
    there, back = remove_clock(
        [(probe["sent"], probe["send"] / 1e6) for probe in arrived],
        [(probe["sent"] + probe["rtt"] / 2e9, probe["receive"] / 1e6) for probe in arrived],
    )
    return MeasuredPath(
        title=f"A path measured by IRTT in {path.name}",
        origin=[
            *origin,
            "Measured: the variation of each direction's delay, and losses. The clocks of both",
            "ends differ, so each direction has half of the least round trip as its least delay.",
            "Not measured: the rate and the queue.",
        ],
        duration_s=max(probe["sent"] for probe in probes),
        forward=_one_way(back, probes, LOST_BACK),
        backward=_one_way(there, probes, LOST_THERE),
    )


def _probe(path: Path, number: int, one: Any) -> dict[str, Any]:
    """What counts of a round trip, in nanoseconds; None: not there."""
    try:
        delay = one.get("delay") or {}
        lost = one["lost"]
        probe = {
            "sent": one["timestamps"]["client"]["send"]["wall"],
            "lost": lost,
            **{key: None if lost != "false" else delay.get(key) for key in KEYS},
        }
        if lost not in {"false", LOST, LOST_THERE, LOST_BACK} or not all(
            probe[key] is None or type(probe[key]) is int for key in ("sent", *KEYS)
        ):
            raise TypeError
    except (AttributeError, KeyError, TypeError):
        expected = "lost, timestamps.client.send.wall and delay as irtt writes them"
        raise Error(f"{path}: round_trips[{number}]: expected {expected}") from None
    return probe


def _ms(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


def _one_way(delays: list[tuple[float, float]], probes: list[dict[str, Any]], lost: str) -> OneWay:
    """A direction; a probe whose direction of loss is unknown counts for the way there."""
    kinds = {lost, LOST} if lost == LOST_THERE else {lost}
    # What was lost on the way there was never sent on the way back.
    sent = probes if lost == LOST_THERE else [one for one in probes if one["lost"] not in UNSENT]
    loss, outages = split_losses([(one["sent"], one["lost"] in kinds) for one in sent])
    steps: list[tuple[float, float]] = []
    for at, delay in delays:
        steps.append((max(at, steps[-1][0] + STEP_S) if steps else 0.0, delay))
    return OneWay(delays=steps, loss=loss, outages=outages)
