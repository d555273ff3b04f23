"""What the logs of a QUIC client and its server say about declared losses and timeouts."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rtolab._rtolab import CaptureError
from rtolab.diagnosis import diagnose_pair

SUFFIXES = (".qlog", ".sqlog")
"""How the names of logs end."""
ALIKE = 8
"""The fewest characters that the names of two logs of one connection have in common."""


@dataclass(frozen=True)
class LossCounts:
    """Counts of the end that sent more, from the logs of both ends.

    Attributes:
        declared_losses: packets that it declared lost.
        spurious_losses: those of them that arrived.
        episodes: its recovery episodes (RFC 9002, section 7.3.2).
        spurious_episodes: those of them without a lost packet.
        timeouts: its probe timeouts.
        spurious_timeouts: those of them that were spurious.
    """

    declared_losses: int
    spurious_losses: int
    episodes: int
    spurious_episodes: int
    timeouts: int
    spurious_timeouts: int


_FROM_TOTALS = {
    "declared_losses": "losses",
    "spurious_losses": "spurious_losses",
    "episodes": "episodes",
    "spurious_episodes": "spurious_episodes",
    "timeouts": "timeouts",
    "spurious_timeouts": "spurious",
}


def unpack(archives: Path) -> dict[str, Path]:
    """Unpacks the archive of each host; returns their folders, by host."""
    folders = {}
    for archive in sorted(archives.glob("*.tar")):
        folder = archive.with_suffix("")
        folder.mkdir()
        if archive.stat().st_size:
            with tarfile.open(archive) as files:
                files.extractall(folder, filter="data")
        folders[archive.stem] = folder
    return folders


def counts(folders: Mapping[str, Path]) -> LossCounts | None:
    """The counts of all connections whose logs both hosts have; `None` if there are none."""
    found: dict[str, int] = {}
    for sender, receiver in _pairs(_logs(folders["server"]), _logs(folders["client"])):
        try:
            diagnosis = diagnose_pair(sender, receiver)
        except CaptureError:
            continue
        totals = diagnosis.document["summary"]["totals"]
        for name, key in _FROM_TOTALS.items():
            found[name] = found.get(name, 0) + totals[key]
    return LossCounts(**found) if found else None


def _logs(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


def _pairs(server: list[Path], client: list[Path]) -> Iterator[tuple[Path, Path]]:
    """The logs of each connection: those whose names have the most in common, or the only ones."""
    if len(server) == len(client) == 1:
        yield server[0], client[0]
        return
    for one in server:
        length, other = max(
            ((_common(one.name, other.name), other) for other in client), default=(0, None)
        )
        if other is not None and length >= ALIKE:
            yield one, other


def _common(first: str, second: str) -> int:
    """The length of the longest common part of two names."""
    lengths = (
        length
        for start in range(len(first))
        for length in range(len(first) - start, 0, -1)
        if first[start : start + length] in second
    )
    return max(lengths, default=0)
