"""The measures of the five papers, each defined once.

A measure maps the tables of runs to a frame. The columns are `run`, `seed` and `sender`, then
`flow` if there is a row per connection, then the values. Quotients with a denominator of zero are
null. Times are in seconds, rates in bit/s, sizes in bytes.

Measures of throughput and counts cover the span that the scenario's `[measure]` gives, or the whole
run without one. So the begin and the end of a run can be left out.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import inf
from typing import Protocol, TypeVar

import numpy as np
import polars as pl

RUN = ("run", "seed", "sender")
"""The columns that identify a run."""

CONNECTION = (*RUN, "flow")
"""The columns that identify a connection."""

BITS = 8.0
"""Bits per byte."""


class Tables(Protocol):
    """The tables that measures read; see `Result` for their columns."""

    @property
    def connections(self) -> pl.DataFrame:
        """One row per connection."""

    @property
    def windows(self) -> pl.DataFrame:
        """One row per change of a sender's windows or RTO; empty unless recorded."""

    @property
    def links(self) -> pl.DataFrame:
        """One row per direction of a link."""

    @property
    def tasks(self) -> pl.DataFrame:
        """One row per page, or per request with its response."""


@dataclass(frozen=True)
class Measure:
    """A measure in a listing.

    Attributes:
        name: of the function.
        unit: of its values, empty for ratios and counts.
        source: the paper and its section.
        about: one sentence.
    """

    name: str
    unit: str
    source: str
    about: str


MEASURES: dict[str, Measure] = {}
"""Every measure by its name."""

Function = TypeVar("Function", bound=Callable[..., object])


def measure(source: str, unit: str = "") -> Callable[[Function], Function]:
    """Registers a function as a measure; the first line of its docstring is its description."""

    def listed(function: Function) -> Function:
        name, about = function.__name__, (function.__doc__ or "").partition("\n")[0]
        MEASURES[name] = Measure(name, unit, source, about)
        return function

    return listed


# arq2002: J. Pan, J. W. Mark and X. Shen, local retransmissions in cellular systems


@measure("arq2002, 4.1")
def normalized_throughput(
    result: Tables,
    *,
    rate_bps: float,
    error_rate: float = 0.0,
    other_bps: float = 0.0,
    header: int = 0,
) -> pl.DataFrame:
    """Application throughput over the effective bandwidth available to it, 0 to 1.

    Effective bandwidth (arq2002, 4.1) is what errors and other traffic leave of the link:
    `rate_bps * (1 - error_rate) - other_bps`.

    Args:
        result: the runs.
        rate_bps: of the bottleneck link.
        error_rate: the share of packets that it damages, on average.
        other_bps: what other traffic takes of what remains.
        header: bytes that are counted with each segment; 0 for the application's view, 40 for
            TCP and IP without options, with which a full link gives 1.

    Returns:
        One row per connection: `normalized_throughput`.

    Raises:
        ValueError: other traffic takes all there is.
    """
    available = rate_bps * (1.0 - error_rate) - other_bps
    if available <= 0.0:
        message = f"found {available:g} bit/s available; expected more than 0: other traffic "
        raise ValueError(message + f"takes {other_bps:g} of {rate_bps * (1 - error_rate):g} bit/s")
    carried = _float("measured_bytes") + header * _float("measured_acked_segments")
    throughput = _ratio(BITS * carried, _float("measured_s"))
    return _of_connections(result, normalized_throughput=throughput / available)


@measure("arq2002, 4.2")
def effective_goodput(
    result: Tables,
    *,
    link: str,
    direction: str = "forward",
    flows: Collection[str] | None = None,
    header: int = 40,
    datagram_header: int = 28,
) -> pl.DataFrame:
    """Data that arrived over all traffic generated for it on a link, 0 to 1.

    Retransmissions of the ends and of the link both count as traffic (arq2002, 4.2). Headers count
    as data, once with each segment, so that without loss it is 1.

    Args:
        result: the runs.
        link: the one whose transmissions count.
        direction: "forward" or "backward": the one in which the data go.
        flows: those that send over it in that direction; all, unless given.
        header: TCP and IP, of each segment that was acknowledged.
        datagram_header: UDP and IP, of each datagram that arrived; datagrams acknowledge nothing.

    Returns:
        One row per run: `effective_goodput`.
    """
    connections = result.connections
    if flows is not None:
        connections = connections.filter(pl.col("flow").is_in(list(flows)))
    headers = (
        pl.when(pl.col("measured_acked_segments") > 0)
        .then(header * _float("measured_acked_segments"))
        .otherwise(datagram_header * _float("measured_delay_packets"))
    )
    data = connections.group_by(RUN, maintain_order=True).agg(
        (_float("measured_bytes") + headers).sum().alias("data")
    )
    here = (pl.col("link") == link) & (pl.col("direction") == direction)
    traffic = result.links.filter(here).select(*RUN, "measured_transmitted_bytes")
    goodput = _ratio(pl.col("data"), _float("measured_transmitted_bytes"))
    return data.join(traffic, on=RUN, how="inner", maintain_order="left").select(
        *RUN, effective_goodput=goodput
    )


@measure("arq2002, 4.3", "s")
def packet_delay(result: Tables) -> pl.DataFrame:
    """How long data packets took from sender to receiver, on average and at most.

    One way, "including the delay due to the transmission, propagation, queueing, and local
    retransmission if any" (arq2002, 4.3), of packets that arrived.

    Returns:
        One row per connection: `mean_s`, of the measured span, and `max_s`, of the whole run.
    """
    return _of_connections(
        result, mean_s=_float("measured_delay_mean_s"), max_s=_float("delay_max_s")
    )


@measure("arq2002, 5", "bytes")
def cwnd_once_a_round_trip(
    result: Tables, *, since_s: float = 0.0, until_s: float = inf
) -> pl.DataFrame:
    """The congestion window, sampled once a round trip.

    As in arq2002, figure 7, to be averaged over a run. The first sample is taken with the first RTT
    sample, each later one after the SRTT at the one before, until the last change of the windows.

    Args:
        result: the runs, which must have recorded windows.
        since_s: samples before that instant are left out.
        until_s: and those from that instant on.

    Returns:
        One row per sample: `flow`, `at_s` and `cwnd` in bytes.
    """
    samples = [
        _samples(frame) for _, frame in result.windows.group_by(CONNECTION, maintain_order=True)
    ]
    if not samples:
        return result.windows.select(*CONNECTION, "at_s", "cwnd")
    return pl.concat(samples).filter(pl.col("at_s").is_between(since_s, until_s, closed="left"))


def _samples(frame: pl.DataFrame) -> pl.DataFrame:
    """The windows of a connection, sampled once per round trip."""
    known = frame.filter(pl.col("srtt_s") > 0.0)
    changes, round_trips = known["at_s"].to_numpy(), known["srtt_s"].to_numpy()
    at = changes[0] if len(changes) else inf
    times: list[float] = []
    rows: list[int] = []
    while len(changes) and at <= changes[-1]:
        row = int(np.searchsorted(changes, at, side="right")) - 1
        times.append(float(at))
        rows.append(row)
        at += round_trips[row]
    picked = known.select(*CONNECTION, "cwnd")[rows]
    return picked.select(*CONNECTION, pl.Series("at_s", times, pl.Float64), "cwnd")


@measure("arq2002, 5", "per 100 segments")
def triggers(result: Tables) -> pl.DataFrame:
    """What made the sender retransmit, for every 100 segments acknowledged.

    "The numbers of timeout and dupack triggers are counted and normalized for every 100
    acknowledged packets" (arq2002, figure 7).

    Returns:
        One row per connection: `timeouts` and `fast_retransmits`.
    """
    acked = _float("measured_acked_segments")
    return _of_connections(
        result,
        timeouts=_ratio(100.0 * _float("measured_timeouts"), acked),
        fast_retransmits=_ratio(100.0 * _float("measured_fast_retransmits"), acked),
    )


# dualrtt2004: S. Fu and M. Atiquzzaman, DualRTT


@measure("dualrtt2004, VII-D", "segments")
def transport_layer_throughput(result: Tables, *, payload: int) -> pl.DataFrame:
    """TLT: the segments delivered to the destination during a session.

    "The total number of segments delivered to the destination during a fixed duration of FTP
    session" (dualrtt2004, VII-D); each counts once, and only when all before it have arrived.

    Args:
        result: the runs, which last as long as the session or measure that span.
        payload: of a full segment, in bytes.

    Returns:
        One row per connection: `tlt`.
    """
    return _of_connections(result, tlt=pl.col("measured_bytes").cast(pl.Int64) // payload)


@measure("dualrtt2004, VII-E, equation 7")
def transport_layer_efficiency(result: Tables) -> pl.DataFrame:
    """TLE: the payload of a segment over its size with TCP header, 0 to 1.

    The IP header does not count (dualrtt2004, VII-E, equation 7). Payload and header are those of
    the connection's mean segment; see `efficiency` for a given one.

    Returns:
        One row per connection: `tle`.
    """
    payload = _ratio(_float("bytes"), _float("acked_segments"))
    header = _ratio(_float("header_bytes"), _float("segments"))
    return _of_connections(result, tle=payload / (payload + header))


def efficiency(payload: float, header: float) -> float:
    """TLE of one segment (dualrtt2004, equation 7).

    Args:
        payload: in bytes.
        header: TCP's, with options, in bytes: 20, or 32 with timestamps.
    """
    return payload / (payload + header)


# minrto2007: I. Psaras and V. Tsaoussidis, the minimum RTO


@measure("minrto2007, 4", "s")
def average_task_completion_time(result: Tables) -> pl.DataFrame:
    """ATCT: how long tasks took on average, of those that were completed.

    A task is "a complete transfer of a web page" (minrto2007, 4 and footnote 2): from when the
    page is written to when its last byte has reached the other application. A page that waits for
    the one before it is not written yet; what is cut off by the end of the run does not count.

    Returns:
        One row per connection: `atct_s`, null if no task was completed, and `completed`, how many.
    """
    took = _float("end_s") - _float("start_s")
    return result.tasks.group_by(CONNECTION, maintain_order=True).agg(
        took.mean().alias("atct_s"), took.count().alias("completed")
    )


@measure("minrto2007, 4, equation 5", "bit/s")
def goodput(result: Tables) -> pl.DataFrame:
    """Original data delivered over the time that this took.

    "Bytes delivered to the high-level protocol at the receiver (i.e., excluding the retransmitted
    packets and the TCP header overhead)" over the "time required for the data delivery"
    (minrto2007, equation 5): of a connection that ended all of it, else the span that is measured.

    Returns:
        One row per connection: `goodput_bps`.
    """
    whole = _ratio(BITS * _float("bytes"), _float("elapsed_s"))
    span = _ratio(BITS * _float("measured_bytes"), _float("measured_s"))
    ended = pl.when(pl.col("completed")).then(whole).otherwise(span)
    return _of_connections(result, goodput_bps=ended)


@measure("minrto2007, 2, equation 2")
def minimum_rto_cost(
    result: Tables, *, min_rto_s: float, k: float = 4.0, granularity_s: float = 0.0
) -> pl.DataFrame:
    """C(f): a minimum RTO over the RTO that the round trips alone would give.

    Below 1 the minimum "adds no extra waiting time, in case of packet loss" (minrto2007, equation
    2). RTO_current is SRTT + max(G, K RTTVAR) of RFC 2988, without minimum and without back-off.

    Args:
        result: the runs, which must have recorded windows of a sender whose minimum is on the
            whole RTO: one on the variance is in RTTVAR already.
        min_rto_s: RTO_min.
        k: K.
        granularity_s: G.

    Returns:
        One row per change of the windows after the first RTT sample: `flow`, `at_s` and `cost`.
    """
    margin = pl.max_horizontal(k * pl.col("rttvar_s"), pl.lit(granularity_s))
    current = pl.col("srtt_s") + margin
    known = result.windows.filter(pl.col("srtt_s").is_not_null())
    return known.select(*CONNECTION, "at_s", cost=_ratio(pl.lit(min_rto_s), current))


def minimum_rto_cost_bound(
    min_rto_s: float, *, granularity_s: float, propagation_s: float, queueing_s: float = 0.0
) -> float:
    """What C(f) is at most if the RTO expires as an ACK would arrive (minrto2007, equation 3).

    Args:
        min_rto_s: RTO_min.
        granularity_s: RCG, of the receiver's clock.
        propagation_s: RTPD, both ways.
        queueing_s: QD.
    """
    return min_rto_s / (granularity_s + propagation_s + queueing_s)


# frto2002: P. Sarolahti, M. Kojo and K. Raatikainen, F-RTO


@measure("frto2002, 5.2", "s")
def elapsed(result: Tables) -> pl.DataFrame:
    """From the first SYN sent to the last FIN acknowledgment received, at the sender.

    "Connection elapsed time from sending the first SYN packet to receiving the last FIN
    acknowledgement at the sender" (frto2002, 5.2).

    Returns:
        One row per connection: `elapsed_s`, null if the run ended before.
    """
    return _of_connections(result, elapsed_s=_float("elapsed_s"))


@measure("frto2002, 5.3", "bit/s")
def fairness(result: Tables) -> pl.DataFrame:
    """The throughput of the fastest and of the slowest connection of each connection set.

    A set's slowest connection is the last to finish its transfer; its throughput is low where
    others took more of the bandwidth than it did (frto2002, 5.3). Connections of a set
    transfer as much as each other. Throughput is payload over elapsed time, SYN and FIN included.

    Returns:
        One row per run and set, of connections that have one: `set`, `fastest_bps` and
        `slowest_bps`, which is null if a connection of the set did not end.
    """
    throughput = _ratio(BITS * _float("bytes"), _float("elapsed_s"))
    slowest = pl.when(pl.col("completed").all()).then(throughput.min())
    return (
        result.connections.filter(pl.col("set").is_not_null())
        .group_by(*RUN, "set", maintain_order=True)
        .agg(fastest_bps=throughput.max(), slowest_bps=slowest)
    )


# delays2001: A. Gurtov, the effect of delays


@measure("delays2001, 4.2")
def sendings(result: Tables) -> pl.DataFrame:
    """How often each segment was sent, on average.

    A connection in trouble "can send all data over two or three times, while not a single packet
    is actually lost" (delays2001, 4.2): data segments sent over data segments acknowledged.

    Returns:
        One row per connection: `sendings`, 1 if nothing was retransmitted and all acknowledged.
    """
    return _of_connections(result, sendings=_ratio(_float("segments"), _float("acked_segments")))


def _of_connections(result: Tables, **columns: pl.Expr) -> pl.DataFrame:
    return result.connections.select(*CONNECTION, **columns)


def _float(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64)


def _ratio(over: pl.Expr, under: pl.Expr) -> pl.Expr:
    """The quotient, or null for a denominator of zero."""
    return pl.when(under > 0.0).then(over / under)
