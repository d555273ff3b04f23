"""Counts of passed checks by paper, standing and kind of claim."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from rtolab.experiments.base import Kind, Standing, Verdict
from rtolab.experiments.reproduce import PAPERS, Reproduction

KINDS: tuple[Kind, ...] = get_args(Kind)
STANDINGS: tuple[Standing, ...] = get_args(Standing)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Line:
    """The checks of one paper, or of all.

    Attributes:
        paper: its id; empty for all papers.
        experiments: the number of experiments.
        counts: the number of checks by standing, kind and verdict.
    """

    paper: str
    experiments: int
    counts: Counter[tuple[Standing, Kind, Verdict]]

    def of_kind(self, kind: Kind) -> tuple[int, int]:
        """The number of the paper's passed checks of a kind, and of all of them."""
        return self._passing(PAPERS, (kind,))

    def of_standing(self, *standings: Standing) -> tuple[int, int]:
        """The number of passed checks of these standings, and of all of them."""
        return self._passing(standings, KINDS)

    def with_verdict(self, verdict: Verdict) -> int:
        """The number of the paper's checks with that verdict."""
        return sum(self.counts[standing, kind, verdict] for standing in PAPERS for kind in KINDS)

    def _passing(self, standings: Sequence[Standing], kinds: Sequence[Kind]) -> tuple[int, int]:
        found: Counter[Verdict] = Counter()
        for (standing, kind, verdict), count in self.counts.items():
            if standing in standings and kind in kinds:
                found[verdict] += count
        return found["pass"], found.total()


def summary(reproductions: Sequence[Reproduction]) -> list[Line]:
    """A line per paper, in order, and a last one for all if there are several papers."""
    papers = list(dict.fromkeys(done.experiment.paper for done in reproductions))
    lines = [
        _line(paper, (done for done in reproductions if done.experiment.paper == paper))
        for paper in papers
    ]
    return [*lines, _line("", reproductions)] if len(lines) > 1 else lines


@dataclass(frozen=True)
class Causes:
    """Checks that fail or are not reproducible as printed, by what is known of the cause.

    Attributes:
        demonstrated: the number of checks whose cause a command shows.
        unknown: the number of checks whose cause is not known, where a command repeats what was
            tried.
        reasoned: the number of the others.
    """

    demonstrated: int
    unknown: int
    reasoned: int

    def __str__(self) -> str:
        return (
            f"Their causes: {self.demonstrated} demonstrated by a command, {self.unknown} not "
            f"known, {self.reasoned} reasoned, not demonstrated."
        )

    def __bool__(self) -> bool:
        return self.demonstrated + self.unknown + self.reasoned > 0


def causes(reproductions: Iterable[Reproduction]) -> Causes:
    """How many causes of missed checks are demonstrated."""
    missed = [check for done in reproductions for check in done.checks if check.is_missed]
    shown = [check.shown_by.is_cause for check in missed if check.shown_by]
    return Causes(sum(shown), len(shown) - sum(shown), len(missed) - len(shown))


def _line(paper: str, reproductions: Iterable[Reproduction]) -> Line:
    counts: Counter[tuple[Standing, Kind, Verdict]] = Counter()
    experiments = 0
    for done in reproductions:
        experiments += 1
        counts.update((check.standing, check.kind, check.verdict) for check in done.checks)
    return Line(paper, experiments, counts)
