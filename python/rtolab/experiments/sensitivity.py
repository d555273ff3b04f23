"""Sensitivity of the verdicts to other reasonable assumptions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rtolab.experiments.base import Alternative, Experiment, Judgement, Verdict
from rtolab.experiments.measured import ExperimentRuns

FEWER = 5
"""The factor by which alternatives have fewer runs."""

Survival = Literal["kept", "changed", "undecided"]


@dataclass(frozen=True)
class CheckComparison:
    """A check under an alternative.

    Attributes:
        before: its verdict on the experiment itself.
        judged: its outcome under the alternative.
        leaning: the verdict by the experiment's own bounds if the runs are too few to decide; else
            the verdict.
    """

    before: Verdict
    judged: Judgement
    leaning: Verdict

    def becomes(self) -> str:
        """The new verdict in words."""
        decided = self.survival != "undecided"
        return f"{self.before} {'becomes' if decided else 'leans to'} {self.leaning}"

    @property
    def survival(self) -> Survival:
        """Does the verdict survive?"""
        if self.judged.verdict == "undecidable":
            return "undecided"
        return "kept" if self.judged.verdict == self.before else "changed"


@dataclass(frozen=True)
class AlternativeResult:
    """An alternative that was run.

    Attributes:
        alternative: the alternative.
        runs: the runs of each variant.
        checks: in the order of the experiment.
    """

    alternative: Alternative
    runs: int
    checks: tuple[CheckComparison, ...]

    def those(self, survival: Survival) -> list[CheckComparison]:
        """The checks with that outcome."""
        return [check for check in self.checks if check.survival == survival]

    def otherwise(self) -> list[CheckComparison]:
        """The checks whose verdict changes, or would change by its leaning."""
        return [check for check in self.checks if check.leaning != check.before]

    def tally(self) -> str:
        """The number of checks that keep their verdict, in words."""
        of, kept = len(self.checks), len(self.those("kept"))
        said = [f"{kept} of {of} checks keep their verdict", f"{len(self.those('changed'))} change"]
        if open_ := self.those("undecided"):
            same = sum(check.leaning == check.before for check in open_)
            few = f"{len(open_)} cannot be decided by {self.runs} runs"
            said.append(f"{few} ({same} of them lean the same way)")
        return ", ".join(said)


def runs_for(experiment: Experiment, runs: int) -> int:
    """The runs of each variant under an alternative, given those of the experiment."""
    return min(runs, max(experiment.quick_runs, runs // FEWER))


def tried(
    alternative: Alternative, before: Sequence[Judgement], measured: ExperimentRuns, runs: int
) -> AlternativeResult:
    """Judges the runs of an alternative.

    Args:
        alternative: the alternative.
        before: the outcomes of the experiment itself.
        measured: the runs of the alternative.
        runs: the runs of the experiment itself.
    """
    as_before = replace(measured, runs=runs)
    compared = []
    for check, first in zip(measured.experiment.checks, before, strict=True):
        judged = check.judge(measured)
        decided = judged.verdict != "undecidable"
        leaning = judged.verdict if decided else check.judge(as_before).verdict
        compared.append(CheckComparison(first.verdict, judged, leaning))
    return AlternativeResult(alternative, measured.runs, tuple(compared))
