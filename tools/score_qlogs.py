#!/usr/bin/env python3
"""Scores the diagnosis of one QUIC log against that of the logs of both ends.

    tools/score_qlogs.py FOLDER

FOLDER is that of `tools/qlogs`. The script diagnoses the log of the server, which sends, alone and
together with the client's log, which shows the arrivals. Runs of odd seeds may be looked at while
rules are made; those of even seeds are the test. It prints precision and recall by stack and half,
and for the runs of odd seeds each disagreement.
"""

import sys
from collections import Counter
from pathlib import Path

from rtolab import Error
from rtolab.diagnosis import Diagnosis, diagnose, diagnose_pair

Labels = dict[tuple[object, ...], str]


def say(line: str) -> None:
    """Write a line."""
    sys.stdout.write(line + "\n")


def name_of(folder: Path) -> str:
    """The stack, kind and seed of a run."""
    return f"{folder.parent.name}/{folder.name}"


def labels(found: Diagnosis) -> tuple[Labels, Labels]:
    """The verdicts on losses by event, and the classes of timeouts by event."""
    rows = found.document["connections"]
    losses = {(row["event"],): row["verdict"] for one in rows for row in one["losses"]}
    timeouts = {(row["event"],): row["class"] for one in rows for row in one["timeouts"]}
    return losses, timeouts


def score(folder: Path) -> list[tuple[str, Counter[tuple[str, str]]]]:
    """The pairs of truth and verdict of a run: of its losses, and of its timeouts."""
    [server] = folder.glob("server/*qlog")
    [client] = folder.glob("client/*qlog")
    alone, both = labels(diagnose(server)), labels(diagnose_pair(server, client))
    scores = []
    for what, said, truth in zip(("losses", "timeouts"), alone, both, strict=True):
        pairs = Counter((truth[event], said[event]) for event in truth)
        scores.append((what, pairs))
        for event in truth if int(folder.name.rsplit("-", 1)[1]) % 2 else ():
            if truth[event] != said[event]:
                say(f"{name_of(folder)}: {what[:-1]} {event[0]}: {said[event]}, not {truth[event]}")
    return scores


def main() -> None:
    """Score all runs of a folder."""
    totals: dict[tuple[str, str, str], Counter[tuple[str, str]]] = {}
    for folder in sorted(Path(sys.argv[1]).glob("*/*[0-9]")):
        stack = folder.parent.name
        half = "first half" if int(folder.name.rsplit("-", 1)[1]) % 2 else "test half"
        try:
            for what, pairs in score(folder):
                totals.setdefault((what, stack, half), Counter()).update(pairs)
        except (Error, ValueError) as error:
            say(f"{name_of(folder)}: {error}")
    for (what, stack, half), pairs in sorted(totals.items()):
        say(f"{what} of {stack}, {half}:")
        names = sorted({name for pair in pairs for name in pair})
        for name in names:
            right = pairs[name, name]
            said = sum(count for (_, verdict), count in pairs.items() if verdict == name)
            true = sum(count for (truth, _), count in pairs.items() if truth == name)
            unknown = pairs[name, "unknown"] if name != "unknown" else 0
            say(f"    {name}: precision {right} of {said}, recall {right} of {true}, {unknown=}")


if __name__ == "__main__":
    main()
