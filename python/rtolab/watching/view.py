"""A watch on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rtolab.text import counted

if TYPE_CHECKING:
    from rtolab.watching import Path, WatchState

CLASSES = ("spurious", "ack-lost", "genuine", "unknown")
VERDICTS = ("unneeded", "needed", "unknown")


def view(watching: WatchState, top: int) -> RenderableType:
    """Totals, retransmissions by trigger and verdict, and the worst paths."""
    totals = watching.totals
    parts: list[RenderableType] = [Text(_head(watching), "bold")]
    if totals["kernel_drops"]:
        drops = counted(totals["kernel_drops"], "packet")
        parts.append(Text(f"the kernel dropped {drops}: verdicts may be wrong", "red"))
    if totals["evicted"]:
        evicted = counted(totals["evicted"], "connection")
        parts.append(Text(f"{evicted} ended by a limit (--connections, --memory)", "red"))
    parts.append(Text(_timeouts(totals)))
    parts.append(Text(_kernel(watching), "dim"))
    if totals["retransmissions"]:
        parts.append(_retransmissions(totals["retransmissions"]))
    worst = watching.worst[:top]
    if worst:
        parts.append(_paths(worst))
    return Group(*parts)


def _head(watching: WatchState) -> str:
    totals = watching.totals
    seconds = max(totals["ended"] - totals["began"], 0.0)
    return (
        f"{watching.interface}: {counted(totals['packets'], 'packet')} in {seconds:.0f} s, "
        f"{counted(totals['connections'], 'connection')}, {totals['open']} open"
    )


def _timeouts(totals: Mapping[str, Any]) -> str:
    classes = totals["timeouts"]
    count = sum(classes.values())
    if not count:
        return "no timeout has settled"
    known = count - classes.get("unknown", 0)
    share = f" ({classes.get('spurious', 0) / known:.0%} of those known)" if known else ""
    parts = ", ".join(f"{classes[name]} {name}" for name in CLASSES if classes.get(name))
    lost = totals["time_lost"]
    return f"{counted(count, 'timeout')}: {parts}{share}; {lost:.1f} s lost"


def _kernel(watching: WatchState) -> str:
    """How many of the spurious timeouts the kernel found itself."""
    grown = watching.summary["kernel"]
    if "TCPTimeouts" not in grown:
        return "the kernel's own counters are unknown"
    timeouts = counted(grown["TCPTimeouts"], "timeout")
    undone, frto = (grown.get(name, 0) for name in ("TCPLossUndo", "TCPSpuriousRTOs"))
    said = f"this kernel, all interfaces: {timeouts}, {undone} undone, {frto} of these by F-RTO"
    found = watching.spurious_first
    return f"{said}; {found} spurious in this watch without repeated ones" if found else said


def _retransmissions(found: Mapping[str, Mapping[str, int]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title="retransmissions", title_justify="left")
    table.add_column("trigger")
    for verdict in VERDICTS:
        table.add_column(verdict, justify="right")
    for trigger, verdicts in found.items():
        table.add_row(trigger, *(str(verdicts.get(verdict, 0)) for verdict in VERDICTS))
    return table


def _paths(paths: list[Path]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title="worst paths", title_justify="left")
    table.add_column("from")
    table.add_column("to")
    for name in ("timeouts", "spurious", "retransmissions", "unneeded", "s lost"):
        table.add_column(name, justify="right")
    for path in paths:
        numbers = (path.timeouts, path.spurious, path.retransmissions, path.unneeded)
        cells = [path.sender, path.receiver, *map(str, numbers), f"{path.time_lost:.1f}"]
        table.add_row(*cells)
    return table
