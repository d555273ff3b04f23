"""Watching an interface: totals, the worst paths, and the kernel's own counters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from rtolab.watching.kernel import counters, grown

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_PATHS = 1000
"""Beyond this number the half of the paths that lost least is forgotten."""


class VerdictSource(Protocol):
    """A source of verdicts, such as `_rtolab.Watcher`."""

    def poll(self, seconds: float) -> list[str]:
        """Watch for this time; the verdicts that have settled, each as a JSON object."""

    def finish(self) -> list[str]:
        """End, and return the last verdicts."""

    def totals(self) -> str:
        """The totals so far as a JSON object."""


@dataclass
class Path:
    """The verdicts on the packets from one address to another."""

    sender: str
    receiver: str
    retransmissions: int = 0
    unneeded: int = 0
    timeouts: int = 0
    spurious: int = 0
    time_lost: float = 0.0

    @property
    def severity(self) -> tuple[float, int]:
        """The order of paths: the worst has the largest value."""
        return self.time_lost, self.unneeded


@dataclass
class WatchState:
    """The results of a watch so far."""

    watcher: VerdictSource
    interface: str
    totals: dict[str, Any] = field(default_factory=dict)
    paths: dict[tuple[str, str], Path] = field(default_factory=dict)
    before: Mapping[str, int] = field(default_factory=counters)
    spurious_first: int = 0
    """Spurious timeouts without repeated ones, as the kernel counts what it undoes."""

    def __post_init__(self) -> None:
        self._update()

    def poll(self, seconds: float) -> Sequence[str]:
        """Watch for this time; the verdicts that have settled, each as a JSON object."""
        lines = self.watcher.poll(seconds)
        self._take(lines)
        return lines

    def finish(self) -> Sequence[str]:
        """End; the last verdicts, each as a JSON object."""
        lines = self.watcher.finish()
        self._take(lines)
        return lines

    @property
    def worst(self) -> list[Path]:
        """The paths, the worst first."""
        return sorted(self.paths.values(), key=lambda path: path.severity, reverse=True)

    @property
    def summary(self) -> dict[str, Any]:
        """The totals, with the growth of the kernel's counters."""
        return {
            "row": "summary",
            "interface": self.interface,
            **self.totals,
            "spurious_first_timeouts": self.spurious_first,
            "kernel": grown(self.before, counters()),
        }

    def _update(self) -> None:
        self.totals = json.loads(self.watcher.totals())

    def _take(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._count(json.loads(line))
        self._update()

    def _count(self, line: Mapping[str, Any]) -> None:
        end = line.get("from")
        if end is None:
            return
        ends = {name: line[name].rpartition(":")[0] for name in ("client", "server")}
        key = (ends[end], ends["server" if end == "client" else "client"])
        path = self.paths.get(key)
        if path is None:
            if len(self.paths) >= MOST_PATHS:
                kept = self.worst[: MOST_PATHS // 2]
                self.paths = {(one.sender, one.receiver): one for one in kept}
            path = self.paths[key] = Path(*key)
        match line["row"]:
            case "retransmission":
                path.retransmissions += 1
                path.unneeded += line["verdict"] == "unneeded"
            case "timeout" if not line["handshake"]:
                path.timeouts += 1
                path.spurious += line["class"] == "spurious"
                self.spurious_first += line["class"] == "spurious" and line["backoff"] == 0
            case "episode":
                path.time_lost += line["cost"]["time_lost"] or 0.0
