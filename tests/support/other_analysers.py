"""What other analysers report on captures whose truth is known."""

import re
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import polars as pl

import labelled_captures
from program import execute
from rtolab.diagnosis import diagnose

MARKS = (
    *("tcp.analysis.retransmission", "tcp.analysis.fast_retransmission"),
    *("tcp.analysis.spurious_retransmission", "tcp.analysis.out_of_order"),
)
SPURIOUS = "tcp.analysis.spurious_retransmission"


def tshark(file: Path) -> dict[int, bool]:
    """The frames that it calls retransmissions of data, and whether it calls them spurious."""
    fields = [part for field in ("frame.number", SPURIOUS) for part in ("-e", field)]
    marked = f"tcp.len > 0 && ({' || '.join(MARKS)})"
    command = ["tshark", "-n", "-r", str(file), "-Y", marked, "-T", "fields", *fields]
    done = execute(*command, check=True)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {int(number): bool(spurious) for number, spurious in rows}


def tcptrace(file: Path) -> int:
    """How many segments it calls retransmissions of data; it never says whether unneeded."""
    command = ["tcptrace", "-l", "-n", str(file)]
    done = execute(*command, check=True)
    return sum(int(n) for n in re.findall(r"rexmt data pkts:\s+(\d+)", done.stdout))


def rtolab(file: Path) -> dict[int, bool]:
    """The same, by the diagnosis."""
    connections = diagnose(file).document["connections"]
    resent = [one for c in connections for one in c["retransmissions"] if one["len"] > 0]
    return {one["frame"]: one["verdict"] == "unneeded" for one in resent}


def beside(folder: Path, names: list[str]) -> Iterable[str]:
    """A table: how many of all retransmissions, and of the unneeded ones, each tool finds."""
    tools = {"tshark": tshark, "rtolab diagnose": rtolab}
    missing = [name for name in ("tshark", "tcptrace") if shutil.which(name) is None]
    if missing:
        yield f"  {', '.join(missing)} missing: apt-get install tshark tcptrace"
        return
    counts: Counter[tuple[str, str, str]] = Counter()
    for name in names:
        place = name.rsplit(".", 1)[-1]
        verdicts = labelled_captures.known(folder, name).filter(pl.col("what") == "verdict")
        truth = {row["frame"]: row["truth"] == "unneeded" for row in verdicts.to_dicts()}
        counts[place, "all", "again"] += len(truth)
        counts[place, "all", "unneeded"] += sum(truth.values())
        file = labelled_captures.file(folder, name)
        counts[place, "tcptrace", "again"] += tcptrace(file)
        for tool, marks in tools.items():
            found = marks(file)
            counts[place, tool, "again"] += len(found.keys() & truth.keys())
            counts[place, tool, "wrong"] += len(found.keys() - truth.keys())
            called = [frame for frame, unneeded in found.items() if unneeded]
            counts[place, tool, "unneeded"] += len(called)
            counts[place, tool, "right"] += sum(truth.get(frame, False) for frame in called)
    for place in ("sender", "receiver"):
        again, unneeded = (counts[place, "all", what] for what in ("again", "unneeded"))
        yield f"  {place}: {again} retransmissions, {unneeded} of them unneeded"
        yield f"    tcptrace: {counts[place, 'tcptrace', 'again']} called retransmissions"
        for tool in tools:
            of = {
                what: counts[place, tool, what] for what in ("again", "wrong", "unneeded", "right")
            }
            yield (
                f"    {tool}: {of['again']} found and {of['wrong']} that are none; "
                f"{of['unneeded']} called unneeded, {of['right']} rightly"
            )
