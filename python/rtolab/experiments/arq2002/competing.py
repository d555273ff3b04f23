"""TCP flows that compete with the one under investigation (section 4)."""

from collections.abc import Iterable

import numpy as np
import polars as pl

from rtolab import measures
from rtolab.experiments.arq2002.gains import Pair, both
from rtolab.experiments.arq2002.metrics import PERCENT, Floats
from rtolab.experiments.arq2002.network import (
    HEADER,
    LAN,
    PAPER,
    RENO,
    RUNS,
    SET,
    Case,
    Local,
    Setting,
    experiment,
)
from rtolab.experiments.base import Bounds, Check, Metric, Value, from_paper, interpreted, our_own
from rtolab.experiments.explanation import demonstrated
from rtolab.experiments.measured import ExperimentRuns, Runs
from rtolab.stats import Estimate, mean_of, ratio_of_means

PER = 1.0
"""Average raw packet error rate, in percent."""

FLOWS = (0, 1, 3, 8)
"""Competing TCP flows; the paper has up to eight."""

LOCALS: tuple[Local, ...] = ("arq", "drop")

PLACES = (10, 100)
"""Delays of the wireless link, in ms."""

FIXED = 144
"""The rate of a competitor that never backs off, in kbit/s: half of the link without background."""

OWN = "download"
APART = 0.1
"""The largest difference of normalized throughputs that counts as independence."""


def competing(flows: int, delay: int) -> Pair:
    """Reno with that number of competing Reno flows, all from the fixed host."""
    others = (
        f'{{ name = "other-{n}", from = "server", to = "mobile", start_jitter = "1 s" }}'
        for n in range(1, flows + 1)
    )
    return _beside(f"{flows} competing", others, delay)


def beside_fixed(delay: int) -> Pair:
    """Reno beside datagrams of a fixed rate."""
    return _beside(f"beside {FIXED} kbit/s", [_datagrams("other-1", FIXED)], delay)


def _datagrams(name: str, kbit_s: int) -> str:
    return (
        f'{{ name = "{name}", from = "base", to = "mobile", start_jitter = "100 ms", '
        f'datagrams = {{ rate = "{kbit_s} kbit/s", packet = "552 B" }} }}'
    )


def _beside(words: str, others: Iterable[str], delay: int) -> Pair:
    own = f'{{ name = "{OWN}", from = "server", to = "mobile" }}'
    listed = f"[{', '.join((own, _datagrams('background', 96), *others))}]"

    def case(local: Local) -> Case:
        setting = Setting(PER, local, delay)
        return Case(
            sender=RENO.policies,
            label=RENO.label,
            condition=f"{words}: {setting.words()}",
            set={"flow": listed, **setting.keys()},
            scenario=LAN,
            setting=setting,
        )

    return case


def _carried(runs: Runs) -> pl.DataFrame:
    """The throughput of each flow, with headers, in bit/s."""
    return measures.normalized_throughput(runs, rate_bps=1.0, header=HEADER)


def _own(runs: Runs) -> pl.Series:
    return _carried(runs).filter(pl.col("flow") == OWN)["normalized_throughput"]


def _others(runs: Runs) -> pl.Series:
    """The throughput of all competing TCP flows together, by run."""
    others = pl.col("normalized_throughput").filter(pl.col("flow").str.starts_with("other-")).sum()
    return _carried(runs).group_by("run", maintain_order=True).agg(others)["normalized_throughput"]


MINE = Metric("own", "Own throughput", "bit/s", _own)
THEIRS = Metric("others", "Competing flows together", "bit/s", _others)


def normalized(measured: ExperimentRuns, case: Case) -> Floats:
    """Own throughput over the rate that errors and all other traffic leave, by run."""
    left = case.available_bps() - measured.values(case.key, THEIRS)
    return measured.values(case.key, MINE) / left


def gain(measured: ExperimentRuns, pair: Pair) -> Estimate:
    """The increase of the own throughput by local retransmission, in percent."""
    arq, drop = (measured.values(pair(local).key, MINE) for local in ("arq", "drop"))
    ratio = ratio_of_means(arq, drop)
    return Estimate(*(PERCENT * (end - 1) for end in (ratio.value, ratio.low, ratio.high)))


def values(measured: ExperimentRuns) -> list[Value]:
    """Gains and normalized throughputs."""
    pairs = [
        (f"{words}, {delay} ms", pair)
        for delay in PLACES
        for words, pair in (
            *((f"{flows} competing", competing(flows, delay)) for flows in FLOWS),
            (f"beside {FIXED} kbit/s", beside_fixed(delay)),
        )
    ]
    gains = [
        Value(f"gain, {words}", f"Own gain, {words}", gain(measured, pair), unit="%", digits=1)
        for words, pair in pairs
    ]
    shares = [
        Value(
            f"{local}, {words}",
            f"Normalized throughput, {local}, {words}",
            mean_of(normalized(measured, pair(local))),
        )
        for local in LOCALS
        for words, pair in pairs
    ]
    return [*gains, *shares]


def independent(local: Local, delay: int) -> Check:
    """Normalized throughput does not depend on the competing flows."""

    def measure(measured: ExperimentRuns) -> float:
        alone, *shared = (
            float(np.mean(normalized(measured, competing(flows, delay)(local)))) for flows in FLOWS
        )
        return max(abs(share / alone - 1) for share in shared)

    return Check(
        f"normalized throughput, {local}, {delay} ms, largest change by competing flows",
        "ratio",
        measure,
        {RUNS: Bounds(high=APART)},
        failure_cause=NOT_SO,
    )


def unlimited(local: Local) -> Check:
    """At the long delay the flow keeps most of its throughput where half of the link is taken."""
    far = PLACES[1]

    def measure(measured: ExperimentRuns) -> float:
        pairs = (beside_fixed(far), competing(0, far))
        shared, alone = (float(np.mean(measured.values(p(local).key, MINE))) for p in pairs)
        return shared / alone

    return Check(
        f"own throughput, {local}, {far} ms, beside {FIXED} kbit/s / alone",
        "ratio",
        measure,
        {RUNS: Bounds(low=0.75)},
    )


def positive(delay: int) -> Check:
    """The own flow gains by local retransmission, whatever competes."""
    return Check(
        f"own gain at {delay} ms, lowest low end of the intervals, %",
        "order",
        lambda measured: min(gain(measured, competing(flows, delay)).low for flows in FLOWS),
        {RUNS: Bounds(0, strict=True)},
        failure_cause=SCATTER,
    )


COMMAND = "rtolab reproduce arq2002/competing"
NOT_SO = demonstrated(
    "window, round trip and losses limit the flow at 100 ms, not the link. So the less others "
    "leave, the higher is normalized throughput, whether they back off or not",
    COMMAND,
    f"at 100 ms it is 0.54 alone and 0.87 beside datagrams of a fixed {FIXED} kbit/s, half of the "
    "link, with local retransmission (0.50 and 0.80 without)",
)
SCATTER = demonstrated(
    "the flow and its competitors fill the link with local retransmission and without it, and each "
    "local retransmission takes its time from them. With 100 runs the gain is 0.1 % (-1.8 to 1.9) "
    "with one competing flow at 10 ms, and -0.6 % (-3.9 to 2.9) with three at 100 ms",
    COMMAND,
    f"at 10 ms the gain is -0.8 % (-1.2 to -0.4) beside datagrams of a fixed {FIXED} kbit/s, too, "
    "whose throughput does not depend on the flow's; at 100 ms, with three and eight competing "
    "flows, normalized throughput is 0.96 and 0.99 with local retransmission, and 0.98 and 1.11 "
    "without",
)

COMPETING = experiment(
    id="arq2002/competing",
    title="Competing TCP flows",
    source=f"{PAPER}, 4 and 4.1",
    says="Up to eight concurrent TCP connections compete with the flow under investigation. "
    "Normalized throughput is independent of other traffic.",
    did=(
        "Reno at a PER of 1 % with none, one, three and eight Reno flows beside it and the "
        "background of 25 %; and, to explain the result, beside datagrams of a fixed rate. "
        "Normalized: own throughput over what errors, background and measured "
        "competitors leave of the link."
    ),
    runs=2 * RUNS,
    variants=both(
        pair
        for delay in PLACES
        for pair in (*(competing(flows, delay) for flows in FLOWS), beside_fixed(delay))
    ),
    metrics=(MINE, THEIRS),
    derive=values,
    checks=(
        *from_paper(
            *(positive(delay) for delay in PLACES),
            *(independent(local, delay) for delay in PLACES for local in LOCALS),
        ),
        *our_own(
            *(unlimited(local) for local in LOCALS),
        ),
    ),
    assumptions=(
        *(a for a in SET if a.name != "competing TCP flows"),
        interpreted("competing flows", "Reno, from the fixed host", "4 names neither"),
        interpreted("independent", "10 % or less", "4.1 says independent"),
    ),
)

EXPERIMENTS = (COMPETING,)
"""The experiment on competing flows."""
