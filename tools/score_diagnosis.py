"""Scores `rtolab diagnose` on captures whose truth is known.

    python tools/score_diagnosis.py FOLDER [--half fit|held-out] [--command "rtolab diagnose --json"]

FOLDER holds, for each run NAME, NAME.snd.pcap, NAME.rcv.pcap, NAME.labels.csv and NAME.link.csv.gz.
The diagnosis is shown a capture and nothing else; this reads the labels.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import shlex
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

DEFAULT = "python -m rtolab diagnose --json"
TRIGGERS = {
    "RTO": {"timeout"},
    "TLP": {"tlp"},
    "FAST": {"fast", "recovery"},
    "LOSS": {"after-timeout"},
    "SYN": {"syn"},
}


@dataclass(frozen=True)
class Label:
    """What is known of a retransmission."""

    ip_id: int
    trigger: str
    needed: bool
    arrived: bool
    timeout: str | None


def labels(folder: Path, name: str) -> list[Label]:
    """The labels of a run, timeouts classed by the record of the link."""
    with gzip.open(folder / f"{name}.link.csv.gz", "rt") as file:
        link = list(csv.DictReader(line for line in file if not line.startswith("#")))
    with (folder / f"{name}.labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    return [label(row, link) for row in rows]


def label(row: dict[str, str], link: list[dict[str, str]]) -> Label:
    """One label."""
    ip_id, needed = int(row["ipid"]), row["truth"] == "needed"
    timeout = None
    if row["kernel_reason"] in ("RTO", "SYN"):
        timeout = "genuine" if needed else late_or_lost(ip_id, link)
    arrived = row["link_verdict"] == "OK"
    return Label(ip_id, row["kernel_reason"], needed, arrived, timeout)


def late_or_lost(ip_id: int, link: list[dict[str, str]]) -> str:
    """Would an acknowledgment have come without this retransmission? One that answers no copy of it."""
    forward = [row for row in link if row["dir"] == "F"]
    own = next(row for row in forward if int(row["ipid"]) == ip_id)
    start, sent = int(own["seq"]), float(own["t_in"])
    end = start + int(own["dlen"]) + (int(own["flags"]) & 3 > 0)
    copies = [row for row in forward if int(row["seq"]) == start and row["verdict"] == "OK"]
    later = [float(row["t_written"]) for row in copies if float(row["t_in"]) >= sent]
    limit = min(later, default=float("inf"))
    acks = [row for row in link if row["dir"] == "R" and row["verdict"] == "OK"]
    came = any(int(row["ack"]) >= end and float(row["t_in"]) < limit for row in acks)
    return "spurious" if came else "ack-lost"


def diagnose(command: str, capture: Path) -> dict:
    """What the diagnosis says of a capture."""
    argv = [*shlex.split(command), str(capture)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def score(name: str, side: str, known: list[Label], document: dict, tally: Counter) -> None:
    """Adds one capture to the tally."""
    found = {
        r["ip_id"]: r for connection in document["connections"] for r in connection["retransmissions"]
    }
    timeouts = {
        t["frame"]: t for connection in document["connections"] for t in connection["timeouts"]
    }
    for one in known:
        if side == "rcv" and not one.arrived:
            continue
        truth = "needed" if one.needed else "unneeded"
        said = found.pop(one.ip_id, None)
        verdict = said["verdict"] if said else "missed"
        tally[side, "verdict", truth, verdict] += 1
        if verdict != truth:
            print(f"  {name} {side} ip_id {one.ip_id} {one.trigger}: {truth}, said {verdict}", said)
        if side == "rcv":
            continue
        trigger = said["trigger"] if said else "missed"
        tally[side, "trigger", one.trigger, trigger] += 1
        if trigger not in TRIGGERS[one.trigger]:
            print(f"  {name} {side} ip_id {one.ip_id}: {one.trigger}, said {trigger}")
        if one.timeout:
            row = timeouts.pop(said["frame"], None) if said else None
            timeout = row["class"] if row else "missed"
            tally[side, "timeout", one.timeout, timeout] += 1
            if timeout != one.timeout:
                print(f"  {name} {side} ip_id {one.ip_id}: {one.timeout}, said {timeout}")
    for other in found.values():
        tally[side, "verdict", "no retransmission", other["verdict"]] += 1
        print(f"  {name} {side} no retransmission:", other)
    if side == "snd":
        for other in timeouts.values():
            tally[side, "timeout", "no timeout", other["class"]] += 1


def main() -> None:
    """Score every run of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--command", default=DEFAULT)
    parser.add_argument("--half", choices=["fit", "held-out"])
    chosen = parser.parse_args()
    names = sorted(file.name.removesuffix(".labels.csv") for file in chosen.folder.glob("*.labels.csv"))
    if chosen.half:
        names = names[(0 if chosen.half == "fit" else 1) :: 2]
    tally: Counter = Counter()
    for name in names:
        known = labels(chosen.folder, name)
        for side in ("snd", "rcv"):
            document = diagnose(chosen.command, chosen.folder / f"{name}.{side}.pcap")
            score(name, side, known, document, tally)
    for key in sorted(tally):
        print(*key, tally[key], sep="\t")


if __name__ == "__main__":
    main()
