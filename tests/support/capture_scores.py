"""Scores a diagnosis on captures whose truth is known.

A folder holds, for each run NAME, NAME.snd.pcap.gz, NAME.rcv.pcap.gz, NAME.labels.csv.gz and
NAME.link.csv.gz. The diagnosis is shown a capture and nothing else; the rest is read here.
"""

import csv
import gzip
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rtolab.diagnosis import diagnose

TRIGGERS = {
    "RTO": {"timeout"},
    "TLP": {"tlp"},
    "FAST": {"fast", "recovery"},
    "LOSS": {"after-timeout"},
    "SYN": {"syn"},
}
Row = dict[str, str]
LABELS = ".labels.csv.gz"


@dataclass(frozen=True)
class Label:
    """The truth about a retransmission."""

    ip_id: int
    trigger: str
    truth: str
    arrived: bool
    timeout: str | None


@dataclass
class Score:
    """Counts by (side, what, truth, found), and the verdicts that are wrong."""

    counts: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, name: str, key: tuple[str, str, str, str], *, right: bool) -> None:
        self.counts[key] += 1
        if not right:
            self.wrong.append(f"{name}: {' '.join(key)}")

    def precision(self, side: str, what: str, found: str) -> float:
        """The share of these verdicts that is right."""
        said = {k: n for k, n in self.counts.items() if (k[0], k[1], k[3]) == (side, what, found)}
        right = sum(n for (_, _, truth, _), n in said.items() if truth == found)
        return right / sum(said.values())

    def recall(self, side: str, what: str, truth: str) -> float:
        """The share of these cases that was found."""
        all_ = {k: n for k, n in self.counts.items() if k[:3] == (side, what, truth)}
        return all_[side, what, truth, truth] / sum(all_.values())


def names(folder: Path) -> list[str]:
    """The runs of a folder."""
    return sorted(file.name.removesuffix(LABELS) for file in folder.glob(f"*{LABELS}"))


def labels(folder: Path, name: str) -> list[Label]:
    """The labels of a run, timeouts classed by the record of the link."""
    with gzip.open(folder / f"{name}.link.csv.gz", "rt") as file:
        link = list(csv.DictReader(line for line in file if not line.startswith("#")))
    with gzip.open(folder / f"{name}{LABELS}", "rt") as file:
        return [_label(row, link) for row in csv.DictReader(file)]


def score(folder: Path, runs: list[str]) -> Score:
    """Both captures of each run."""
    total = Score()
    for name in runs:
        known = labels(folder, name)
        for side in ("snd", "rcv"):
            document = diagnose(folder / f"{name}.{side}.pcap.gz").document
            _compare((name, side), known, document["connections"], total)
    return total


def _label(row: Row, link: list[Row]) -> Label:
    ip_id = int(row["ipid"])
    truth = "needed" if row["truth"] == "needed" else "unneeded"
    timeout = None
    if row["kernel_reason"] in {"RTO", "SYN"}:
        timeout = "genuine" if truth == "needed" else _late_or_lost(ip_id, link)
    return Label(ip_id, row["kernel_reason"], truth, row["link_verdict"] == "OK", timeout)


def _late_or_lost(ip_id: int, link: list[Row]) -> str:
    """Would an ACK have arrived that answers neither this retransmission nor a later one?"""
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


def _compare(
    run: tuple[str, str], known: list[Label], connections: list[dict[str, Any]], total: Score
) -> None:
    name, side = run
    mine = [one for c in connections for one in c["retransmissions"] if one["from"] == "client"]
    found = {one["ip_id"]: one for one in mine}
    timeouts = {one["frame"]: one for c in connections for one in c["timeouts"]}
    for label in known:
        if side == "rcv" and not label.arrived:
            continue
        said = found.pop(label.ip_id, {"verdict": "missed", "trigger": "missed", "frame": 0})
        where = f"{name} {label.ip_id}"
        right = said["verdict"] == label.truth
        total.add(where, (side, "verdict", label.truth, said["verdict"]), right=right)
        if side == "snd":
            right = said["trigger"] in TRIGGERS[label.trigger]
            total.add(where, (side, "trigger", label.trigger, said["trigger"]), right=right)
            timeout = timeouts.pop(said["frame"], {"class": "missed"})["class"]
            if label.timeout:
                right = timeout == label.timeout
                total.add(where, (side, "timeout", label.timeout, timeout), right=right)
    for other in found.values():
        total.add(f"{name} {other}", (side, "verdict", "none", other["verdict"]), right=False)
