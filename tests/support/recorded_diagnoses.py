"""The diagnoses of simulated captures, as they were when `diagnoses.json` was recorded.

After a change that is meant to change them, `python tests/support/recorded_diagnoses.py` records
them again; the differences of the file show which answers are others now. A commit that does so
says why.
"""

import hashlib
import json
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import rtolab
from drawn_results import run_drawn
from program import printed
from recorded_results import SCENARIOS, SHORTER
from rtolab import Error, Result
from rtolab.diagnosis import Diagnosis, diagnose, diagnose_pair, tables
from rtolab.diagnosis.page import page
from rtolab.diagnosis.what_if import what_if
from rtolab.result import PLACES

FILE = Path(__file__).parents[1] / "diagnoses.json"

# In turn, each beside the scenario's own sender.
SENDERS = ("linux", "newreno", "freebsd-14", "reno+frto")
WRONG_ONCE = (202, 331, 409, 416, 478, 526)
"""Seeds of scenarios with answers that were wrong."""
DRAWN = [f"drawn-{seed}" for seed in (*range(1, 81), *WRONG_ONCE)]
"""Scenarios drawn at random, of which the first sentence is recorded, a hash of all diagnoses, and
one of what is shown."""
MOST_REPLAYED = 10_000
"""The packets of the longest capture that is replayed with other senders, which takes long."""

Recorded = dict[str, dict[str, list[str]]]
"""The sentences of each diagnosis, then a hash of its document, by scenario."""


@cache
def recorded() -> Recorded:
    """The recorded diagnoses."""
    found: Recorded = json.loads(FILE.read_text())
    return found


@dataclass(frozen=True)
class Captured:
    """A run of a scenario, with the diagnoses of its captures."""

    sender: str
    run: Result
    at: dict[str, Diagnosis]
    """By place."""
    pair: Diagnosis | None
    """`None` if no connection is in both captures."""
    replay: dict[str, Any] | None
    shown: str
    """The sender's, as printed and as page."""


def captured(scenario: str) -> list[Captured]:
    """The runs of a scenario: with its own sender, and with another one; one if it is drawn."""
    if scenario in DRAWN:
        with tempfile.TemporaryDirectory() as folder:
            *_, run = run_drawn(int(scenario.removeprefix("drawn-")), Path(folder))
        return [_captured(run)]
    set_ = {"duration": SHORTER[scenario]} if scenario in SHORTER else {}
    other = SENDERS[SCENARIOS.index(scenario) % len(SENDERS)]
    return [
        _captured(rtolab.run(scenario, sender=one, set=set_, trace=True)) for one in (None, other)
    ]


def _captured(run: Result) -> Captured:
    with tempfile.TemporaryDirectory() as folder:
        files = {place: Path(folder) / f"{place}.pcapng" for place in PLACES}
        for place, file in files.items():
            file.write_bytes(run.pcapng(0, place, headers=True))
        at = {place: diagnose(file) for place, file in files.items()}
        try:
            pair = diagnose_pair(*files.values())
        except Error:
            pair = None
        is_short = at["sender"].document["summary"]["packets"] <= MOST_REPLAYED
        replay = what_if(at["sender"]) if is_short else None
        body = page([at["sender"]]).partition("<body>")[2].partition("<script>")[0]
        shown = (printed(tables.diagnosis(at["sender"], 3)) + body).replace(folder, "")
    return Captured(run.connections["sender"][0], run, at, pair, replay, shown)


def diagnoses(runs: list[Captured]) -> dict[str, list[str]]:
    """The sentences of each diagnosis of these runs, then a hash of its document."""
    found = {}
    for one in runs:
        for name, diagnosis in {**one.at, "pair": one.pair}.items():
            if diagnosis:
                found[f"{one.sender}, {name}"] = _of(diagnosis)
        if one.replay is not None:
            found[f"{one.sender}, replayed"] = _of_replay(one.replay)
    return found


def recordable(scenario: str, runs: list[Captured]) -> dict[str, list[str]]:
    """What is recorded of these runs."""
    found = diagnoses(runs)
    if scenario not in DRAWN:
        return found
    return {runs[0].sender: [next(iter(found.values()))[0], _hash(found), _hash(runs[0].shown)]}


def _of(diagnosis: Diagnosis) -> list[str]:
    document = {key: value for key, value in diagnosis.document.items() if key != "capture"}
    return [*_sentences(document["answer"]["sentences"]), _hash(document)]


def _of_replay(replay: dict[str, Any]) -> list[str]:
    return [replay.get("error") or "", *_sentences(replay.get("advice", ())), _hash(replay)]


def _sentences(sentences: list[dict[str, Any]]) -> list[str]:
    return [f"{one['text']} [{one['basis']}]" for one in sentences]


def _hash(document: object) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]


def record() -> None:
    """Write the file again."""
    found = {name: recordable(name, captured(name)) for name in (*SCENARIOS, *DRAWN)}
    FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    record()
