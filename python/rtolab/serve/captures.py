"""Diagnoses of captures as data for the figures, with the packets of the worst connections."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Error, InternalError
from rtolab.diagnosis import Diagnosis
from rtolab.diagnosis import diagnose as read
from rtolab.serve.packets import KINDS, REASONS, acknowledged, numbers
from rtolab.serve.packing import Packing

Row = dict[str, Any]

DRAWN = 8
"""The number of connections with a figure, the worst first."""
LISTED = 200
"""The number of connections in the list."""
FATES = ("does not show",)
DOUBTFUL = "unknown"
PACKETS: dict[str, Any] = {
    "at_s": pl.Float64,
    "seq": pl.Float64,
    "len": pl.Float64,
    "ack": pl.Float64,
    "is_data": pl.Boolean,
    "is_ack": pl.Boolean,
    "kind": pl.String,
    "cause": pl.String,
    "cause_s": pl.Float64,
    "sacks": pl.List(pl.List(pl.Float64)),
}
CAUSES = {
    "timeout": "timeout",
    "fast": "fast retransmit",
    "tlp": "probe",
    "recovery": "after a fast retransmit",
    "after-timeout": "after a timeout",
}


def diagnose(request: Mapping[str, Any]) -> bytes:
    """The retransmissions of a capture, with their causes, as data for the figures."""
    found = _read(request)
    shown = [one for one in found.worst if one["retransmissions"] or one["habits"]]
    # A capture without retransmissions is drawn all the same.
    drawn = shown[:DRAWN] or found.worst[:1]
    traces = _traces(found, [one["number"] for one in drawn], request["packets"])
    packing = Packing()
    pictures = [_connection(one, traces[str(one["number"])], packing) for one in drawn]
    head = {
        "name": request["name"],
        "error": found.error and found.error.replace(request["path"], request["name"]),
        "summary": found.document["summary"],
        "connections": [_named(one) for one in found.worst[:LISTED]],
        "pictures": pictures,
    }
    return packing.answer(head)


def _read(request: Mapping[str, Any]) -> Diagnosis:
    """The diagnosis; errors name the file as the client does."""
    try:
        return read(request["path"])
    except InternalError:
        raise
    except Error as error:
        raise Error(str(error).replace(request["path"], request["name"])) from None


def _traces(found: Diagnosis, numbers: Sequence[int], most: int) -> dict[str, list[Row]]:
    traces: dict[str, list[Row]] = json.loads(_rtolab.trace(found.capture, numbers, most))
    return traces


def _named(one: Mapping[str, Any]) -> Row:
    """A line of the list of connections."""
    plain = ("number", "client", "server", "vantage", "sender", "packets")
    counted = {key: len(one[key]) for key in ("retransmissions", "timeouts")}
    return {key: one[key] for key in plain} | counted


def _connection(one: Mapping[str, Any], packets: Sequence[Row], packing: Packing) -> Row:
    """A connection in the form of a run."""
    mine = one["sender"]
    resent = {row["frame"]: row for row in one["retransmissions"] if row["from"] == mine}
    frame = pl.DataFrame([_packet(row, mine, resent) for row in packets], schema=PACKETS)
    data, acks = frame.filter("is_data"), frame.filter("is_ack")
    kinds = (*KINDS, DOUBTFUL)
    nothing = pl.Series([], dtype=pl.Float64)
    unseen = pl.Series([None] * data.height, dtype=pl.Float64)
    timeouts = [_timeout(row) for row in one["timeouts"] if row["from"] == mine]
    sender = {
        "name": f"{one['client']} and {one['server']}",
        "end_s": packets[-1]["t"] if packets else 0.0,
        "timeouts": timeouts[:LISTED],
        "all_timeouts": len(timeouts),
        "packets": {
            **numbers(data, ("at_s", "seq", "len", "cause_s"), packing),
            "acked_s": packing.numbers(acknowledged(data, acks)),
            "sent_s": packing.numbers(data["at_s"]),
            "fate_at_s": packing.numbers(unseen),
            "held_s": packing.numbers(unseen),
            "kind": packing.codes(data["kind"], kinds),
            "cause": packing.codes(data["cause"], REASONS),
            "fate": packing.codes(pl.repeat(FATES[0], data.height, eager=True), FATES),
        },
        "acks": numbers(acks, ("at_s", "ack"), packing),
        "sacks": numbers(_blocks(acks), ("at_s", "start", "end"), packing),
        "windows": {
            name: packing.numbers(nothing)
            for name in ("at_s", "cwnd", "ssthresh", "srtt_s", "rto_s")
        },
        "names": {"kind": kinds, "cause": REASONS, "fate": FATES},
    }
    return {
        "number": one["number"],
        "vantage": one["vantage"],
        "from": mine,
        "packets": one["packets"],
        "drawn": len(packets),
        "end_s": sender["end_s"],
        "disturbances": [_stall(episode) for episode in one["episodes"] if episode["stalled"]],
        "episodes": [_description(row) for row in one["episodes"]],
        "findings": [f"The {row['from']} {row['about']}." for row in one["habits"]],
        "retransmissions": [_resent(row) for row in one["retransmissions"][:LISTED]],
        "senders": [sender],
    }


def _packet(packet: Row, sender: str, resent: Mapping[int, Row]) -> Row:
    retransmission = resent.get(packet["frame"])
    is_mine = packet["from"] == sender
    cause = CAUSES.get(retransmission["trigger"], "retransmission") if retransmission else "new"
    return {
        "at_s": packet["t"],
        "seq": packet["seq"],
        "len": packet["len"],
        "ack": packet["ack"],
        "is_data": is_mine and packet["len"] > 0,
        "is_ack": not is_mine and packet["ack"] is not None,
        "kind": retransmission["verdict"] if retransmission else "first",
        "cause": cause,
        "cause_s": None,
        "sacks": packet["sack"],
    }


def _blocks(acks: pl.DataFrame) -> pl.DataFrame:
    rows = [
        (row["at_s"], start, end)
        for row in acks.select("at_s", "sacks").iter_rows(named=True)
        for start, end in row["sacks"]
    ]
    schema = dict.fromkeys(("at_s", "start", "end"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _timeout(row: Mapping[str, Any]) -> Row:
    """A timeout in the form of a run's; what a capture cannot show is null."""
    verdicts = [
        {"detector": name, "verdict": verdict, "why": None, "delay_s": None}
        for name, verdict in row["verdicts"].items()
    ]
    return {
        "at_s": row["t"],
        "kind": "timeout",
        "seq": row["seq"],
        "rto_s": row["after"],
        "truth": row["class"],
        "verdict": None,
        "detector": None,
        "verdict_at_s": None,
        "cost_s": None,
        "cost_segments": None,
        "verdicts": verdicts,
    }


def _stall(episode: Mapping[str, Any]) -> Row:
    start, end = episode["stalled"]
    return {"link": "path", "direction": "both", "kind": "stall", "from_s": start, "to_s": end}


def _description(episode: Mapping[str, Any]) -> Row:
    return {
        "at_s": episode["start"],
        "frame": episode["frames"][0],
        "description": episode["description"],
    }


def _resent(row: Mapping[str, Any]) -> Row:
    plain = ("frame", "t", "from", "len", "trigger", "verdict", "confidence")
    evidence = [found["kind"] for found in row["evidence"]]
    return {key: row[key] for key in plain} | {"evidence": evidence}
