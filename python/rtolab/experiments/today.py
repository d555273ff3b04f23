"""The sender of a current kernel in the papers' scenarios: which problems are solved?"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from rtolab.experiments.arq2002.metrics import ACKED
from rtolab.experiments.arq2002.network import QUICK
from rtolab.experiments.base import (
    FAST_RETRANSMITS,
    LOST,
    TIME,
    TIMEOUTS,
    UNNEEDED,
    Bounds,
    Check,
    Experiment,
    Metric,
    Variant,
    interpreted,
)
from rtolab.experiments.measured import Runs, mean, ratio
from rtolab.experiments.minrto2007.transfers import GOODPUT

RUNS, FEW = 100, 10

LINUX = {"receiver.profile": "linux", "receiver.sack": "true", "receiver.dsack": "true"}
"""The receiver is a current kernel, too, with the paper's buffer."""

TODAY = (
    Variant("linux", "Linux 6", set=LINUX),
    Variant("linux", "Linux 6", "no timestamps", {**LINUX, "kernel.timestamps": "false"}),
    Variant("linux", "Linux 6", "no F-RTO", {**LINUX, "kernel.frto": "0"}),
    Variant("linux", "Linux 6", "no probes", {**LINUX, "kernel.early_retrans": "0"}),
    Variant(
        "linux",
        "Linux 6",
        "none of them",
        {
            **LINUX,
            "kernel.timestamps": "false",
            "kernel.frto": "0",
            "kernel.early_retrans": "0",
            "kernel.dsack": "false",
        },
    ),
)


def of_tcp(metric: Metric) -> Metric:
    """The metric of TCP connections alone, summed over those of a run."""

    def total(runs: Runs) -> pl.Series:
        return (
            runs.connections.filter(pl.col("flow") != "background")
            .group_by("run", maintain_order=True)
            .agg(pl.col(metric.name).cast(pl.Float64).sum())[metric.name]
        )

    return Metric(metric.name, metric.label, metric.unit, total, metric.digits)


EXPIRED, FAST, RESENT, UNNEEDED, GONE = COUNTS = tuple(
    of_tcp(metric)
    for metric in (
        TIMEOUTS,
        FAST_RETRANSMITS,
        Metric("retransmissions", "Rexmits", "", TIMEOUTS.of),
        UNNEEDED,
        LOST,
    )
)


def has(key: str, metric: Metric, bounds: Bounds, runs: int = FEW) -> Check:
    """The mean of a sender lies within bounds, from `runs` runs on."""
    return mean(f"{metric.label.lower()}, {key}", "count", (key, metric), {runs: bounds})


def against(key: str, metric: Metric, bounds: Bounds) -> Check:
    """Compares a current kernel with a sender of the paper."""
    name = f"{metric.label.lower()}, Linux 6 / {key}"
    return ratio(name, metric, ("linux", key), {FEW: bounds})


@dataclass(frozen=True)
class Place:
    """A problem in a paper's scenario.

    Attributes:
        id: of the experiment, below `today`.
        scenario: the paper's scenario.
        title: the problem.
        source: the section of the paper.
        says: the paper's finding.
        senders: the paper's senders: one with the problem, and those that solve it.
        checks: our findings of the first run, as regression checks.
        speed: the metric of speed.
        endless: do its transfers last as long as the run?
        runs: the runs of each variant.
        set: values for every sender, by scenario key.
        quick_set: values that differ with `--quick`, by scenario key.
    """

    id: str
    scenario: str
    title: str
    source: str
    says: str
    senders: tuple[Variant, ...]
    checks: tuple[Check, ...]
    speed: Metric = TIME
    endless: bool = False
    runs: int = RUNS
    set: Mapping[str, str] = field(default_factory=dict)
    quick_set: Mapping[str, str] = field(default_factory=dict)

    def experiment(self) -> Experiment:
        """The experiment with the paper's senders and today's."""
        return Experiment(
            id=f"today/{self.id}",
            title=self.title,
            source=self.source,
            says=self.says,
            did=(
                "The paper's senders, and a current kernel's sender with a current kernel's "
                "receiver."
            ),
            scenario=self.scenario,
            variants=tuple(
                replace(variant, set={**self.set, **variant.set})
                for variant in self.senders + TODAY
            ),
            metrics=(self.speed, *COUNTS),
            checks=self.checks,
            assumptions=(interpreted("senders", "profile linux", "as Linux 6 is set by default"),),
            runs=self.runs,
            quick_runs=2 if self.endless else FEW,
            quick_set=self.quick_set,
            endless=self.endless,
            ours=True,
        )


CONVENTIONAL = Variant("newreno:careful", "NewReno of 2002")
SACK = Variant("sack", "SACK of 2002")
FRTO = Variant("sack+frto", "SACK with F-RTO of 2002")
EIFEL = Variant("sack+eifel:rfc3522+full", "SACK with Eifel of 2002")

PLACES = (
    Place(
        "go-back-n",
        "delays2001-hold",
        "Ten seconds of silence, and the whole window is retransmitted",
        "Gurtov 2001, sections 4 and 5",
        "The sender retransmits all outstanding data; a spurious fast retransmit follows.",
        (
            Variant("newreno:less-careful", "NewReno of Linux 2.2"),
            Variant("newreno:careful", "NewReno of Linux 2.4"),
        ),
        runs=1,
        checks=(
            has("linux", UNNEEDED, Bounds(high=1), 1),
            has("linux", FAST, Bounds(0, 0), 1),
            has("linux @ no probes", UNNEEDED, Bounds(high=1), 1),
            has("linux @ none of them", UNNEEDED, Bounds(low=15), 1),
        ),
    ),
    Place(
        "delays",
        "frto2002-delays",
        "Sudden delays on a slow wireless link",
        "report C-2002-07, table 1",
        "Most retransmissions are unneeded; F-RTO and Eifel avoid them.",
        (CONVENTIONAL, SACK, FRTO, EIFEL),
        checks=(
            has("linux", UNNEEDED, Bounds(high=8)),
            has("linux @ none of them", UNNEEDED, Bounds(low=20)),
            has("linux", GONE, Bounds(low=30)),
            against("sack", TIME, Bounds(high=1, strict=True)),
            against("sack+frto", TIME, Bounds(low=1, strict=True)),
        ),
    ),
    Place(
        "losses",
        "frto2002-loss",
        "Random losses of 5 %",
        "report C-2002-07, table 2",
        "F-RTO does no harm where packets are lost.",
        (CONVENTIONAL, SACK, FRTO),
        checks=(
            has("linux", EXPIRED, Bounds(high=1)),
            against("sack", TIME, Bounds(high=0.7)),
        ),
    ),
    Place(
        "outages",
        "frto2002-outages",
        "Outages, in which all is lost",
        "report C-2002-07, table 3",
        "Timeouts are right here; lost acknowledgments make Eifel err.",
        (CONVENTIONAL, SACK, FRTO, EIFEL),
        checks=(
            against("newreno:careful", TIME, Bounds(0.75, 1.05)),
            against("sack+eifel:rfc3522+full", TIME, Bounds(high=0.6)),
            has("linux", EXPIRED, Bounds(low=3)),
        ),
    ),
    Place(
        "local-retransmissions",
        "arq2002-lan",
        "A link that retransmits for itself, out of order",
        "Pan, Mark and Shen 2002, figures 8 and 10",
        "Reordered packets are marked lost, unless duplicates are reported and undone.",
        (
            Variant("reno", "Reno of 2002"),
            Variant("sack:ns2", "SACK of 2002"),
            Variant(
                "sack:ns2+dsack:causes",
                "SACK with D-SACK of 2002",
                set={"receiver.dsack": "true"},
            ),
        ),
        speed=ACKED,
        endless=True,
        runs=20,
        set={
            "link.wireless.delay": "100 ms",
            "link.wireless.backward.delay": "200 ms",
            "link.wireless.bad.loss": "0.5",
        },
        quick_set=QUICK,
        checks=(
            against("sack:ns2", ACKED, Bounds(low=2)),
            has("linux", FAST, Bounds(low=20)),
        ),
    ),
    Place(
        "minimum-rto",
        "minrto2007-a",
        "A minimum timeout far above the round trip",
        "Psaras and Tsaoussidis 2007, figure 7",
        "After a loss that only the timer finds, a flow is idle for twenty round trips.",
        (
            Variant("sack+frto", "Linux of 2007"),
            Variant("sack+frto+minrto", "with their minimum"),
        ),
        speed=GOODPUT,
        endless=True,
        runs=20,
        quick_set={"duration": "20 s"},
        checks=(
            against("sack+frto", GOODPUT, Bounds(low=1.05)),
            against("sack+frto", EXPIRED, Bounds(high=0.2)),
        ),
    ),
)

EXPERIMENTS = tuple(place.experiment() for place in PLACES)
"""An experiment per problem; `reproduce` runs them after the papers."""
