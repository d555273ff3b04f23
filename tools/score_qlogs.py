#!/usr/bin/env python3
"""Scores the diagnosis of one QUIC log against that of the logs of both ends.

    tools/score_qlogs.py FOLDER

FOLDER is that of `tools/qlogs`. The script diagnoses the log of the server, which sends, alone and
together with the client's log, which shows the arrivals. Runs of odd seeds may be looked at while
rules are made; those of even seeds are the test. It prints precision and recall by stack and half,
and for the runs of odd seeds each disagreement.

The truth is checked, too: the datagrams on the link are joined with the packets of the server's
log, in the order in which they were sent, and their fates compared with the client's log.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
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
                say(f"{name_of(folder)}: {what} {event[0]}: {said[event]}, not {truth[event]}")
    return scores


def packets(log: Path, event: str) -> Iterator[tuple[str, int, int]]:
    """The packets of an event: type, number, and size in bytes."""
    text = log.read_text().replace("\x1e", "")
    try:
        events = [one for trace in json.loads(text)["traces"] for one in trace["events"]]
    except json.JSONDecodeError:
        # The last line of a program that ended at once may be cut.
        whole = text[: text.rindex("\n")].splitlines()
        events = [json.loads(line) for line in whole if line]
    for one in events:
        if str(one.get("name")).endswith(f":{event}"):
            header, raw = one["data"]["header"], one["data"].get("raw", {})
            if "packet_number" in header:
                yield header["packet_type"], int(header["packet_number"]), raw.get("length", 0)


def compare_with_link(folder: Path) -> Counter[bool]:
    """Of the 1-RTT packets: how often the client's log agrees with the link.

    Without the sizes of packets (noq) nothing shows which packets share a datagram.
    """
    [server], [client] = folder.glob("server/*qlog"), folder.glob("client/*qlog")
    arrived = {(kind, number) for kind, number, _ in packets(client, "packet_received")}
    # The client ends before the last packets arrive.
    last = max((number for kind, number in arrived if kind == "1RTT"), default=-1)
    agrees: Counter[bool] = Counter()
    sent = packets(server, "packet_sent")
    if not any(size for *_, size in packets(server, "packet_sent")):
        return agrees
    for size, delivered in json.loads((folder / "link.json").read_text()):
        # A datagram holds several packets during the handshake, and may end with padding.
        left, inside = size, list[tuple[str, int]]()
        while left > 0 and (packet := next(sent, None)):
            inside.append(packet[:2])
            left -= packet[2]
            if packet[0] == "1RTT":
                break
        known = [one for one in inside if one[0] == "1RTT" and one[1] <= last]
        agrees.update((one in arrived) == delivered for one in known)
    return agrees


def main() -> None:
    """Score all runs of a folder."""
    totals: dict[tuple[str, str, str], Counter[tuple[str, str]]] = {}
    links: dict[str, Counter[bool]] = {}
    for folder in sorted(Path(sys.argv[1]).glob("*/*[0-9]")):
        stack = folder.parent.name
        half = "first half" if int(folder.name.rsplit("-", 1)[1]) % 2 else "test half"
        try:
            links.setdefault(stack, Counter()).update(compare_with_link(folder))
            for what, pairs in score(folder):
                totals.setdefault((what, stack, half), Counter()).update(pairs)
        except (Error, ValueError) as error:
            say(f"{name_of(folder)}: {error}")
    for stack, agrees in sorted(links.items()):
        say(f"{stack}: link and client's log agree on {agrees[True]} of {agrees.total()} packets")
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
