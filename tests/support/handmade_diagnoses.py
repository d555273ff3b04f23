"""Diagnoses of a capture and of a QUIC log, written by hand."""

from typing import Any, cast

from rtolab import _rtolab
from rtolab.diagnosis import Diagnosis

NEW_YEAR_S = 1_767_225_598.5
"""1.5 s before the year 2026 begins in UTC."""


def sentences(*texts: str, basis: str = "") -> list[dict[str, Any]]:
    return [{"text": text, "basis": basis, "figures": {}} for text in texts]


def retransmission(frame: int, **given: Any) -> dict[str, Any]:
    """A needed retransmission of 100 bytes by the server."""
    row = {"frame": frame, "t": frame / 8, "from": "server", "len": 100, "trigger": "timeout"}
    row |= {"verdict": "needed", "confidence": 0.875, "evidence": [], "against": []}
    return row | given


def timeout(frame: int, **given: Any) -> dict[str, Any]:
    """A genuine timeout of the server after half a second."""
    row = {"frame": frame, "t": frame / 8, "from": "server", "after": 0.5, "class": "genuine"}
    return row | given


def episode(start: float, frame: int, **given: Any) -> dict[str, Any]:
    """An episode of the server, in which nothing stalled."""
    row = {"from": "server", "start": start, "end": start + 1, "frames": [frame, frame + 1]}
    row |= {"description": f"frame {frame} <was> lost", "stalled": None}
    return row | {"cost": {"time_lost": None}} | given


def silence(start: float, wait: str, **given: Any) -> dict[str, Any]:
    """A silence of 2.25 s of data of the server."""
    return {"start": start, "length": 2.25, "wait": wait, "for": "server", "frame": 9} | given


def stack(*systems: str, confidence: float = 0.9) -> dict[str, Any]:
    grounds = ["window 64240", "MSS 1460"]
    return {"systems": [*systems], "confidence": confidence, "frame": 2, "grounds": grounds}


def connection(number: int, **given: Any) -> dict[str, Any]:
    """A connection whose server sends, captured there, to which nothing happened."""
    row: dict[str, Any] = {
        "number": number,
        "client": f"10.0.0.{number}:4000{number}",
        "server": "10.9.0.1:80",
        "sender": "server",
        "vantage": "sender",
        "only_from": None,
        "time_lost": 0.0,
        "stack": None,
        "capture_points": 1,
        "captured_twice": 0,
        "duplicated": 0,
        "missed_bytes": 0,
    }
    lists = ("retransmissions", "timeouts", "episodes", "silences", "habits")
    return row | {name: [] for name in lists} | given


def capture(*connections: dict[str, Any], error: str | None = None, **given: Any) -> Diagnosis:
    """The diagnosis of a capture with these connections, which begins at `NEW_YEAR_S`."""
    totals = dict.fromkeys(("unneeded", "needed", "unknown"), 0)
    totals |= dict.fromkeys(("spurious", "ack_lost", "genuine", "unknown_timeouts"), 0)
    skipped = dict.fromkeys(("fragments", "overlapping", "malformed", "untimed"), 0)
    answers = [
        {"connection": one["number"], "sentences": sentences(f"Of `{one['number']}`.")}
        for one in connections
    ]
    document = {
        "capture": "folder/<some>.pcapng",
        "answer": {
            "sentences": [
                *sentences("It lost `a <packet>`.", basis="1 < 2"),
                *sentences("So be it."),
            ],
            "connections": answers,
        },
        "summary": {
            "began": NEW_YEAR_S,
            "ended": NEW_YEAR_S + 3,
            "packets": 12,
            "connections": len(connections),
            "retransmissions": sum(len(one["retransmissions"]) for one in connections),
            "totals": totals | {"time_lost": 0.25} | given.pop("totals", {}),
        }
        | given.pop("summary", {}),
        "skipped": skipped | {"unknown_link": 0, "dropped": 0, "link_types": []},
        "error": error,
        "connections": [*connections],
    }
    return Diagnosis(document["capture"], document | given, cast("_rtolab.Diagnosis", None))


def logged(number: int, **given: Any) -> dict[str, Any]:
    """A connection in the log of a server, to which nothing happened."""
    row = {"number": number, "vantage": "server", "implementation": "<quic>", "time_lost": 0.125}
    row |= {"time_in_recovery": 1.5, "time_in_spurious_recovery": 0.75}
    row |= {"retransmitted_bytes": 3000, "unneeded_bytes": 2000}
    return row | {"losses": [], "timeouts": [], "episodes": []} | given


def loss(event: int, verdict: str = "genuine") -> dict[str, Any]:
    """A loss that the server declared of a packet whose number is twice the event's."""
    row = {"event": event, "t": event / 8, "packet_number": 2 * event, "trigger": "<time>"}
    row |= {"late": None, "verdict": verdict, "confidence": 0.123456789}
    return row | {"evidence": [{"kind": "silence"}, {"kind": "acknowledged-later"}]}


def probe_timeout(event: int, class_: str = "spurious") -> dict[str, Any]:
    """A probe timeout after a second."""
    row = {"event": event, "t": event / 8, "space": "initial", "backoff": 1, "after": 1.0}
    return row | {"class": class_, "confidence": 0.5, "evidence": [{"kind": "silence"}]}


def recovery(start: float, event: int, **given: Any) -> dict[str, Any]:
    """A recovery episode of 250 ms with one lost packet."""
    row = {"start": start, "end": start + 0.25, "event": event, "class": "genuine"}
    return row | {"losses": 1, "spurious": 0, "cwnd": (12000.4, 6000.0)} | given


def log(*connections: dict[str, Any], **given: Any) -> Diagnosis:
    """The diagnosis of a QUIC log with these connections."""
    document = {
        "capture": "folder/<some>.sqlog",
        "answer": {"sentences": sentences("The log is <short>.", basis="1 event")},
        "summary": {
            "began": NEW_YEAR_S,
            "ended": NEW_YEAR_S + 1,
            "qlog_version": "0.3",
            "events": 21,
            "packets": 1,
            "connections": len(connections),
            "malformed": 0,
            "out_of_order": 0,
        }
        | given.pop("summary", {}),
        "error": None,
        "connections": [*connections],
    }
    return Diagnosis(document["capture"], document | given, cast("_rtolab.Diagnosis", None))
