"""Diagnosis of the losses, retransmissions and timeouts in a capture or a QUIC log."""

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
TABLES = (
    *("connections", "retransmissions", "losses", "timeouts", "episodes", "silences"),
    "findings",
)
"""The tables of captures or of QUIC logs."""
SHOWN = 10
"""The number of connections in a notebook."""


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of a capture or of a QUIC log.

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
    def is_log(self) -> bool:
        """Is it the diagnosis of a QUIC log?"""
        return "qlog_version" in self.document["summary"]

    @property
    def error(self) -> str | None:
        """The reason why the capture was not read to its end."""
        error: str | None = self.document["error"]
        return error

    @property
    def passed_over(self) -> str:
        """Packets or events that were skipped, or events that were sorted; empty without any."""
        if self.is_log:
            return "; ".join(_unusual(self.document["summary"]))
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
        """Duplicate and missing packets in words; empty if each packet is there once."""
        if self.is_log:
            return ""
        connections = self.document["connections"]
        reasons = {
            "captured at two points": ("captured_twice", 2, "packet"),
            "captured twice or duplicated by the network": ("captured_twice", 1, "packet"),
            "duplicated by the network": ("duplicated", None, "data segment"),
            "acknowledged, not captured": ("missed_bytes", None, "byte"),
        }
        dropped = self.document["skipped"]["dropped"]
        parts = [f"dropped by the capture: {counted(dropped, 'packet')}"] if dropped else []
        for reason, (key, points, unit) in reasons.items():
            of = [one for one in connections if points in {None, one["capture_points"]}]
            if count := sum(one[key] for one in of):
                parts.append(f"{reason}: {counted(count, unit)}")
        return "; ".join(parts)

    @cached_property
    def worst(self) -> list[Connection]:
        """The connections, the one that lost most time first."""
        order = _suffering_in_log if self.is_log else _suffering
        return sorted(self.document["connections"], key=order, reverse=True)

    def count(self, what: str) -> float:
        """Counts what `--fail-on` names, `lost-time` in seconds; Error if `what` is unknown."""
        if what not in COUNTED:
            raise Error(_not_counted(what))
        totals = self.document["summary"]["totals"]
        keys = COUNTED[what][0]
        if any(key not in totals for key in keys):
            raise Error(f"{self.capture}: only QUIC logs count {what}")
        total: float = sum(totals[key] for key in keys)
        if what == "lost" and "pair" in self.document:
            # Only the second capture shows the loss of what was never retransmitted.
            total = max(total, self.document["pair"]["directions"][0]["lost"])
        return total

    def whole(self, what: str) -> float:
        """The total of which a percentage of `what` is."""
        keys = (WHOLE_IN_LOGS if self.is_log else {}).get(what, COUNTED[what][1])
        totals = self.document["summary"]["totals"]
        total: float = sum(totals[key] for key in keys)
        return total

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables `connections`, `retransmissions`, `timeouts`, `episodes` and `findings`.

        A QUIC log has `losses` instead of `retransmissions`, and no findings.
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


COUNTED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "spurious": (("spurious",), ("timeouts",)),
    "ack-lost": (("ack_lost",), ("timeouts",)),
    "genuine": (("genuine",), ("timeouts",)),
    "timeouts": (("timeouts",), ("segments",)),
    "unneeded": (("unneeded",), ("retransmissions",)),
    "needed": (("needed",), ("retransmissions",)),
    "retransmissions": (("retransmissions",), ("segments",)),
    "spurious-losses": (("spurious_losses",), ("losses",)),
    "losses": (("losses",), ("segments",)),
    "lost": (("lost",), ("segments",)),
    "unknown": (("unknown", "one_way"), ("retransmissions",)),
    "lost-time": (("time_lost",), ()),
}
"""What `--fail-on` accepts: the totals that are added, and the sum of which a percentage is."""

WHOLE_IN_LOGS: Mapping[str, tuple[str, ...]] = {
    "retransmissions": ("stream_bytes", "retransmissions"),
    "unknown": ("losses",),
}
"""The totals of a QUIC log of which a percentage is, if they are not those of a capture."""

BYTES_IN_LOGS = ("unneeded", "needed", "retransmissions")
"""Those that are stream bytes in QUIC logs, and segments in captures."""

ONLY_IN_LOGS = ("spurious-losses", "losses")
"""Those that only QUIC logs count."""


@dataclass(frozen=True)
class Limit:
    """A value of `--fail-on`.

    Attributes:
        what: what it limits, a key of `COUNTED`.
        most: the largest value that is allowed.
        unit: `%`, `s` or nothing.
    """

    what: str
    most: float
    unit: str

    def exceeded(self, found: Sequence[Diagnosis]) -> str | None:
        """The message if these diagnoses have more together."""
        if self.what in BYTES_IN_LOGS and len({one.is_log for one in found}) > 1:
            raise Error(
                f"--fail-on: {self.what} are bytes in QUIC logs and segments in captures: check "
                "the logs and the captures separately"
            )
        value = sum(one.count(self.what) for one in found)
        if self.unit == "%":
            whole = sum(one.whole(self.what) for one in found)
            # Connections of one direction have no retransmissions to compare with.
            value = 100 * value / whole if whole else 100.0 * bool(value)
        if value <= self.most:
            return None
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.what}: {value:.6g}{unit}, at most {self.most:g}{unit} allowed"


def diagnose(
    capture: str | Path, *, progress: Callable[[int, int], None] | None = None
) -> Diagnosis:
    """Diagnose the losses, retransmissions and timeouts of a capture or a QUIC log.

    Args:
        capture: a pcap, pcapng or qlog file, also compressed by gzip or zstd; `-` for standard
            input.
        progress: called from time to time with the bytes read and the size of the file.

    Raises:
        Error: the file cannot be opened or contains no packets. A damaged file is diagnosed up to
            the damage; see `Diagnosis.error`.
    """
    rows = _rtolab.diagnose(capture, progress=progress)
    document = json.loads(rows.json())
    summary = document["summary"]
    read = summary["packets"] or summary.get("events") or any(document.get("skipped", {}).values())
    if document["error"] and not read:
        # The reader of captures does not know that we also read logs.
        error = document["error"].replace(
            "neither pcap nor pcapng", "neither pcap, pcapng nor qlog"
        )
        raise Error(f"{capture}: {error}")
    return Diagnosis(str(capture), {"capture": str(capture), **document}, rows)


def diagnose_pair(first: str | Path, second: str | Path) -> Diagnosis:
    """Diagnose two captures or two QUIC logs of the same transfers, one from each end.

    The fate of each packet is known, and with it each verdict. The diagnosis is of the capture at
    the end that sends more.

    Raises:
        Error: a file cannot be opened, or the captures have no connection in common or are from
            one place.
    """
    rows = _rtolab.diagnose_pair(first, second)
    document = json.loads(rows.json())
    capture = (first, second)[document["sender_capture"]]
    return Diagnosis(str(capture), {"capture": str(capture), **document}, rows)


def annotate(diagnosis: Diagnosis, out: Path) -> None:
    """Write a pcapng copy of the capture with the findings as packet comments.

    Raises:
        Error: it is a QUIC log, the capture cannot be read again, or the copy cannot be written.
    """
    if diagnosis.is_log:
        raise Error(f"{diagnosis.capture}: a QUIC log has no packets to annotate")
    with whole(out) as unfinished:
        try:
            _rtolab.annotate(diagnosis.capture, unfinished, comments(diagnosis.document))
        except Error as error:
            message = str(error).removeprefix(f"{unfinished}: ")
            raise type(error)(f"{out}: {message}") from None


def limits(given: Sequence[str]) -> list[Limit]:
    """Parses `--fail-on` values such as `spurious>3`; raises Error if one has another form."""
    allowed = []
    for item in given:
        match = re.fullmatch(r"\s*([a-z-]+)\s*>\s*(\d+(?:\.\d+)?)\s*(%|s|)\s*", item)
        expected = "such as spurious>0, unneeded>5% or lost-time>2s"
        if match is None:
            raise Error(f"--fail-on {item}: expected {expected}")
        what, most, unit = match.groups()
        if what not in COUNTED:
            raise Error(f"--fail-on {item}: {_not_counted(what)}")
        if (unit == "s") != (what == "lost-time"):
            raise Error(f"--fail-on {item}: expected {expected}; only lost-time is in seconds")
        allowed.append(Limit(what, float(most), unit))
    return allowed


def _not_counted(what: str) -> str:
    """The message about an unknown name, with at most five names."""
    names = difflib.get_close_matches(what, COUNTED, n=5, cutoff=0.6)
    if names:
        verb = "is" if len(names) == 1 else "are"
        return f"nothing is counted as {what}; {', '.join(names)} {verb}"
    # Without a similar name, those of captures come first: QUIC logs are rarer.
    usual = [name for name in COUNTED if name not in ONLY_IN_LOGS]
    near = difflib.get_close_matches(what, usual, n=3, cutoff=0.0)
    return (
        f"nothing is counted as {what}; {', '.join(near)} are, for example, and in QUIC logs also "
        f"{' and '.join(ONLY_IN_LOGS)}"
    )


def _unusual(summary: Mapping[str, Any]) -> Iterator[str]:
    """The events of a log that were skipped or sorted, in words."""
    if summary["malformed"]:
        yield f"skipped: {counted(summary['malformed'], 'event')}; {summary['first_malformed']}"
    if summary["out_of_order"]:
        count = counted(summary["out_of_order"], "event")
        yield f"sorted: {count} out of time order, first event {summary['first_out_of_order']}"


def _suffering(connection: Connection) -> tuple[float, ...]:
    resent = connection["retransmissions"]
    unneeded = sum(one["len"] for one in resent if one["verdict"] == "unneeded")
    lost = connection["time_lost"] or 0.0
    return (lost, len(resent), unneeded, len(connection["timeouts"]), -connection["number"])


def _suffering_in_log(connection: Connection) -> tuple[float, ...]:
    spurious = sum(one["verdict"] == "spurious" for one in connection["losses"])
    lost = connection["time_lost"] + connection["time_in_spurious_recovery"]
    return (lost, spurious, len(connection["timeouts"]), -connection["number"])
