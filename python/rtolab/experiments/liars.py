"""Throughput that a misbehaving receiver gains over an honest one, per sender."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rtolab.experiments.base import (
    THROUGHPUT,
    Bounds,
    Cell,
    Check,
    Experiment,
    Table,
    Variant,
    interpreted,
)
from rtolab.experiments.measured import ExperimentRuns, ratio
from rtolab.stats import Estimate, ratio_of_medians

RUNS, FEW = 100, 10

LIES = {
    "old-echo": "old echoes",
    "false-dsack": "false D-SACK",
    "ack-division": "divided ACKs",
    "spoofed-duplicates": "spoofed duplicates",
    "optimistic": "optimistic ACKs",
}
"""Names of the values of `receiver.lie`."""

BOTH = {
    "receiver.sack": "true",
    "receiver.dsack": "true",
    "receiver.timestamps": "true",
    "receiver.ack_every": "1",
    "link.radio.loss": "0.01",
}
"""Settings of every receiver; the honest one acknowledges each segment, too."""
STAMPED = {"tcp.timestamps": "true"}
BY_BYTES = {"tcp.window.avoidance": "byte-counting"}


@dataclass(frozen=True)
class Victim:
    """A sender that faces a misbehaving receiver: specification, title, and required settings."""

    sender: str
    label: str
    needs: Mapping[str, str]

    def variant(self, lie: str | None) -> Variant:
        """The sender with this kind of receiver, or with an honest one."""
        behaviour = {} if lie is None else {"receiver.lie": lie}
        return Variant(
            self.sender, self.label, self._condition(lie), {**BOTH, **self.needs, **behaviour}
        )

    def _condition(self, lie: str | None) -> str:
        counted = "bytes counted, " if self.needs == BY_BYTES else ""
        return counted + (lie or "honest")


BELIEVERS = (
    Victim("newreno:careful", "NewReno", {}),
    Victim("sack", "SACK", {}),
    Victim("sack", "SACK, bytes counted", BY_BYTES),
    Victim("sack+frto", "SACK, F-RTO", {}),
    Victim("sack+eifel:rfc3522", "SACK, Eifel", STAMPED),
    Victim("sack+eifel:safe", "SACK, safe Eifel", STAMPED),
    Victim("sack+dsack", "SACK, D-SACK of RFC 3708", {}),
    Victim("sack+dsack:linux", "SACK, D-SACK of Linux", {}),
    Victim("sack+dualrtt", "SACK, DualRTT", {}),
    Victim("rack", "RACK-TLP", {}),
    Victim("linux", "Linux 6", {}),
    Victim("freebsd-14", "FreeBSD 14", {}),
    Victim("gvisor", "gVisor", {}),
)

NOTHING = Bounds(high=1.1)
"""No gain: a rate relative to the honest receiver's, within the scatter of runs."""


def gains(lie: str, of: Sequence[Victim], bounds: Bounds) -> tuple[Check, ...]:
    """The rate of a misbehaving receiver over that of an honest one lies within bounds."""
    return tuple(
        ratio(
            f"{LIES[lie]}: rate, lying / honest, {believer.label}",
            THROUGHPUT,
            (believer.variant(lie).key, believer.variant(None).key),
            {FEW: bounds},
        )
        for believer in of
    )


def tables(measured: ExperimentRuns) -> tuple[Table, ...]:
    """Gains by kind of lie and sender."""
    rows = tuple(
        (believer.label, *(_gain(measured, believer, lie) for lie in LIES))
        for believer in BELIEVERS
    )
    caption = (
        "The rate of a misbehaving receiver, in percent of an honest one's: ratios of medians "
        "(95 % intervals)"
    )
    return (Table(caption, ("sender", *LIES.values()), rows, digits=0),)


def _gain(measured: ExperimentRuns, believer: Victim, lie: str) -> Cell:
    honest = measured.values(believer.variant(None).key, THROUGHPUT)
    liar = measured.values(believer.variant(lie).key, THROUGHPUT)
    hung = measured.runs - liar.size
    if liar.size < measured.runs / 2 or not np.median(honest):
        return f"{hung} of {measured.runs} did not end"
    found: Estimate = ratio_of_medians(liar, honest)
    return found


EXPERIMENT = Experiment(
    id="liars/gain",
    title="What a misbehaving receiver gains",
    source="Savage et al. 1999; RFC 3522 section 3.4, RFC 3708 section 5, RFC 5681 section 9",
    says=(
        "Receivers can deceive an Eifel that accepts any old echo, an undo by D-SACK, and a "
        "window that grows by acknowledgments rather than bytes."
    ),
    did=(
        "A link that loses 1 % and stalls once for 3 s; the same transfers with receivers that "
        "make one false claim each, and with an honest one that acknowledges as often."
    ),
    scenario="kernel-stall",
    variants=tuple(b.variant(lie) for b in BELIEVERS for lie in (None, *LIES)),
    metrics=(THROUGHPUT,),
    checks=(
        *gains("old-echo", BELIEVERS[:4], NOTHING),
        *gains("old-echo", [b for b in BELIEVERS if b.label == "SACK, Eifel"], Bounds(low=1.3)),
        *gains("false-dsack", [b for b in BELIEVERS if "D-SACK" not in b.label], Bounds(high=1.3)),
        *gains("ack-division", [b for b in BELIEVERS if b.needs == BY_BYTES], NOTHING),
        *gains("spoofed-duplicates", BELIEVERS[1:], NOTHING),
    ),
    tables=tables,
    assumptions=(
        interpreted("loss", "1 %", "so that there are losses to conceal"),
        interpreted(
            "lies", "receiver.lie", "eight pieces, three repetitions, eight segments ahead"
        ),
    ),
    runs=RUNS,
    quick_runs=FEW,
    ours=True,
)
EXPERIMENTS = (EXPERIMENT,)
"""`reproduce` runs it after all others."""
