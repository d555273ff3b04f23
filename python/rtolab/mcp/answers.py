"""The results of the tools, as their schemas describe them.

Names are those of `rtolab diagnose --json`. Times are in seconds since the first packet of the
capture; frames are numbers of packets, from 1, as Wireshark counts them.
"""

from typing import Any

from pydantic import BaseModel, Field

from rtolab.cli.explain import Explanation
from rtolab.diagnosis import Diagnosis as Found
from rtolab.diagnosis import tables
from rtolab.diagnosis.verdicts import CLASSES, VERDICTS
from rtolab.judging import Confusion
from rtolab.mcp.logs import LogConnection, Losses, log_connection, log_counts

Row = dict[str, Any]


class Evidence(BaseModel):
    """A kind of evidence, with the packet that shows it."""

    kind: str
    frame: int


class Retransmission(BaseModel):
    """A retransmission, with the verdict on it."""

    frame: int
    t: float
    from_: str = Field(alias="from", description="client or server")
    seq: int
    len: int
    trigger: str = Field(description="why the sender retransmitted")
    verdict: str = Field(description="unneeded, needed or unknown")
    confidence: float
    evidence: list[Evidence]
    against: list[Evidence]


class Timeout(BaseModel):
    """An expired retransmission timer; `frame` is the retransmission."""

    frame: int
    t: float
    from_: str = Field(alias="from")
    after: float | None = Field(description="how long the timer ran, in seconds")
    class_: str = Field(alias="class", description="spurious, ack-lost, genuine or unknown")
    confidence: float


class Cost(BaseModel):
    """What an episode cost."""

    stall: float | None = Field(description="how long nothing came back, in seconds")
    time_lost: float | None = Field(description="by how much later all was acknowledged")
    unneeded_bytes: int
    timeouts: int


class Episode(BaseModel):
    """The time from a first timeout until all data outstanding then is acknowledged."""

    from_: str = Field(alias="from")
    start: float
    end: float | None = Field(description="null if the capture ends before the episode")
    frames: list[int] = Field(description="the first timeout and the last acknowledgment")
    description: str
    cost: Cost


class Finding(BaseModel):
    """A departure of a sender from the standards."""

    from_: str = Field(alias="from")
    finding: str
    about: str
    frames: list[int] = Field(description="the first packets that show it")


class Failure(BaseModel):
    """Why a connection failed."""

    kind: str = Field(description="refused, reset, data-unanswered, ...")
    from_: str = Field(alias="from", description="the end without an answer, or of the reset")
    repeats: int = Field(description="retransmissions or keep-alive probes without an answer")
    silent: float = Field(description="the time without an answer, in seconds")
    outstanding: int = Field(description="bytes that were never acknowledged")
    full_size_only: bool = Field(description="the path may discard large packets only")


class Verdicts(BaseModel):
    """Numbers of retransmissions."""

    unneeded: int
    needed: int
    unknown: int


class Classes(BaseModel):
    """Numbers of timeouts."""

    spurious: int
    ack_lost: int = Field(alias="ack-lost")
    genuine: int
    unknown: int


class Connection(BaseModel):
    """A connection, with its first retransmissions, timeouts and episodes."""

    number: int
    client: str
    server: str
    vantage: str = Field(description="where the capture was made: at the sender, the receiver, ..")
    cannot_show: str | None = Field(description="what a capture at this vantage cannot show")
    sender: str = Field(description="the end that sends most data")
    answer: str | None = Field(description="what happened, if there are several connections")
    failure: Failure | None = Field(description="why it failed, if it did")
    start: float
    end: float
    packets: int
    bytes: list[int] = Field(description="of data, from the client and from the server")
    min_rtt: float | None
    verdicts: Verdicts = Field(description="over all its retransmissions")
    classes: Classes = Field(description="over all its timeouts")
    time_lost: float = Field(description="in all its episodes, as far as it is known")
    retransmissions: list[Retransmission]
    timeouts: list[Timeout]
    episodes: list[Episode]
    findings: list[Finding]


class Diagnosis(BaseModel):
    """A diagnosed capture or QUIC log."""

    capture: str
    error: str | None = Field(description="why it was not read to its end")
    answer: str = Field(description="what happened, in sentences, each with its figures beside it")
    network: str = Field(description="healthy, late, loses, loses-and-late, unknown or no-tcp")
    failures: dict[str, int] = Field(description="failed connections by kind, such as refused")
    packets: int
    connections_in_all: int
    verdicts: Verdicts | None = Field(description="over all connections; null for a QUIC log")
    losses: Losses | None = Field(description="over all connections of a QUIC log")
    classes: Classes = Field(description="over all connections")
    passed_over: str = Field(description="packets that could not be used")
    lacks: str = Field(description="packets that were captured twice or are missing")
    connections: list[Connection] = Field(description="the worst first; none for a QUIC log")
    log_connections: list[LogConnection] = Field(description="those of a QUIC log, likewise")


class CapturedTransfer(BaseModel):
    """The captured transfer."""

    unneeded: int
    needed: int
    unknown: int
    elapsed_s: float


class Outcome(BaseModel):
    """A replay of the transfer over the inferred path."""

    sender: str
    setting: str | None = Field(default=None, description="the changed setting of Linux")
    set: dict[str, Any] = Field(description="keys of the scenario with their values")
    unneeded: int
    needed: int
    timeouts: int
    elapsed_s: float | None = Field(description="until all is acknowledged; null if never")
    time_lost_s: float | None
    detected_s: float | None = Field(
        description="from a timeout until the sender found it spurious; null if it did not"
    )


class WhatIf(BaseModel):
    """Replays of the worst connection."""

    connection: int
    agrees: bool = Field(description="if false, the replays describe another path")
    agreement: str = Field(description="how well the simulation agrees with the capture")
    captured: CapturedTransfer
    nearest: Outcome = Field(description="the simulated sender that is most like the captured one")
    senders: list[Outcome]
    linux: list[Outcome] = Field(description="Linux as captured, and with one setting changed")
    scenario: str = Field(description="the inferred path as TOML, which the tool `run` takes")


class SenderMedians(BaseModel):
    """The medians of one sender's runs."""

    sender: str
    flow: str
    runs: int
    completed: int
    elapsed_s: float | None
    goodput_bps: float | None
    lost: float
    retransmissions: float
    unneeded: float
    timeouts: float


class Runs(BaseModel):
    """Simulated runs."""

    scenario: str
    senders: list[SenderMedians]
    judges: list[Confusion] = Field(description="detectors scored against the ground truth")


class Explanations(BaseModel):
    """All meanings of a name."""

    found: list[Explanation]


def diagnosis(found: Found, connections: int, rows: int) -> Diagnosis:
    """The answer, and the worst connections of a diagnosis, each with its first rows."""
    every, worst = found.document["connections"], found.worst[:connections]
    answer, summary = found.document["answer"], found.document["summary"]
    failures = summary["totals"].get("failures", {})
    parts = {
        "answer": tables.paragraph(answer).plain,
        "network": answer["network"],
        "failures": {kind: failed["count"] for kind, failed in failures.items()},
        "packets": summary["packets"],
        "connections_in_all": summary["connections"],
        "passed_over": found.passed_over,
        "lacks": found.lacks,
    }
    if found.is_log:
        rest = {
            **log_counts(every),
            "verdicts": None,
            "connections": [],
            "log_connections": [log_connection(one, rows) for one in worst],
        }
    else:
        answers = {one["connection"]: one for one in answer["connections"]}
        if summary["connections"] == 1:
            answers = {}  # It is the one above.
        rest = {
            **_counts(every),
            "losses": None,
            "connections": [_connection(one, rows, answers.get(one["number"])) for one in worst],
            "log_connections": [],
        }
    return Diagnosis.model_validate({**found.document, **parts, **rest})


def _connection(one: Row, rows: int, answer: Row | None) -> Row:
    lost = (episode["cost"]["time_lost"] for episode in one["episodes"])
    first = {key: one[key][:rows] for key in ("retransmissions", "timeouts", "episodes")}
    return {
        **one,
        **first,
        "answer": tables.paragraph(answer).plain if answer else None,
        "failure": one.get("failure"),
        "findings": [{**finding, "finding": finding["habit"]} for finding in one["habits"]],
        **_counts([one]),
        "cannot_show": tables.NOT_SHOWN.get(one["vantage"]),
        "time_lost": sum(time for time in lost if time is not None),
    }


def _counts(connections: list[Row]) -> Row:
    resent = [row["verdict"] for one in connections for row in one["retransmissions"]]
    timeouts = [row["class"] for one in connections for row in one["timeouts"]]
    return {
        "verdicts": {name: resent.count(name) for name in VERDICTS},
        "classes": {name: timeouts.count(name) for name in CLASSES},
    }
