"""What a run of a scenario leaves for a diagnosis: its captures, logs, output and scenario."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rtolab.conform.measure import TransferOutcome
from rtolab.conform.quic import SUFFIXES
from rtolab.conform.score import Score
from rtolab.emulation import EmulationResult
from rtolab.files import write_bytes
from rtolab.result import PLACES

SCENARIO = "scenario.toml"
"""The scenario as it ran, with the packets that it drops."""
OUTPUT = "output.txt"
"""The output of client and server."""


def save_captures(folder: Path, result: EmulationResult) -> None:
    """Writes a capture of each end, with the fate of every packet as a comment."""
    folder.mkdir(parents=True, exist_ok=True)
    for place in PLACES:
        write_bytes(folder / f"{place}.pcapng", result.pcapng(0, place))


def save_files(
    folder: Path, scenario: Path, log: Path | None = None, logs: Mapping[str, Path] | None = None
) -> None:
    """Copies the files of a run.

    Args:
        folder: made if it is not there.
        scenario: its file.
        log: the output of its programs.
        logs: the folder of each host's own logs, such as qlogs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    trace = scenario.with_suffix(".delays")
    text = scenario.read_text(encoding="utf-8")
    if trace.exists():
        shutil.copy(trace, folder / "scenario.delays")
        text = text.replace(f'"{trace.name}"', '"scenario.delays"')
    (folder / SCENARIO).write_text(text, encoding="utf-8")
    if log is not None:
        shutil.copy(log, folder / OUTPUT)
    for host, found in (logs or {}).items():
        if any(found.iterdir()):
            shutil.copytree(found, folder / host, dirs_exist_ok=True)


def collect(scores: Iterable[Score], folder: Path) -> list[Score]:
    """Moves the evidence of each score into a folder per scenario."""
    collected = []
    places = {"": ""}
    for one in scores:
        if one.evidence not in places:
            places[one.evidence] = str(moved(one.evidence, folder / one.id))
        collected.append(replace(one, evidence=places[one.evidence]))
    return collected


def moved(found: str, to: Path) -> Path:
    """Moves a folder in place of an earlier one, and returns its new path."""
    shutil.rmtree(to, ignore_errors=True)
    to.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(found, to))


def drop(scores: Sequence[Score], kept: Iterable[str]) -> list[Score]:
    """Deletes the evidence of all scenarios but these and those that hung or failed."""
    left, names = [], set(kept)
    for one in scores:
        if one.evidence and one.ended == TransferOutcome.RECOVERED and one.id not in names:
            shutil.rmtree(one.evidence, ignore_errors=True)
            left.append(replace(one, evidence=""))
        else:
            left.append(one)
    for folder in {Path(one.evidence).parent for one in scores if one.evidence}:
        if not any(folder.iterdir()):
            folder.rmdir()
    return left


def command(one: Score) -> str:
    """The command that diagnoses the evidence of a score; empty if rtolab cannot."""
    if not one.evidence:
        return ""
    folder = Path(one.evidence)
    logs = [_logs(folder / host) for host in ("server", "client")]
    if all(len(found) == 1 for found in logs):
        files = [found[0] for found in logs]
    elif one.is_datagrams:
        return ""
    else:
        files = [folder / f"{place}.pcapng" for place in PLACES]
    return shlex.join(["rtolab", "diagnose", "--pair", *map(str, files)])


def _logs(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
