"""TCP flows that compete with the one under investigation (section 4)."""

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
from rtolab.experiments.base import Bounds, Check, Metric, Value, from_paper, taken
from rtolab.experiments.measured import Measured, Runs
from rtolab.stats import Estimate, mean_of, ratio_of_means

PER = 1.0
"""Average raw packet error rate, in percent."""

FLOWS = (0, 1, 3, 8)
"""Competing TCP flows; the paper has up to eight."""

PLACES = (10, 100)
"""Delays of the wireless link, in ms."""

OWN = "download"
APART = 0.1
"""How much two normalized throughputs may differ that are said to be independent of something."""


def competing(flows: int, delay: int) -> Pair:
    """Reno with that number of competing Reno flows, all from the fixed host."""
    others = "".join(
        f', {{ name = "other-{n}", from = "server", to = "mobile", start_jitter = "1 s" }}'
        for n in range(1, flows + 1)
    )
    background = (
        '{ name = "background", from = "base", to = "mobile", start_jitter = "100 ms", '
        'datagrams = { rate = "96 kbit/s", packet = "552 B" } }'
    )
    listed = f'[{{ name = "{OWN}", from = "server", to = "mobile" }}, {background}{others}]'

    def case(local: Local) -> Case:
        setting = Setting(PER, local, delay)
        return Case(
            sender=RENO.policies,
            label=RENO.label,
            condition=f"{flows} competing: {setting.words()}",
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
    """That of all competing TCP flows together, by run."""
    others = pl.col("normalized_throughput").filter(pl.col("flow").str.starts_with("other-")).sum()
    return _carried(runs).group_by("run", maintain_order=True).agg(others)["normalized_throughput"]


MINE = Metric("own", "Own throughput", "bit/s", _own)
THEIRS = Metric("others", "Competing flows together", "bit/s", _others)


def normalized(measured: Measured, case: Case) -> Floats:
    """Own throughput over what errors and all other traffic leave, by run."""
    left = case.available_bps() - measured.values(case.key, THEIRS)
    return measured.values(case.key, MINE) / left


def gain(measured: Measured, pair: Pair) -> Estimate:
    """The increase of the own throughput by local retransmission, in percent."""
    arq, drop = (measured.values(pair(local).key, MINE) for local in ("arq", "drop"))
    ratio = ratio_of_means(arq, drop)
    return Estimate(*(PERCENT * (end - 1) for end in (ratio.value, ratio.low, ratio.high)))


def values(measured: Measured) -> list[Value]:
    """Gains and normalized throughputs."""
    gains = [
        Value(
            f"gain, {flows} competing, {delay} ms",
            f"Own gain, {flows} competing flows, {delay} ms",
            gain(measured, competing(flows, delay)),
            unit="%",
            digits=1,
        )
        for delay in PLACES
        for flows in FLOWS
    ]
    shares = [
        Value(
            f"{local}, {flows} competing, {delay} ms",
            f"Normalized throughput, {local}, {flows} competing flows, {delay} ms",
            mean_of(normalized(measured, competing(flows, delay)(local))),
        )
        for delay in PLACES
        for local in ("arq", "drop")
        for flows in FLOWS
    ]
    return [*gains, *shares]


def independent(local: Local, delay: int) -> Check:
    """Normalized throughput does not depend on the competing flows."""

    def measure(measured: Measured) -> float:
        alone, *shared = (
            float(np.mean(normalized(measured, competing(flows, delay)(local)))) for flows in FLOWS
        )
        return max(abs(share / alone - 1) for share in shared)

    return Check(
        f"normalized throughput, {local}, {delay} ms, largest change by competing flows",
        "ratio",
        measure,
        {RUNS: Bounds(high=APART)},
        explained=NOT_SO,
    )


def positive(delay: int) -> Check:
    """The own flow gains by local retransmission, whatever competes."""
    return Check(
        f"own gain at {delay} ms, lowest low end of the intervals, %",
        "order",
        lambda measured: min(gain(measured, competing(flows, delay)).low for flows in FLOWS),
        {RUNS: Bounds(0, strict=True)},
        explained=SCATTER,
    )


NOT_SO = (
    "what a flow leaves unused its competitors take, so the bandwidth that they leave to it is "
    "hardly more than what it has: with competing flows normalized throughput tends to 1, with and "
    "without local retransmission"
)
SCATTER = (
    "competing flows keep the queue full, so that the flow gets its share of the link at any time, "
    "whatever a drop costs it: with 100 runs the gain is 0.1 % (-1.8 to 1.9) with one competing "
    "flow at 10 ms, and -0.6 % (-3.9 to 2.9) with three at 100 ms"
)

COMPETING = experiment(
    id="arq2002/competing",
    title="Competing TCP flows",
    source=f"{PAPER}, 4 and 4.1",
    says="Up to eight concurrent TCP connections compete with the flow under investigation. "
    "Normalized throughput is independent of other traffic.",
    did=(
        "Reno at a PER of 1 % with none, one, three and eight Reno flows beside it and the "
        "background of 25 %. Normalized: own throughput over what errors, background and measured "
        "competitors leave of the link."
    ),
    runs=2 * RUNS,
    variants=both(competing(flows, delay) for delay in PLACES for flows in FLOWS),
    metrics=(MINE, THEIRS),
    derive=values,
    checks=from_paper(
        *(positive(delay) for delay in PLACES),
        *(independent(local, delay) for delay in PLACES for local in ("arq", "drop")),
    ),
    assumptions=(
        *(a for a in SET if a.name != "competing TCP flows"),
        taken("competing flows", "Reno, from the fixed host", "4 names neither"),
        taken("independent", "10 % or less", "4.1 says independent"),
    ),
)

EXPERIMENTS = (COMPETING,)
"""The experiment on competing flows."""
