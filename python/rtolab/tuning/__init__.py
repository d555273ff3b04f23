"""The minimum RTO that the paths of a host allow: from captures to a recommendation."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rtolab._rtolab import Error
from rtolab.stats import Estimate, poisson_sum

if TYPE_CHECKING:
    from rtolab._rtolab import Diagnosis

DAY_S = 86400.0
ROUND_TRIPS_S = (0.001, 0.01, 0.1)
"""Where one class of round trips ends and the next begins, in seconds."""
PREFIX, PREFIX6 = 24, 48
"""The length of the prefixes of path classes, for IPv4 and IPv6."""
CURRENT_S = 0.2
"""Linux's minimum RTO in seconds (`TCP_RTO_MIN`)."""
LEAST_S = 0.005
"""The smallest minimum that we recommend, in seconds. BPF and socket options take no less than two
jiffies, which are 8 ms with CONFIG_HZ=250; a route and the sysctl take less."""
FEWEST_WAITS, FEWEST_REPAIRS = 1000, 5
"""With fewer waits for ACKs, or fewer repairs of losses, there is no recommendation."""
PROBES = 0.001
"""The share of waits in which a minimum may add a spurious tail loss probe."""
NEAR = 0.15
"""Of two directions, the capture is at the receiver of the one whose round trip is below this part
of the other's. Paths below a millisecond need this: both their ends look near."""
USED = ("sender", "between", "unknown")
"""The capture points from which the timers of a sender can be replayed."""
CAPS_S = (60.0, 30.0, 10.0, 5.0)
CAPPED_S = 10.0
"""A cap is recommended if a timeout was longer than this; `docs/outages.md` measures it."""


@dataclass(frozen=True)
class Source:
    """What was captured.

    Attributes:
        name: the file or the interface.
        seconds: how long.
        rows: the table `timers` of its diagnosis.
        timeouts: the table `timeouts`.
        left_out: the connections that the tables lack.
    """

    name: str
    seconds: float
    rows: pl.DataFrame
    timeouts: pl.DataFrame
    left_out: int = 0


@dataclass(frozen=True)
class Minimum:
    """What a minimum RTO would have done on a class of paths, per day.

    Attributes:
        seconds: the minimum RTO.
        late: the share of waits that were longer than SRTT and the minimum.
        spurious: spurious timeouts.
        probes: spurious tail loss probes.
        saved: seconds by which real timeouts and needed probes would have come earlier than with
            Linux's default; negative if later.
        delayed: the part of the spurious timeouts with a single outstanding segment.
        preempted: timeouts before a fast retransmit that repaired the loss.
        unknown: timeouts of which the capture does not show whether they are spurious.
    """

    seconds: float
    late: float
    spurious: Estimate
    probes: Estimate
    saved: Estimate
    delayed: float
    preempted: float
    unknown: float


@dataclass(frozen=True)
class PathClass:
    """The paths to one prefix whose round trips are alike.

    Attributes:
        network: the prefix of the receivers.
        round_trip: the class of the smallest round trips in seconds: from, to.
        connections: the number of connections.
        waits: waits for ACKs.
        genuine: real timeouts and needed probes, in the capture.
        seconds: the length of the captures that have the class.
        minimums: a row per minimum RTO.
        limit: the smallest minimum RTO in seconds that adds no spurious timeout.
        recommended: the minimum RTO in seconds; None if the data does not suffice or nothing would
            be saved.
        without_delay: the minimum RTO in seconds that would do if receivers did not delay ACKs.
        timestamps: whether connections with known options use timestamps; None if none is known.
    """

    network: ipaddress.IPv4Network | ipaddress.IPv6Network
    round_trip: tuple[float, float]
    connections: int
    waits: int
    genuine: int
    seconds: float
    minimums: tuple[Minimum, ...]
    limit: float
    recommended: float | None
    without_delay: float | None
    timestamps: bool | None

    def at(self, seconds: float) -> Minimum:
        """The row of a minimum RTO."""
        return next(one for one in self.minimums if one.seconds >= seconds)


@dataclass(frozen=True)
class Cap:
    """What a maximum RTO would have done, per day.

    Attributes:
        seconds: the maximum RTO.
        saved: seconds by which retransmissions after outages would have come earlier, on average.
        sent: additional retransmissions.
    """

    seconds: float
    saved: float
    sent: float


@dataclass(frozen=True)
class Tuning:
    """The recommendation.

    Attributes:
        sources: what was captured.
        classes: the classes of paths, the one with most waits first.
        unused: directions that cannot be used, by reason.
        longest: the longest wait for a real timeout in seconds; 0 without timeouts.
        caps: a row per maximum RTO.
        cap: the recommended one in seconds; None keeps the default of 120 s.
    """

    sources: tuple[Source, ...]
    classes: tuple[PathClass, ...]
    unused: dict[str, int]
    longest: float
    caps: tuple[Cap, ...]
    cap: float | None


def source(name: str, found: Diagnosis, summary: dict[str, Any]) -> Source:
    """The tables of a diagnosis that replays timers.

    Raises:
        Error: it is a QUIC log.
    """
    rows = found.timers()
    if rows is None:
        raise Error(f"{name}: a QUIC log has no retransmission timer of TCP; a capture is needed")
    timeouts = pl.DataFrame(found.tables()["timeouts"])
    seconds = summary["ended"] - summary["began"]
    return Source(name, seconds, pl.DataFrame(rows), timeouts, summary["left_out"])


def tune(sources: Sequence[Source], *, prefix: int = PREFIX, prefix6: int = PREFIX6) -> Tuning:
    """Recommend settings for the paths of these captures.

    Args:
        sources: the captures.
        prefix: the length of the prefixes of IPv4.
        prefix6: the length of the prefixes of IPv6.

    Raises:
        Error: no capture has a TCP connection.
    """
    if not sources or all(one.rows.is_empty() for one in sources):
        names = ", ".join(one.name for one in sources)
        raise Error(f"{names}: no TCP connection with data")
    parts = [
        one.rows.with_columns(pl.lit(number).alias("source"))
        for number, one in enumerate(sources)
        if not one.rows.is_empty()
    ]
    rows = _with_default(pl.concat(parts))
    usable, unused = _usable(rows)
    usable = usable.with_columns(
        pl.col("to")
        .map_elements(lambda to: str(_network(to, prefix, prefix6)), return_dtype=pl.String)
        .alias("network"),
        pl.sum_horizontal(
            (pl.col("min_rtt") >= edge).cast(pl.Int64) for edge in ROUND_TRIPS_S
        ).alias("class"),
    )
    grouped = usable.group_by("network", "class", maintain_order=True)
    classes = [
        _class(str(network), int(number), frame, sources) for (network, number), frame in grouped
    ]
    classes.sort(key=lambda one: one.waits, reverse=True)
    caps, longest = _caps(sources)
    cap = CAPPED_S if longest > CAPPED_S else None
    return Tuning(tuple(sources), tuple(classes), unused, longest, caps, cap)


def _with_default(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows, with the time saved by Linux's default in the same direction as `default_saved`."""
    keys = ["source", "connection", "from"]
    default = rows.filter((pl.col("minimum") - CURRENT_S).abs() < 1e-9)
    saved = (pl.col("saved") + pl.col("probes_saved")).alias("default_saved")
    return rows.join(default.select(*keys, saved), on=keys, how="left")


def _usable(rows: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """The rows of directions whose timers can be replayed, and how many others there are."""
    reason = (
        pl.when(pl.col("only_from").is_not_null())
        .then(pl.lit("the capture has packets of one end only"))
        .when(~pl.col("vantage").is_in(USED) | (pl.col("min_rtt") < NEAR * pl.col("longest")))
        .then(pl.lit("captured at the receiver"))
        .when(pl.col("min_rtt").is_null())
        .then(pl.lit("no round trip could be measured"))
    )
    longest = pl.col("min_rtt").max().over("source", "connection").alias("longest")
    sent = rows.with_columns(longest).with_columns(reason.alias("reason"))
    one = sent.group_by("source", "connection", "from").agg(pl.all().first())
    counts = one.filter(pl.col("reason").is_not_null()).group_by("reason").len()
    unused = {str(why): int(count) for why, count in counts.sort("reason").iter_rows()}
    has_data = (pl.col("waits") + pl.col("genuine") + pl.col("probed")) > 0
    return sent.filter(pl.col("reason").is_null() & has_data), unused


def _network(to: str, prefix: int, prefix6: int) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    address = ipaddress.ip_address(to.rpartition(":")[0].strip("[]"))
    length = prefix if address.version == 4 else prefix6
    return ipaddress.ip_network(f"{address}/{length}", strict=False)


def _class(network: str, number: int, rows: pl.DataFrame, sources: Sequence[Source]) -> PathClass:
    seconds = sum(sources[at].seconds for at in rows["source"].unique())
    days = max(seconds, 1e-9) / DAY_S
    minimums = tuple(
        _minimum(float(seconds_), frame, days)
        for (seconds_,), frame in rows.sort("minimum").group_by("minimum", maintain_order=True)
    )
    first = rows.filter(pl.col("minimum") == rows["minimum"].min())
    genuine = int((first["genuine"] + first["probed"]).sum())
    waits = int(first["waits"].sum())
    edges = (0.0, *ROUND_TRIPS_S, float("inf"))
    probes = PROBES * waits / days
    limit = _smallest(minimums, probes)
    known = first["timestamps"].drop_nulls()
    enough = waits >= FEWEST_WAITS and genuine >= FEWEST_REPAIRS
    return PathClass(
        network=ipaddress.ip_network(network),
        round_trip=(edges[number], edges[number + 1]),
        connections=first.height,
        waits=waits,
        genuine=genuine,
        seconds=seconds,
        minimums=minimums,
        limit=limit,
        recommended=limit if enough else None,
        without_delay=_smallest(minimums, None) if enough else None,
        timestamps=bool(known.all()) if known.len() else None,
    )


def _minimum(seconds: float, rows: pl.DataFrame, days: float) -> Minimum:
    def per_day(column: pl.Series, unit: float = 1.0) -> Estimate:
        found = poisson_sum(column.abs(), unit=unit)
        ends = (found.value / days, found.low / days, found.high / days)
        later = float(column.sum()) < 0.0
        return Estimate(-ends[0], -ends[2], -ends[1]) if later else Estimate(*ends)

    waits = int(rows["waits"].sum())
    # All differences of one minimum to the default have the same sign.
    saved = rows["saved"] + rows["probes_saved"] - rows["default_saved"]
    return Minimum(
        seconds=seconds,
        late=float(rows["late"].sum()) / waits if waits else 0.0,
        spurious=per_day(rows["spurious"].cast(pl.Float64)),
        probes=per_day(rows["spurious_probes"].cast(pl.Float64)),
        saved=per_day(saved, unit=abs(CURRENT_S - seconds)),
        delayed=float(rows["spurious_single"].sum()) / days,
        preempted=float(rows["preempted"].sum()) / days,
        unknown=float(rows["unknown"].sum()) / days,
    )


def _smallest(minimums: Sequence[Minimum], probes: float | None) -> float:
    """The smallest minimum that adds no spurious timeout to those of Linux's default.

    Args:
        minimums: all minimums of a class.
        probes: the spurious probes a day that it may add; None leaves out all that delayed ACKs
            explain, and with them all probes.
    """
    default = next(one for one in minimums if one.seconds >= CURRENT_S)

    def wrong(one: Minimum) -> float:
        delayed = one.delayed if probes is None else 0.0
        return one.spurious.value + one.unknown + one.preempted - delayed

    def fits(one: Minimum) -> bool:
        added = one.probes.value - default.probes.value
        return wrong(one) <= wrong(default) + 1e-9 and (probes is None or added <= probes)

    fitting = (one.seconds for one in minimums if one.seconds >= LEAST_S and fits(one))
    return min(next(fitting), CURRENT_S)


def _caps(sources: Sequence[Source]) -> tuple[tuple[Cap, ...], float]:
    """What caps would have saved at the last timeout of each outage, and the longest timeout.

    The path came back at an unknown time between the last two retransmissions. If all times are
    equally likely, the next retransmission of a timer with a cap comes after half its period.
    """
    days = max(sum(one.seconds for one in sources), 1e-9) / DAY_S
    waits = [(after, last) for one in sources for after, last in _real_timeouts(one.timeouts)]
    rows = []
    for cap in CAPS_S:
        longer = [(after, last) for after, last in waits if after > cap]
        saved = sum((after - cap) / 2.0 for after, last in longer if last)
        rows.append(Cap(cap, saved / days, sum(after / cap - 1.0 for after, _ in longer) / days))
    return tuple(rows), max((after for after, _ in waits), default=0.0)


def _real_timeouts(timeouts: pl.DataFrame) -> Iterator[tuple[float, bool]]:
    """Each real timeout's wait in seconds, and whether it ended its series."""
    real = timeouts.filter(
        pl.col("class").is_in(("genuine", "ack-lost")) & ~pl.col("handshake")
    ).sort("connection", "from", "frame")
    following = real.select(
        "after", (pl.col("backoff").shift(-1).over("connection", "from") > 0).fill_null(False)
    )
    for after, goes_on in following.iter_rows():
        yield float(after), not goes_on
