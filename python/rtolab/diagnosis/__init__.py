"""Diagnosis of the retransmissions and timeouts in a capture."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.diagnosis.comments import comments
from rtolab.files import whole, write_table
from rtolab.text import counted

Connection = dict[str, Any]

STANDARD_INPUT = "-"
SHOWN = 10
"""The number of connections in a notebook."""


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of a capture.

    Attributes:
        capture: the file.
        document: the output of `rtolab diagnose --json`.
        rows: the Arrow tables behind `document` and `tables`.
    """

    capture: str
    document: dict[str, Any]
    rows: _rtolab.Diagnosis

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.capture}>"

    def _repr_html_(self) -> str:
        from rtolab.diagnosis import tables  # noqa: PLC0415  (only notebooks ask)
        from rtolab.notebook import html  # noqa: PLC0415

        shown = [tables.diagnosis(self, SHOWN)]
        if "what_if" in self.document:
            shown.append(tables.what_if(self.document["what_if"]))
        return "".join(map(html, shown))

    @property
    def error(self) -> str | None:
        """Why the capture was not read to its end."""
        error: str | None = self.document["error"]
        return error

    @property
    def passed_over(self) -> str:
        """Packets that may be TCP and could not be used; empty if there are none."""
        skipped = self.document["skipped"]
        links = ", ".join(map(str, skipped["link_types"]))
        reasons = {
            "fragments": "fragments of IP packets that stayed incomplete",
            "overlapping": "fragments of IP packets with overlaps",
            "malformed": "packets without a complete TCP header",
            "untimed": "packets without a timestamp",
            "unknown_link": f"packets of interfaces with unknown link types ({links})",
        }
        parts = [f"{skipped[key]} {reason}" for key, reason in reasons.items() if skipped[key]]
        return "skipped: " + ", ".join(parts) if parts else ""

    @property
    def lacks(self) -> str:
        """What was captured twice or is missing; empty if each packet is there once."""
        connections = self.document["connections"]
        twice = sum(one["captured_twice"] for one in connections)
        missed = sum(one["missed_bytes"] for one in connections)
        parts = [f"captured twice, counted once: {counted(twice, 'packet')}"] if twice else []
        parts += [f"acknowledged, not captured: {counted(missed, 'byte')}"] if missed else []
        return "; ".join(parts)

    @cached_property
    def worst(self) -> list[Connection]:
        """The connections, the worst first."""
        return sorted(self.document["connections"], key=_suffering, reverse=True)

    def count(self, what: str) -> int:
        """Counts timeouts or retransmissions, of a class or all; Error if `what` is unknown."""
        connections = self.document["connections"]
        if what in ("retransmissions", "timeouts"):
            return sum(len(one[what]) for one in connections)
        if what in ("unneeded", "needed"):
            return sum(r["verdict"] == what for one in connections for r in one["retransmissions"])
        if what in ("spurious", "ack-lost", "genuine"):
            return sum(t["class"] == what for one in connections for t in one["timeouts"])
        raise Error(f"nothing is counted as `{what}`; {', '.join(COUNTED)} are")

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables `connections`, `retransmissions`, `timeouts`, `episodes` and `findings`.

        Columns are named after the keys of the document; those of a nested object begin with its
        name. `connection` is the number of the connection.
        """
        return {name: pl.DataFrame(table) for name, table in self.rows.tables().items()}

    def write_parquet(self, folder: Path) -> list[Path]:
        """Write each table that has rows to a file."""
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        for name, table in self.tables().items():
            if table.height:
                files.append(folder / f"{name}.parquet")
                write_table(files[-1], table)
        return files


COUNTED = ("spurious", "ack-lost", "genuine", "timeouts", "unneeded", "needed", "retransmissions")
"""The counts that `--fail-on` accepts."""


def diagnose(
    capture: str | Path, *, progress: Callable[[int, int], None] | None = None
) -> Diagnosis:
    """Read a capture and judge its retransmissions.

    Args:
        capture: a pcap or pcapng file, also compressed by gzip or zstd; `-` for standard input.
        progress: called from time to time with the bytes read and the size of the file.

    Raises:
        Error: the file cannot be opened or contains no packets. A damaged file is diagnosed up to
            the damage; see `Diagnosis.error`.
    """
    rows = _rtolab.diagnose(capture, progress=progress)
    document = json.loads(rows.json())
    read = document["summary"]["packets"] or any(document["skipped"].values())
    if document["error"] and not read:
        raise Error(f"{capture}: {document['error']}")
    return Diagnosis(str(capture), {"capture": str(capture), **document}, rows)


def annotate(diagnosis: Diagnosis, out: Path) -> None:
    """Write a pcapng copy of the capture with the findings as packet comments.

    Raises:
        Error: the capture cannot be read again, or the copy cannot be written.
    """
    with whole(out) as unfinished:
        try:
            _rtolab.annotate(diagnosis.capture, unfinished, comments(diagnosis.document))
        except Error as error:
            message = str(error).removeprefix(f"{unfinished}: ")
            raise type(error)(f"{out}: {message}") from None


def limits(given: Sequence[str]) -> Mapping[str, int]:
    """Parses `--fail-on` values such as `spurious>3`; raises Error if one has another form."""
    allowed = {}
    for item in given:
        match = re.fullmatch(r"\s*([a-z-]+)\s*>\s*(\d+)\s*", item)
        if match is None or match[1] not in COUNTED:
            counted = ", ".join(COUNTED)
            raise Error(f"--fail-on {item}: expected such as spurious>0, of {counted}")
        allowed[match[1]] = int(match[2])
    return allowed


def _suffering(connection: Connection) -> tuple[float, ...]:
    resent = connection["retransmissions"]
    unneeded = sum(one["len"] for one in resent if one["verdict"] == "unneeded")
    spurious = sum(one["class"] in ("spurious", "ack-lost") for one in connection["timeouts"])
    return (spurious, unneeded, len(connection["timeouts"]), len(resent), -connection["number"])
