"""Sections 5 and 5.2, Figures 7 and 10: windows, timeouts and dupacks."""

from functools import partial

from rtolab.experiments.arq2002.gains import Pair, average, both, on
from rtolab.experiments.arq2002.metrics import (
    DUPACKS_100,
    TIMEOUTS_100,
    WINDOW,
    by_delay,
    dupack_ratio,
    mean,
    means_of,
    over_per,
    ratio_of,
    together,
    values_of,
)
from rtolab.experiments.arq2002.network import (
    DELAYS,
    PAPER,
    RENO,
    RUNS,
    Case,
    Sender,
    Setting,
    experiment,
    is_overtaken,
    packets,
)
from rtolab.experiments.arq2002.variants import FAST, RATE_CHOSEN
from rtolab.experiments.base import Bounds, Check, Value, fitted
from rtolab.experiments.explanation import demonstrated
from rtolab.experiments.measured import ExperimentRuns
from rtolab.stats import Estimate

FIG7_PERS = (0.1, 0.3, 1.0, 3.0, 5.0, 10.0)
SLIGHTLY_PERS = (1.0, 3.0, 5.0)


def as_in_fig3(per: float) -> Pair:
    """Reno at 1920 kbit/s, as in Figure 3."""
    return on(per, rate=FAST)


def window_ratio(measured: ExperimentRuns, per: float) -> Estimate:
    """The ratio of the mean windows with and without local retransmission."""
    return ratio_of(measured, as_in_fig3(per)("arq"), as_in_fig3(per)("drop"), WINDOW)


def dupacks_of(measured: ExperimentRuns, per: float) -> Estimate | None:
    """The ratio of the fast retransmits with and without local retransmission."""
    return dupack_ratio(measured, as_in_fig3(per)("arq"), as_in_fig3(per)("drop"))


def slightly_more(measured: ExperimentRuns) -> Estimate:
    """The mean of `dupacks_of` over the PERs at which timeouts do not suppress dupacks."""
    ratios = [dupacks_of(measured, per) for per in SLIGHTLY_PERS]
    return average([ratio for ratio in ratios if ratio])


FIG7 = experiment(
    id="arq2002/fig7",
    title="Window, timeouts and dupacks of Reno",
    source=f"{PAPER}, 5 and Figure 7",
    says=(
        "In the setting of Figure 3, per 100 acknowledged packets: with local retransmission "
        "there are slightly more retransmissions triggered by dupacks, without it the timeouts "
        "are not negligible, and the window, sampled once a round trip, is smaller where errors "
        "are frequent."
    ),
    did="Reno at 1920 kbit/s and 10 ms.",
    variants=both(as_in_fig3(per) for per in FIG7_PERS),
    metrics=(WINDOW, TIMEOUTS_100, DUPACKS_100),
    checks=(
        Check(
            "window, arq over drop, low end of the lowest of PER 1, 3 and 10 %",
            "order",
            lambda measured: min(window_ratio(measured, per).low for per in (1.0, 3.0, 10.0)),
            {10: Bounds(1, strict=True)},
            basis="paper",
        ),
        Check(
            "timeouts, drop less arq, lowest of PER 1, 3 and 10 %",
            "order",
            lambda measured: min(
                mean(measured, as_in_fig3(per)("drop"), TIMEOUTS_100)
                - mean(measured, as_in_fig3(per)("arq"), TIMEOUTS_100)
                for per in (1.0, 3.0, 10.0)
            ),
            {10: Bounds(0, strict=True)},
            basis="paper",
        ),
        *fitted(
            RATE_CHOSEN,
            Check(
                "dupacks, arq over drop, mean of PER 1, 3 and 5 %: slightly more",
                "ratio",
                slightly_more,
                {10: Bounds(1, 1.2, strict=True)},
                note="the upper bound is ours",
                basis="paper",
            ),
            Check(
                "dupacks, arq over drop, PER 10 %: slightly more",
                "ratio",
                lambda measured: dupacks_of(measured, 10.0),
                {10: Bounds(1, 1.2, strict=True)},
                note="the upper bound is ours",
                failure_cause=demonstrated(
                    "without local retransmission there are seven timeouts per 100 acknowledged "
                    "segments, because the window is 2.7 segments on average, too few for three "
                    "dupacks (5.3 with it): drop has fewer fast retransmits, rather than arq more",
                    "rtolab reproduce arq2002/fig7 --assume tcp.recovery.limited_transmit=true",
                    "with limited transmit, by which small windows get three dupacks, the ratio is "
                    "0.82 instead of 1.43",
                ),
                basis="paper",
            ),
        ),
    ),
    figures=(
        over_per(
            "fig7-cwnd",
            "Congestion window of Reno, means with 95 % intervals, 10 ms",
            y="cwnd, segments",
            points=means_of(values_of(WINDOW)),
        ),
        over_per(
            "fig7-triggers",
            "What triggers retransmissions of Reno, means with 95 % intervals, 10 ms",
            y="per 100 acknowledged",
            points=together(
                (
                    means_of(values_of(TIMEOUTS_100), line=lambda case: f"{case.series}, timeouts"),
                    means_of(values_of(DUPACKS_100), line=lambda case: f"{case.series}, dupacks"),
                )
            ),
        ),
    ),
    runs=10,
    windows=True,
)

SMALL = Sender("Reno, 296 B", "reno", packets(256))
DUPACK_PERS = (1.0, 3.0, 5.0)
SLOPE_PERS = (0.3, 1.0, 3.0, 5.0, 10.0)


def small(per: float, delay: int = 10) -> tuple[Case, Case]:
    """Cases with packets of 296 B, of which three overtake a local retransmission at 10 ms."""
    arq, drop = Setting(per, "arq", delay), Setting(per, "drop", delay)
    return SMALL.on(arq), SMALL.on(drop)


def dupack_ratios() -> list[Check]:
    """Ratios of fast retransmits with and without local retransmission, under reordering."""
    checks = []
    for per in DUPACK_PERS:
        settings = [
            (f"{delay} ms", (on(per, delay)("arq"), on(per, delay)("drop")))
            for delay in DELAYS
            if is_overtaken(Setting(per, "arq", delay))
        ]
        for name, (arq, drop) in (*settings, ("10 ms, packets of 296 B", small(per))):
            checks.append(
                Check(
                    f"dupacks, arq over drop, {name}, PER {per:g} %",
                    "ratio",
                    partial(dupack_ratio, above=arq, below=drop),
                    {RUNS: Bounds(0.9, 1.3)},
                    basis="ours",
                )
            )
    return checks


def slope(measured: ExperimentRuns, delay: int) -> float:
    """The fast retransmits per 100 segments that 1 % more errors adds, from a PER of 0.3 to 5 %."""
    low, high = (mean(measured, on(per, delay)("arq"), DUPACKS_100) for per in (0.3, 5.0))
    return (high - low) / (5.0 - 0.3)


def more_dupacks(measured: ExperimentRuns, longer: int, shorter: int) -> list[Estimate]:
    """The ratios of fast retransmits on the longer and the shorter link, at each PER from 1 %."""
    ratios = [
        dupack_ratio(measured, on(per, longer)("arq"), on(per, shorter)("arq"))
        for per in SLOPE_PERS
        if per >= 1
    ]
    return [ratio for ratio in ratios if ratio]


FIG10 = experiment(
    id="arq2002/fig10",
    title="Retransmissions that dupacks trigger, by wireless delay",
    source=f"{PAPER}, 5.2 and Figure 10",
    says=(
        "The larger the wireless delay, the more packets overtake a locally retransmitted one, "
        "and the more the number of spurious dupacks depends on errors."
    ),
    did=(
        "Reno as in Figure 4, and at 10 ms also with small packets. For 50 and 100 ms, which "
        "hardly differ, see arq2002/fig10-delays."
    ),
    variants=(
        *both(on(per, delay) for delay in DELAYS for per in SLOPE_PERS),
        *(case for per in DUPACK_PERS for case in small(per)),
    ),
    metrics=(DUPACKS_100, TIMEOUTS_100),
    derive=lambda measured: [
        Value(
            f"slope at {delay} ms",
            f"fast retransmits per 100 acknowledged, for 1 % more errors, {delay} ms",
            slope(measured, delay),
        )
        for delay in DELAYS
    ],
    checks=(
        Check(
            "arq: dupacks at 50 ms over 10 ms, low end of the lowest of PER 1 to 10 %",
            "order",
            lambda measured: min(
                (ratio.low for ratio in more_dupacks(measured, 50, 10)), default=None
            ),
            {RUNS: Bounds(1, strict=True)},
            basis="paper",
        ),
        Check(
            "arq: slope over PER, 100 ms less 10 ms",
            "shape",
            lambda measured: slope(measured, 100) - slope(measured, 10),
            {RUNS: Bounds(0, strict=True)},
            note="follows from 50 over 10 ms; what is beyond is judged in arq2002/fig10-delays",
            basis="ours",
        ),
        *dupack_ratios(),
    ),
    figures=(
        over_per(
            "fig10",
            "Fast retransmits per 100 acknowledged, means with 95 % intervals, 384 kbit/s",
            y="per 100 acknowledged",
            points=means_of(
                values_of(DUPACKS_100),
                line=by_delay,
                only=lambda case: case.setting.local == "arq" and case.label == RENO.label,
            ),
        ),
    ),
    runs=RUNS,
    note="the ratio of arq to drop at a PER of 10 % is judged in arq2002/fig7",
)

FIG10_DELAYS = experiment(
    id="arq2002/fig10-delays",
    title="Retransmissions that dupacks trigger, at 50 and at 100 ms",
    source=f"{PAPER}, 5.2 and Figure 10",
    says='"It is found that the larger the wireless delay, the more sensitive are spurious dupacks '
    'to the increase of raw packet error rates."',
    did=(
        "Reno at 50 and 100 ms in 60 runs, a number fixed beforehand. The text speaks of the "
        "increase over error rates, so the average over PERs of 1 to 10 % is judged."
    ),
    variants=tuple(on(per, delay)("arq") for delay in (50, 100) for per in SLOPE_PERS if per >= 1),
    metrics=(DUPACKS_100, TIMEOUTS_100),
    derive=lambda measured: [
        Value(f"ratio, {per:g} %", f"fast retransmits, 100 ms over 50 ms, PER {per:g} %", ratio)
        for per, ratio in zip(SLOPE_PERS[1:], more_dupacks(measured, 100, 50), strict=False)
    ],
    checks=(
        Check(
            "arq: dupacks at 100 ms over 50 ms, average of PER 1 to 10 %, low end",
            "order",
            lambda measured: average(more_dupacks(measured, 100, 50)).low,
            {RUNS: Bounds(1, strict=True)},
            failure_cause=demonstrated(
                "once three packets overtake a local retransmission, it triggers one fast "
                "retransmit; further packets that overtake it trigger no other. So the difference "
                "is 1 %, which 60 runs cannot show (ns-2.35 itself: 1.04, 1.00, 1.01 and 1.01 at "
                "the four PERs)",
                "rtolab reproduce arq2002/fig10-delays --runs 300",
                "300 runs give 1.02, 1.01, 1.02 and 1.00 at PERs of 1, 3, 5 and 10 %, and the "
                "check passes",
            ),
            basis="paper",
        ),
    ),
    runs=60,
)

CLAIM_PERS = (1.0, 3.0, 10.0)


def excess_over_timeouts(measured: ExperimentRuns, per: float) -> float:
    """Fast retransmits minus ten times the timeouts, per 100 segments: the minimum over delays."""
    return min(
        mean(measured, on(per, delay)("arq"), DUPACKS_100)
        - 10 * mean(measured, on(per, delay)("arq"), TIMEOUTS_100)
        for delay in DELAYS
    )


CLAIM = experiment(
    id="arq2002/claim",
    title="With local retransmission timeouts are rare, dupacks are what matters",
    source=f"{PAPER}, 5 and 6",
    says="Spurious timeouts are rare with local retransmission, because the timeout is "
    "conservative; spurious dupacks cause most of the unneeded retransmissions.",
    did="Reno with local retransmission at 10, 50 and 100 ms: fast retransmits minus ten times "
    "the timeouts, which is above 0 if there are more than ten fast retransmits per timeout.",
    variants=tuple(on(per, delay)("arq") for delay in DELAYS for per in CLAIM_PERS),
    metrics=(TIMEOUTS_100, DUPACKS_100),
    checks=tuple(
        Check(
            f"arq: fast retransmits less 10 x timeouts per 100, lowest over delays, PER {per:g} %",
            "ratio",
            lambda measured, per=per: excess_over_timeouts(measured, per),  # type: ignore[misc]
            {RUNS: Bounds(0, strict=True)},
            note="rare is read as one in ten",
            basis="paper",
        )
        for per in CLAIM_PERS
    ),
)

EXPERIMENTS = (FIG7, FIG10, FIG10_DELAYS, CLAIM)
"""The experiments, in the order of the paper."""
