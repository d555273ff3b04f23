"""Section 2: the clock's granularity, the timeout, and the cost function."""

from functools import partial

import polars as pl

from rtolab.experiments.base import (
    TIMEOUTS,
    Alternative,
    Assumption,
    Bounds,
    Check,
    Curves,
    Experiment,
    Point,
    Value,
    Variant,
    assumed,
    stated,
    taken,
)
from rtolab.experiments.measured import Measured, derived
from rtolab.experiments.minrto2007.network import QUIET
from rtolab.experiments.minrto2007.setup import HOSTS, PAPER, SACK
from rtolab.measures import minimum_rto_cost_bound

FLOOR_S = 1.0
"""The floor of RFC 2988, which the cost function weighs."""

NS2 = Variant(SACK, "ns-2's arithmetic")
EXACT = Variant(SACK, "RFC 2988 in exact numbers", "exact", {"tcp.rto.arithmetic": "exact"})


def smallest(measured: Measured, variant: Variant) -> float | None:
    """The smallest timeout of a variant once a round trip was measured, in s."""
    known = measured.of[variant.key].windows.filter(pl.col("srtt_s").is_not_null())
    return float(known["rto_s"].min()) if known.height else None  # type: ignore[arg-type]


def settled(measured: Measured, variant: Variant) -> float | None:
    """The last timeout of a variant, in s."""
    known = measured.of[variant.key].windows
    return float(known["rto_s"][-1]) if known.height else None


def cost(timeout: float | None) -> float | None:
    """C(f) with a floor of 1 s (equation 2)."""
    return None if timeout is None else FLOOR_S / timeout


def series(measured: Measured) -> list[Point]:
    """The timeout of each variant over time, and the floor, as the paper drew them."""
    points = []
    for variant in measured.experiment.variants:
        known = measured.of[variant.key].windows.filter(pl.col("srtt_s").is_not_null())
        latest = known.unique("at_s", keep="last", maintain_order=True)
        moved = (pl.col("rto_s") != pl.col("rto_s").shift()).fill_null(value=True)
        changes = pl.concat([latest.filter(moved), latest.tail(1)])
        points += [
            Point(f"RTO, {variant.label}", row["at_s"], row["rto_s"])
            for row in changes.iter_rows(named=True)
        ]
    ends = [point.x for point in points]
    return points + [Point("Minimum RTO", x, FLOOR_S) for x in (min(ends), max(ends))] * bool(ends)


def derive(measured: Measured) -> list[Value]:
    """The smallest and the last timeout of each variant, and what the floor costs."""
    return [
        value
        for variant in measured.experiment.variants
        for value in (
            Value(
                f"smallest RTO: {variant.label}",
                f"Smallest RTO, {variant.label}",
                smallest(measured, variant),
                unit="s",
                digits=3,
            ),
            Value(
                f"C(f): {variant.label}",
                f"C(f) once settled, {variant.label}",
                cost(settled(measured, variant)),
            ),
        )
    ]


def network(granularity: str, delays: tuple[str, str, str]) -> tuple[Assumption, ...]:
    """One flow without any loss; delays one way of access, backbone and wireless link."""
    hosts = (a for a in HOSTS if a.name not in {"tcp.rto.granularity", "tcp.timestamp.tick"})
    return (
        *hosts,
        *(a for a in QUIET if a.name != "flow.web.start_jitter"),
        stated("tcp.rto.granularity", granularity, "2: the server's clock"),
        stated("tcp.timestamp.tick", granularity, "2: the client's clock, too"),
        assumed("tcp.rto.min", "1 ms", "so that the timeout is seen as it is without a floor"),
        *(
            stated(f"{link}.delay", delay, "2: the round-trip propagation delay; assumed so split")
            for link, delay in zip(
                ("flow.web.access", "link.backbone", "link.wireless"), delays, strict=True
            )
        ),
        assumed("receiver.buffer", "10 kB", "2: queueing is insignificant"),
        assumed(
            "flow.web.pages",
            '{ bytes = "1000 kB", every = "1 s", count = 1 }',
            "one long transfer of an even number of packets",
        ),
        assumed("duration", "60 s", "long enough"),
        taken("floor", "1 s", "2: the conservative 1-second Minimum RTO"),
    )


SPAN = (0.0, 60.0)
DRAWN = Curves("rto", "The timeout and the floor", "Time (s)", "RTO (s)", points=series)
clock_experiment = partial(
    Experiment, scenario="minrto2007-b", metrics=(TIMEOUTS,), figures=(DRAWN,), shown=SPAN
)
"""One transfer without loss, whose timeout is drawn."""

HALF_SECOND = ("20 ms", "120 ms", "110 ms")
SHORT = ("0.5 ms", "1.5 ms", "1 ms")

ABOVE = {1: Bounds(low=1.0, strict=True)}
BELOW = {1: Bounds(high=1.0, strict=True)}


def near(value: float, within: float = 0.005) -> dict[int, Bounds]:
    """A number as printed, but for its rounding."""
    return {1: Bounds(value - within, value + within)}


FIG1A = clock_experiment(
    id="minrto2007/fig1a",
    title="A clock of 500 ms and a round trip of 500 ms",
    source=f"{PAPER}, Figure 1(a)",
    says="The timeout settles above 1 s: C(f) is below 1, and the floor adds no waiting time.",
    did="One transfer without loss; the timeout was taken down whenever it changed.",
    variants=(NS2,),
    derive=derive,
    checks=(
        derived("smallest RTO in s", "exact", ABOVE, of=f"smallest RTO: {NS2.label}"),
        derived("C(f)", "exact", BELOW, of=f"C(f): {NS2.label}"),
    ),
    assumptions=network("500 ms", HALF_SECOND),
    alternatives=(Alternative("RFC 2988 in exact numbers", {"tcp.rto.arithmetic": "exact"}),),
)

FIG1B = clock_experiment(
    id="minrto2007/fig1b",
    title="A clock of 500 ms and a round trip of 6 ms",
    source=f"{PAPER}, Figure 1(b)",
    says="Again C(f) is below 1: with coarse clocks a floor of 1 s costs nothing.",
    did=(
        "The same over a round trip of 6 ms, with ns-2's arithmetic and with RFC 2988's in exact "
        "numbers beside it."
    ),
    variants=(NS2, EXACT),
    derive=derive,
    checks=(
        derived("smallest RTO in s", "exact", ABOVE, of=f"smallest RTO: {NS2.label}"),
        derived("C(f), ns-2's arithmetic", "exact", near(2 / 3), of=f"C(f): {NS2.label}"),
        derived(
            "C(f), exact numbers",
            "exact",
            BELOW,
            of=f"C(f): {EXACT.label}",
            because=(
                "the claim rests on ns-2's scaled integers, in which the smallest variation is "
                "half a tick and the timeout three; with RFC 2988's own arithmetic the timeout "
                "comes down to two ticks, the floor itself, and C(f) is 1"
            ),
        ),
    ),
    assumptions=network("500 ms", SHORT),
    note="the claim holds in ns-2's arithmetic only",
)

RCG_S, RTPD_S = 0.010, 0.006


def derive2(measured: Measured) -> list[Value]:
    """What was measured, and what equation 3 says."""
    bound = minimum_rto_cost_bound(FLOOR_S, granularity_s=RCG_S, propagation_s=RTPD_S)
    return [
        *derive(measured),
        Value("equation 3", "C(f) by equation 3", bound, published=62.5),
    ]


FIG2 = clock_experiment(
    id="minrto2007/fig2",
    aliases=("minrto2007/eq2", "minrto2007/eq3"),
    title="A clock of 10 ms and a round trip of 6 ms",
    source=f"{PAPER}, Figure 2, equations 2 and 3",
    says=(
        "Between the timeout and the floor of 1 s is a wide gap: C(f) is about 62.5, if the time "
        "between an ACK's arrival and the timeout is neglected."
    ),
    did=(
        "The same with a fine clock. Equation 3 was evaluated, and equation 2 measured on the "
        "timeout itself, which neglects nothing."
    ),
    variants=(NS2, EXACT),
    derive=derive2,
    checks=(
        derived("C(f) by equation 3", "exact", near(62.5), of="equation 3"),
        derived(
            "C(f) by equation 2",
            "exact",
            near(100 / 3, 0.05),
            of=f"C(f): {NS2.label}",
            basis="ours",
        ),
        Check(
            "C(f) by equation 2 is not above equation 3's bound",
            "exact",
            lambda measured: cost(smallest(measured, EXACT)),
            {1: Bounds(low=1.0, high=62.5, strict=True)},
        ),
    ),
    assumptions=network("10 ms", SHORT),
    note="equation 3 leaves out the margin of the timeout: half of what is printed comes out",
)

CLOCKS = (FIG1A, FIG1B, FIG2)
"""In the order of the paper."""
