"""Sections 4.2 and 4.3, Figures 5 and 6: costs of local retransmission in traffic and delay."""

from rtolab.experiments.arq2002.gains import FIG4_PAIRS, both, on
from rtolab.experiments.arq2002.metrics import (
    GOODPUT,
    GOODPUT_SENT,
    MAX_DELAY,
    MEAN_DELAY,
    by_delay,
    crossing,
    mean,
    means_of,
    over_per,
    ratio_of,
    values_of,
)
from rtolab.experiments.arq2002.network import (
    BY_RFC,
    DELAYS,
    PAPER,
    PERS,
    RUNS,
    SMALL_PACKETS,
    Local,
    experiment,
    packets,
)
from rtolab.experiments.base import Alternative, Basis, Bounds, Check, Metric, Value
from rtolab.experiments.explanation import demonstrated
from rtolab.experiments.measured import ExperimentRuns


def goodput_change(measured: ExperimentRuns, delay: int, metric: Metric) -> float:
    """The change of effective goodput by local retransmission at a PER of 1 %, in percent."""
    pair = on(1.0, delay)
    return 100 * (ratio_of(measured, pair("arq"), pair("drop"), metric).value - 1)


def spread(measured: ExperimentRuns, local: Local) -> float:
    """The range of effective goodput over delays at a PER of 1 %, in percent."""
    values = [mean(measured, on(1.0, delay)(local), GOODPUT) for delay in DELAYS]
    return 100 * (max(values) / min(values) - 1)


ONE_COPY = demonstrated(
    "a local retransmission sends one more copy of the damaged packet, so a PER of 1 % costs 1 %. "
    "The second percent can only come from unneeded retransmissions by the end hosts, after three "
    "dupacks. At 384 kbit/s and 10 ms fewer than three packets of 552 B overtake a local "
    "retransmission, so there are no such retransmissions; at 100 ms there are",
    f"rtolab reproduce arq2002/fig5 {SMALL_PACKETS}",
    "with packets of 168 B, three of which overtake it, goodput at 10 ms changes by -1.67 %, and "
    "the check passes",
)

FIG5 = experiment(
    id="arq2002/fig5",
    title="Effective goodput with and without local retransmission",
    source=f"{PAPER}, 4.2 and Figure 5",
    says="Data transferred over all traffic in that direction, end-to-end and local "
    "retransmissions included, hardly depends on delay and bandwidth unless errors are very "
    "frequent. With local retransmission it is about 2 % lower at a PER of 1 %, 384 kbit/s and "
    "10 ms, and 2.1 % lower at 100 ms.",
    did=(
        "Reno as in Figure 4; headers count as data. Traffic is what leaves the link plus what "
        "the link retransmits. A second count has all that the downlink sent, damaged packets "
        "included."
    ),
    variants=both(on(per, delay) for delay in DELAYS for per in (0.1, 1.0, 3.0, 10.0)),
    metrics=(GOODPUT, GOODPUT_SENT),
    derive=lambda measured: [
        Value(
            f"{name} at {delay} ms",
            f"change of goodput at {delay} ms, PER 1 %, {name}",
            goodput_change(measured, delay, metric),
            {10: -2.0, 100: -2.1}.get(delay),
            "%",
        )
        for delay in DELAYS
        for name, metric in (("logged after the link", GOODPUT), ("all sent", GOODPUT_SENT))
    ],
    checks=(
        *(
            Check(
                f"goodput, arq over drop, less 1, {delay} ms, PER 1 %, %",
                "ratio",
                lambda measured, delay=delay: goodput_change(measured, delay, GOODPUT),  # type: ignore[misc]
                {RUNS: Bounds(-3, -1)},
                note=f"printed: {printed}; the bounds are one point either way",
                failure_cause=ONE_COPY,
                basis="paper",
                fitted="the definition of traffic was chosen after its results had been seen",
            )
            for delay, printed in ((10, -2.0), (100, -2.1))
        ),
        *(
            Check(
                f"{local}: spread of goodput over delays, PER 1 %, %",
                "ratio",
                lambda measured, local=local: spread(measured, local),  # type: ignore[misc]
                {RUNS: Bounds(high=1, strict=True)},
                note="almost independent is read as 1 %",
                basis="paper",
            )
            for local in ("arq", "drop")
        ),
    ),
    figures=(
        over_per(
            "fig5",
            "Effective goodput, means with 95 % intervals, 384 kbit/s",
            y="effective goodput",
            points=means_of(values_of(GOODPUT), line=by_delay),
        ),
    ),
    note=(
        "if damaged packets also count as traffic without local retransmission, both lose the "
        "PER, and only the unneeded copies make a difference: almost none at 10 ms"
    ),
)


def delay_of(measured: ExperimentRuns, local: Local, delay: int, per: float) -> float:
    """The average packet delay, in s."""
    return mean(measured, on(per, delay)(local), MEAN_DELAY)


def longer(measured: ExperimentRuns, local: Local, delays: tuple[int, int], per: float) -> float:
    """The average packet delay of the longer link minus that of the shorter one, in s."""
    short, long = delays
    return delay_of(measured, local, long, per) - delay_of(measured, local, short, per)


def reversal(measured: ExperimentRuns, local: Local, delays: tuple[int, int]) -> float | None:
    """The PER in percent from which the longer link has the longer average packet delay."""
    return crossing(PERS, [longer(measured, local, delays, per) for per in PERS], 0.0)


def reverses(local: Local, delays: tuple[int, int], basis: Basis, note: str = "") -> list[Check]:
    """The shorter link has the longer packet delay if errors are rare, else the longer link has."""
    short, long = delays
    name = f"{local}: average delay at {long} ms less that at {short} ms"
    return [
        Check(
            f"{name}, PER {per:g} %, s",
            "order",
            lambda measured, per=per: longer(measured, local, delays, per),  # type: ignore[misc]
            {RUNS: bounds},
            note=note,
            basis=basis,
        )
        for per, bounds in ((0.3, Bounds(high=0, strict=True)), (5.0, Bounds(0, strict=True)))
    ]


def worst(measured: ExperimentRuns, metric: Metric) -> float:
    """The maximum delay with local retransmission over a delay without, at 100 ms and 1 %."""
    pair = on(1.0, 100)
    return mean(measured, pair("arq"), MAX_DELAY) / mean(measured, pair("drop"), metric)


FIG6 = experiment(
    id="arq2002/fig6",
    title="Average and maximum packet delay with and without local retransmission",
    source=f"{PAPER}, 4.3 and Figure 6",
    says=(
        "At 384 kbit/s, a shorter link has the longer average packet delay if errors are rare, "
        "because its queue is longer; if errors are frequent, a longer link has. Local "
        "retransmission raises the average, and at 100 ms and a PER of 1 % the maximum can be "
        "about four times as long."
    ),
    did="Reno as in Figure 4. Delays are one way, of packets that arrived: averages over 5 to "
    "105 s, maxima over each run.",
    variants=both(FIG4_PAIRS),
    metrics=(MEAN_DELAY, MAX_DELAY),
    derive=lambda measured: [
        Value(
            "reversal, drop",
            "PER from which 100 ms has the longer delay than 10 ms, drop",
            reversal(measured, "drop", (10, 100)),
            unit="%",
        ),
        Value(
            "reversal, arq",
            "PER from which 100 ms has the longer delay than 50 ms, arq",
            reversal(measured, "arq", (50, 100)),
            unit="%",
        ),
        Value(
            "maxima",
            "maximum delay, arq / drop, 100 ms, PER 1 %",
            worst(measured, MAX_DELAY),
            4.0,
        ),
        Value(
            "maximum over average",
            "maximum delay with arq / average without, 100 ms, PER 1 %",
            worst(measured, MEAN_DELAY),
            4.0,
        ),
    ],
    checks=(
        *reverses("drop", (10, 100), "paper"),
        Check(
            "drop: PER from which 100 ms has the longer delay than 10 ms, %",
            "shape",
            lambda measured: reversal(measured, "drop", (10, 100)),
            {RUNS: Bounds(2, 5)},
            basis="ours",
            failure_cause=demonstrated(
                "the order reverses between 1.8 and 1.9 %, so at 2 % it is already reversed. This "
                "is the PER at which the queue at 10 ms empties, with any arithmetic of the "
                "timer; larger packets or a larger window raise it. In ns-2.35 itself, with these "
                "packets and this window, the averages are 137 and 123 ms at 1.5 %, and 113 and "
                "122 ms at 2 %",
                "rtolab reproduce arq2002/fig6 --assume 'tcp.mss=1000 B' --assume "
                "'receiver.buffer=20000 B' --assume 'flow.background.datagrams.packet=1040 B'",
                "with packets of 1040 B the order reverses at 4.07 %, and the check passes",
            ),
        ),
        *reverses("arq", (50, 100), "ours", "the same order as with drop, which is judged there"),
        Check(
            "average delay, arq less drop, lowest over PER and delay, s",
            "order",
            lambda measured: min(
                mean(measured, on(per, delay)("arq"), MEAN_DELAY)
                - mean(measured, on(per, delay)("drop"), MEAN_DELAY)
                for delay in DELAYS
                for per in PERS
                if per >= 1
            ),
            {RUNS: Bounds(0, strict=True)},
            basis="paper",
        ),
        Check(
            "maximum delay, arq / drop, 100 ms, PER 1 %",
            "ratio",
            lambda measured: worst(measured, MAX_DELAY),
            {RUNS: Bounds(3, 5)},
            note='"about 4 times" is read as 3 to 5',
            failure_cause=demonstrated(
                "a local retransmission takes 300 ms, and the maximum without one includes the "
                "time in the queue",
                f"rtolab reproduce arq2002/fig6 {SMALL_PACKETS}",
                "with packets of 168 B, whose queue is shorter, the ratio is 4.07",
            ),
            basis="paper",
        ),
        Check(
            "maximum delay with arq / average without, 100 ms, PER 1 %",
            "ratio",
            lambda measured: worst(measured, MEAN_DELAY),
            {RUNS: Bounds(3, 6)},
            basis="ours",
        ),
    ),
    figures=(
        over_per(
            "fig6-average",
            "Average packet delay, means with 95 % intervals, 384 kbit/s",
            y="delay, s",
            points=means_of(values_of(MEAN_DELAY), line=by_delay),
            log_y=True,
        ),
        over_per(
            "fig6-maximum",
            "Maximum packet delay, means with 95 % intervals, 384 kbit/s",
            y="delay, s",
            points=means_of(values_of(MAX_DELAY), line=by_delay),
            log_y=True,
        ),
    ),
    alternatives=(
        Alternative("packets of 1040 B", packets(1000), "ns-2's packet size by default"),
        BY_RFC,
    ),
)

EXPERIMENTS = (FIG5, FIG6)
"""The experiments, in the order of the paper."""
