"""Loss detections side by side: how often what they declare lost arrives, and what that costs.

A passive detector judges the episodes of any sender. A loss detection decides what its sender
does, so that each one here has a sender of its own, on the same paths with the same disturbances.
"""

from collections.abc import Mapping

import polars as pl

from rtolab.experiments.base import (
    TIME,
    Bounds,
    Cell,
    Check,
    Experiment,
    Table,
    Variant,
    assumed,
    interpreted,
)
from rtolab.experiments.measured import ExperimentRuns, Runs, ratio
from rtolab.result import Result

RUNS, FEW = 5, 2

SENDERS: Mapping[str, str] = {
    "sack": "SACK, RFC 6675",
    "sack+dsack:linux": "SACK, undo by D-SACK",
    "rack": "RACK-TLP, RFC 8985",
    "linux": "Linux 6",
    "rfc9002": "RFC 9002",
    "rfc9002+undo": "RFC 9002, undo",
    "rfc9002:quicly": "as quicly",
    "rfc9002:quiche": "as quiche",
    "rfc9002:quiche+undo:any": "as quiche, undo",
    "rfc9002:quic-go": "as quic-go",
    "rfc9002:quic-go+undo": "as quic-go, undo",
}
"""Each sender with its label: those of TCP, then those of QUIC."""

WIRE = "link.wire.forward"
LATE = '{{ probability = 0.25, length = {{ constant = "{} ms" }} }}'
SPANS = '{{ good = {{ exponential = "1 s" }}, bad = {{ uniform = ["{}", "{}"] }} }}'

PATHS: Mapping[str, Mapping[str, str]] = {
    "2 ms late": {f"{WIRE}.spikes": LATE.format(2), f"{WIRE}.order": "free"},
    "10 ms late": {f"{WIRE}.spikes": LATE.format(10), f"{WIRE}.order": "free"},
    "losses": {f"{WIRE}.loss": "0.001"},
    "stalls": {f"{WIRE}.stalls.random": SPANS.format("0.1 s", "1 s")},
    "outages": {f"{WIRE}.outages.random": SPANS.format("0.1 s", "1 s")},
}
"""What disturbs the data, by condition."""

HOSTS = {
    "link.wire.rate": "50 Mbit/s",
    "link.wire.delay": "25 ms",
    "link.wire.queue": "312 kB",
    "flow.transfer.bytes": "2 MB",
    "duration": "600 s",
    "receiver.sack": "true",
    "receiver.dsack": "true",
    "receiver.timestamps": "true",
    "receiver.delayed_ack": "25 ms",
    "receiver.buffer": "4 MB",
    "receiver.window_scale": "7",
    "tcp.timestamps": "true",
    "tcp.window_scale": "7",
}
"""The path and the hosts, for every sender."""


def variant(sender: str, path: str) -> Variant:
    """A sender on a disturbed path."""
    return Variant(sender, SENDERS[sender], path, {**HOSTS, **PATHS[path]})


VARIANTS = tuple(variant(sender, path) for path in PATHS for sender in SENDERS)


def digest(result: Result) -> pl.DataFrame:
    """The number of decisions to retransmit, by run, kind and ground truth."""
    ours = result.timeouts.filter(pl.col("end") == "sender")
    spurious = (pl.col("truth") == "spurious").alias("spurious")
    return ours.group_by("run", "kind", spurious).len("count").sort("run", "kind", "spurious")


def tables(measured: ExperimentRuns) -> tuple[Table, ...]:
    """A table for each path: a row for each sender, with means over the runs."""
    return tuple(_table(measured, path) for path in PATHS)


def _table(measured: ExperimentRuns, path: str) -> Table:
    head = ("Sender", "time, s", "retransmitted", "unneeded", "reductions", "timeouts", "probes")
    rows = tuple(
        (SENDERS[sender], *_row(measured.of[variant(sender, path).key])) for sender in SENDERS
    )
    caption = (
        f"{path}: means of {measured.runs} runs. Of reductions, timeouts and probes, those that "
        "were spurious"
    )
    return Table(caption, head, rows)


def _row(runs: Runs) -> tuple[Cell, ...]:
    connections = runs.connections
    unfinished = runs.count - connections.height
    time = connections["elapsed_s"].mean()
    hung = f" ({unfinished} not ended)" if unfinished else ""
    seconds = f"{time:.2f}{hung}" if isinstance(time, float) else f"none{hung}"
    counts = tuple(
        _each(float(connections[name].sum()), connections.height)
        for name in ("retransmissions", "unneeded")
    )
    kinds = tuple(_of_kind(runs, kind) for kind in ("fast_retransmit", "timeout", "probe"))
    return (seconds, *counts, *kinds)


def _each(count: float, runs: int) -> str:
    return f"{count / max(runs, 1):,.1f}"


def _of_kind(runs: Runs, kind: str) -> str:
    of = runs.digest.filter(pl.col("kind") == kind)
    spurious = float(of.filter("spurious")["count"].sum())
    return f"{_each(spurious, runs.count)} of {_each(float(of['count'].sum()), runs.count)}"


def against(path: str, senders: tuple[str, str], bounds: Bounds) -> Check:
    """The time of the first sender over that of the second lies within bounds."""
    keys = tuple(variant(sender, path).key for sender in senders)
    name = f"{path}: time, {SENDERS[senders[0]]} / {SENDERS[senders[1]]}"
    return ratio(name, TIME, (keys[0], keys[1]), {FEW: bounds})


RECOVERIES = Experiment(
    id="detectors/study/recoveries",
    title="What loss detections of TCP and QUIC declare lost that arrives",
    source="RFC 6675, RFC 8985, RFC 9002",
    says=(
        "RFC 9002 section 6.1.1 recommends a packet threshold of 3, and permits a sender to adapt "
        "it, because reordering makes packets look lost. It has no retransmission timeout that "
        "reduces the window (section 6.2)."
    ),
    did=(
        "Transfers of 2 MB over 50 Mbit/s and 50 ms, on which packets are late, lost, or held; "
        "the truth of every reduction, timeout and probe comes from a copy of the run without it, "
        "that of every retransmission from the link."
    ),
    scenario="single-link",
    variants=VARIANTS,
    metrics=(TIME,),
    judges=("originals",),
    digest=digest,
    tables=tables,
    checks=(
        against("2 ms late", ("rfc9002", "linux"), Bounds(low=2)),
        against("2 ms late", ("rfc9002:quic-go+undo", "rfc9002"), Bounds(high=0.5)),
        against("losses", ("rfc9002", "linux"), Bounds(0.5, 2)),
        against("outages", ("rfc9002", "sack"), Bounds(high=1)),
    ),
    assumptions=(
        interpreted("QUIC", "rfc9002", "its loss detection on TCP's wire, whose ACKs name no copy"),
        assumed("receiver.delayed_ack", "25 ms", "as the max_ack_delay of QUIC"),
    ),
    runs=RUNS,
    quick_runs=1,
    ours=True,
)
"""The loss detections of TCP and of QUIC, on the same paths."""
