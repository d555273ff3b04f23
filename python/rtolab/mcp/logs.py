"""The connections of QUIC logs in the results of the tools; `event` counts events of the log."""

from typing import Any

from pydantic import BaseModel, Field

from rtolab.diagnosis.verdicts import CLASSES, LOSSES

Row = dict[str, Any]


class LogEvidence(BaseModel):
    """A kind of evidence, with the event that shows it."""

    kind: str
    frame: int = Field(description="the number of the event")


class Loss(BaseModel):
    """A packet that was declared lost, with the verdict on it."""

    event: int
    t: float
    space: str = Field(description="the packet number space")
    packet_number: int
    trigger: str | None = Field(description="the rule of the sender, if the log has it")
    verdict: str = Field(description="spurious, genuine or unknown")
    confidence: float
    evidence: list[LogEvidence]


class ProbeTimeout(BaseModel):
    """A probe timeout."""

    event: int
    t: float
    after: float = Field(description="how long the timer ran, in seconds")
    class_: str = Field(alias="class", description="spurious, ack-lost, genuine or unknown")
    confidence: float
    evidence: list[LogEvidence]


class Recovery(BaseModel):
    """A recovery episode."""

    event: int
    start: float
    end: float | None = Field(description="null if the log ends before the episode")
    class_: str = Field(alias="class", description="spurious if all its losses were")
    losses: int
    spurious: int
    cwnd: list[float | None] = Field(description="bytes before it, and the least during it")


class Losses(BaseModel):
    """Numbers of declared losses."""

    spurious: int
    genuine: int
    unknown: int


class LogConnection(BaseModel):
    """A connection of a QUIC log, with its first losses, timeouts and episodes."""

    number: int
    vantage: str = Field(description="the end that wrote the log")
    implementation: str | None
    start: float
    end: float
    packets: list[int] = Field(description="sent and received")
    is_receiver: bool = Field(description="if true, the log of the other end shows the losses")
    has_acks: bool = Field(description="if false, the log lacks acknowledgments")
    min_rtt: float | None
    stream_bytes: int
    stream_bytes_received: int
    retransmitted_bytes: int
    unneeded_bytes: int
    time_in_recovery: float
    time_in_spurious_recovery: float
    time_lost: float
    losses: list[Loss]
    timeouts: list[ProbeTimeout]
    episodes: list[Recovery]


def log_connection(one: Row, rows: int) -> Row:
    """A connection with its first rows."""
    return {**one, **{key: one[key][:rows] for key in ("losses", "timeouts", "episodes")}}


def log_counts(connections: list[Row]) -> Row:
    """The numbers of losses by verdict and of timeouts by class."""
    losses = [row["verdict"] for one in connections for row in one["losses"]]
    timeouts = [row["class"] for one in connections for row in one["timeouts"]]
    return {
        "losses": {name: losses.count(name) for name in LOSSES},
        "classes": {name: timeouts.count(name) for name in CLASSES},
    }
