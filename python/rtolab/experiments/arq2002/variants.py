"""Section 4.1, Figures 2 and 3: four TCPs, with and without local retransmission."""

from collections.abc import Iterable
from dataclasses import replace

from rtolab.experiments.arq2002.metrics import (
    ACKED,
    DUPACKS_100,
    LOSS,
    TIMEOUTS_100,
    TRIGGERED,
    mean,
    means_of,
    normalized,
    over_per,
    ratio_of,
    throughput,
)
from rtolab.experiments.arq2002.network import (
    BY_RFC,
    PAPER,
    PERS,
    RENO,
    RUNS,
    Case,
    Local,
    Sender,
    Setting,
    experiment,
)
from rtolab.experiments.base import Alternative, Bounds, Check, Experiment
from rtolab.experiments.measured import Measured
from rtolab.stats import Estimate

TAHOE, NEWRENO, SACK = (
    Sender("Tahoe", "tahoe"),
    Sender("NewReno", "newreno"),
    Sender("SACK", "sack"),
)
SENDERS = (TAHOE, RENO, NEWRENO, SACK)

FAR = 100
"""The longest delay, in ms."""

FAR_PERS = (1.0, 3.0, 5.0, 10.0)

TIE = 0.01
"""The largest difference that counts as a tie."""


def at(sender: Sender, local: Local, per: float, delay: int = 10) -> Case:
    """A sender at 384 kbit/s."""
    return sender.on(Setting(per, local, delay))


def worst_ratio(better: Iterable[Case], worse: Iterable[Case], *, measured: Measured) -> float:
    """The smallest throughput of `better` over the largest of `worse`."""
    lowest = min(throughput(measured, case) for case in better)
    return lowest / max(throughput(measured, case) for case in worse)


def over_pers(
    name: str, pers: Iterable[float], better: tuple[Sender, ...], worse: tuple[Sender, ...]
) -> Check:
    """Without local retransmission, `better` outperform `worse` at each of these PERs."""
    rates = tuple(pers)

    def measure(measured: Measured) -> float:
        return min(
            worst_ratio(
                [at(sender, "drop", per) for sender in better],
                [at(sender, "drop", per) for sender in worse],
                measured=measured,
            )
            for per in rates
        )

    certain = min(rates) >= 1
    bounds = Bounds(1, strict=True) if certain else Bounds(1 - TIE)
    return Check(name, "order", measure, {RUNS: bounds})


def tahoe_to_reno(measured: Measured, per: float, delay: int) -> Estimate:
    """Throughputs without local retransmission."""
    return ratio_of(measured, at(TAHOE, "drop", per, delay), at(RENO, "drop", per, delay))


def tahoe_to_lowest(measured: Measured) -> float:
    """The best ratio of Tahoe to the lowest sender, with local retransmission."""
    return max(
        throughput(measured, at(TAHOE, "arq", per))
        / min(throughput(measured, at(sender, "arq", per)) for sender in (RENO, NEWRENO, SACK))
        for per in PERS
    )


def to_reno(sender: Sender) -> tuple[Check, Check]:
    """With local retransmission a sender is no better than Reno, and not much worse."""

    def ratios(measured: Measured) -> list[Estimate]:
        return [ratio_of(measured, at(sender, "arq", per), at(RENO, "arq", per)) for per in PERS]

    return (
        Check(
            f"arq: {sender.label} over Reno, less 1, highest over PER, %",
            "order",
            lambda measured: 100 * (max(ratio.low for ratio in ratios(measured)) - 1),
            {RUNS: Bounds(high=0)},
            note="the low end of its 95 % interval: better counts when it is certain",
        ),
        Check(
            f"arq: {sender.label} over Reno, less 1, lowest over PER, %",
            "ratio",
            lambda measured: 100 * (min(ratio.value for ratio in ratios(measured)) - 1),
            {RUNS: Bounds(low=-6)},
            explained="at a PER of 10 % only, far beyond the 0.1 to 1 % of which the text speaks: "
            "after a spurious fast retransmit the ACK of the late original is a partial one, and "
            "NewReno resends a segment a round trip that was not lost until the whole window is "
            "acknowledged; Reno leaves at that ACK. In ns-2.35 itself it is -6.1 %",
        ),
    )


def effective_loss(measured: Measured, pers: Iterable[float]) -> float:
    """The largest loss rate after local retransmission, in percent of the packets."""
    return max(
        sum(mean(measured, at(sender, "arq", per), LOSS) for sender in SENDERS) / len(SENDERS)
        for per in pers
    )


def most_timeouts(measured: Measured) -> float:
    """With local retransmission, at a PER of 1 % at most, per 100 acknowledged."""
    return max(
        mean(measured, at(sender, "arq", per), TIMEOUTS_100)
        for sender in SENDERS
        for per in PERS
        if per <= 1
    )


LOW = tuple(per for per in PERS if per <= 1)

FIG2 = Experiment(
    id="arq2002/fig2",
    title="Congestion control, load and gain: a sketch",
    source=f"{PAPER}, Figure 2",
    says="Figure 2 sketches three things that are known: throughput over load with its collapse, "
    "the window of Tahoe and of Reno over time, and the sequence numbers of a retransmission.",
    did="Nothing: it has no numbers and no experiment behind it.",
    note="a drawing without data",
    checks=(),
)

FIG3 = experiment(
    id="arq2002/fig3",
    title="Throughput of four TCPs with and without local retransmission",
    source=f"{PAPER}, 4.1 and Figure 3",
    says="Wireless delay 10 ms, bad state 1 ms on average, raw packet error rate (PER) 0.1 to 1 % "
    "and beyond. With local retransmission (arq) nothing is lost, there is almost no timeout even "
    "with a timer of 100 ms; Tahoe is lowest, Reno and NewReno are alike, SACK is below NewReno. "
    "Without (drop) NewReno and SACK are above Tahoe and Reno, and Tahoe is above Reno where "
    "errors are frequent.",
    did="Each TCP for 110 s at 384 kbit/s, at seven PERs over both profiles, with and without "
    "local retransmission. For the order without it see arq2002/fig3-drop, too.",
    variants=(
        *(
            at(sender, local, per)
            for local in ("arq", "drop")
            for per in PERS
            for sender in SENDERS
        ),
    ),
    metrics=(ACKED, TIMEOUTS_100, DUPACKS_100, LOSS),
    checks=(
        over_pers(
            "drop: lower of NewReno, SACK / higher of Tahoe, Reno, PER below 1 %",
            (0.1, 0.3),
            (NEWRENO, SACK),
            (TAHOE, RENO),
        ),
        Check(
            "arq: Tahoe / lowest of the others, highest over PER",
            "order",
            tahoe_to_lowest,
            {RUNS: Bounds(high=1 + TIE)},
            note="ties within 1 %",
        ),
        *to_reno(NEWRENO),
        *to_reno(SACK),
        Check(
            "arq: packets lost for good, PER 0.1 to 1 %, %",
            "count",
            lambda measured: effective_loss(measured, LOW),
            {1: Bounds(0, 0)},
        ),
        Check(
            "arq: packets lost for good, PER up to 5 %, %",
            "ratio",
            lambda measured: effective_loss(measured, [per for per in PERS if per <= 5]),
            {RUNS: Bounds(high=0.01, strict=True)},
        ),
        Check(
            "arq: timeouts per 100 acknowledged, PER up to 1 %",
            "ratio",
            most_timeouts,
            {RUNS: Bounds(high=0.1, strict=True)},
        ),
    ),
    figures=(
        over_per(
            "fig3",
            "Normalized throughput, means with 95 % intervals, delay 10 ms",
            y="normalized throughput",
            points=means_of(normalized),
        ),
    ),
    alternatives=(
        BY_RFC,
        Alternative("no bugfix", {"tcp.recovery.bugfix": "none"}, "ns-2 with bugFix_ false"),
    ),
)

DROP_PERS = (1.0, 2.0, 3.0, 5.0, 10.0)

FIG3_DROP = experiment(
    id="arq2002/fig3-drop",
    title="The order of four TCPs without local retransmission",
    source=f"{PAPER}, 4.1 and Figure 3",
    says="NewReno and SACK are above Tahoe and Reno, since they can recover several losses in a "
    "window; Tahoe is more robust than Reno where errors are frequent.",
    did="Figure 3 without local retransmission, and Tahoe and Reno at 100 ms. Three times as many "
    "runs as the paper's, for at a PER of 10 % throughputs of 20 scatter by more than the senders "
    "differ.",
    variants=(
        *(at(sender, "drop", per) for per in DROP_PERS for sender in SENDERS),
        *(at(sender, "drop", per, FAR) for per in FAR_PERS for sender in (TAHOE, RENO)),
    ),
    metrics=TRIGGERED,
    checks=(
        over_pers(
            "drop: lower of NewReno, SACK / higher of Tahoe, Reno, PER 1 to 10 %",
            DROP_PERS,
            (NEWRENO, SACK),
            (TAHOE, RENO),
        ),
        replace(
            over_pers(
                "drop: Tahoe / Reno at 10 ms, PER 2 to 10 %",
                (2.0, 3.0, 5.0, 10.0),
                (TAHOE,),
                (RENO,),
            ),
            explained="Tahoe is 3 to 5 % above up to a PER of 5 %. At 10 % the two cannot be told "
            "apart in 200 runs, here (0.988, 0.957 to 1.021) as in ns-2.35 itself (0.989)",
        ),
        Check(
            "drop: Tahoe / Reno at 100 ms, highest of PER 1 to 5 %",
            "order",
            lambda measured: max(
                tahoe_to_reno(measured, per, FAR).value for per in (1.0, 3.0, 5.0)
            ),
            {RUNS: Bounds(high=1, strict=True)},
        ),
        Check(
            "drop: Tahoe / Reno at 100 ms, PER 10 %, less that at 1 %",
            "shape",
            lambda measured: (
                tahoe_to_reno(measured, 10.0, FAR).value - tahoe_to_reno(measured, 1.0, FAR).value
            ),
            {RUNS: Bounds(0, strict=True)},
            note="Tahoe catches up as errors become frequent",
        ),
    ),
    alternatives=(BY_RFC,),
    runs=60,
)

CLAIM_2_PERS = (3.0, 5.0, 10.0)


def _sack_to_newreno(measured: Measured) -> float:
    return max(
        ratio_of(measured, at(SACK, "arq", per, FAR), at(NEWRENO, "arq", per, FAR)).high
        for per in CLAIM_2_PERS
    )


CLAIM_2 = experiment(
    id="arq2002/claim-2",
    title="SACK is below NewReno with local retransmission",
    source=f"{PAPER}, 4.1",
    says="Since SACK recovers more aggressively what the link is still trying to deliver, its "
    "throughput is below NewReno's.",
    did="Both at 384 kbit/s and 100 ms, where packets are overtaken by many, with local "
    "retransmission. SACK is 2 to 4 % below: 40 runs scatter as much and do not show it.",
    variants=tuple(
        at(sender, "arq", per, FAR) for per in CLAIM_2_PERS for sender in (NEWRENO, SACK)
    ),
    metrics=TRIGGERED,
    checks=(
        Check(
            "arq, 100 ms: SACK / NewReno, highest high end of PER 3, 5 and 10 %",
            "order",
            _sack_to_newreno,
            {RUNS: Bounds(high=1, strict=True)},
        ),
    ),
    runs=100,
)

EXPERIMENTS = (FIG2, FIG3, FIG3_DROP, CLAIM_2)
"""In the order of the paper."""
