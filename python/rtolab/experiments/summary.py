"""Counts of passed checks by paper and kind of claim."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from rtolab.experiments.base import Kind, Verdict
from rtolab.experiments.reproduce import Reproduction

KINDS: tuple[Kind, ...] = get_args(Kind)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Line:
    """The checks of one paper, or of all.

    Attributes:
        paper: its id; empty for all papers.
        experiments: the number of experiments.
        counts: the number of checks by kind and verdict.
    """

    paper: str
    experiments: int
    counts: Counter[tuple[Kind, Verdict]]

    def of_kind(self, kind: Kind) -> tuple[int, int]:
        """The number of passed checks of a kind, and of all."""
        return self.counts[kind, "pass"], sum(self.counts[kind, verdict] for verdict in VERDICTS)

    def with_verdict(self, verdict: Verdict) -> int:
        """The number of checks with that verdict."""
        return sum(self.counts[kind, verdict] for kind in KINDS)

    @property
    def checks(self) -> int:
        """The number of checks."""
        return sum(self.counts.values())


def summary(reproductions: Sequence[Reproduction]) -> list[Line]:
    """A line per paper, in order, and a last one for all if there are several papers."""
    papers = list(dict.fromkeys(done.experiment.paper for done in reproductions))
    lines = [
        _line(paper, (done for done in reproductions if done.experiment.paper == paper))
        for paper in papers
    ]
    return [*lines, _line("", reproductions)] if len(lines) > 1 else lines


def _line(paper: str, reproductions: Iterable[Reproduction]) -> Line:
    counts: Counter[tuple[Kind, Verdict]] = Counter()
    experiments = 0
    for done in reproductions:
        experiments += 1
        counts.update((check.kind, check.verdict) for check in done.checks)
    return Line(paper, experiments, counts)
