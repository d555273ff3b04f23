"""What a stack is worth in a scenario, and whether it became worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean, median
from typing import TYPE_CHECKING

from rtolab.conform.measure import Ended, Measured
from rtolab.conform.suite import QUEUE, RATE_BPS, ROUND_TRIP_S

if TYPE_CHECKING:
    from rtolab.conform.suite import Scenario

PATH = round(RATE_BPS / 8 * ROUND_TRIP_S) + QUEUE
"""What the path holds, in bytes: a round trip at its rate, and a full queue."""


SCATTER = 5.0
"""By so many points a score may scatter before it is doubted."""


@dataclass(frozen=True)
class Twin:
    """The undisturbed transfer: the medians of a few.

    Attributes:
        took_s: how long it took.
        spread_s: the quartiles of that.
        arrived_bytes: what arrived of the data's direction, with all headers.
        tail: the number of the last packet with data.
    """

    took_s: float
    spread_s: tuple[float, float]
    arrived_bytes: int
    tail: int

    @classmethod
    def of(cls, runs: Sequence[Measured]) -> Twin:
        """The medians of runs that all came to their end."""
        times = sorted(run.took_s for run in runs)
        return cls(
            median(times),
            (times[len(times) // 4], times[-1 - len(times) // 4]),
            round(median(run.arrived_bytes for run in runs)),
            # The first that lost nothing would do; the least is never behind the end.
            min(run.tail for run in runs),
        )


@dataclass(frozen=True)
class Score:
    """A scenario's outcome: of several runs that of the median score.

    Attributes:
        id: the scenario's.
        says: what happens in it.
        ended: recovered, hung or failed.
        score: 0 to 100; see `worth`.
        took_s: the transfer, in seconds.
        lost_s: how much longer it took than the undisturbed twin.
        link_s: the part of that which the link itself took: it held or lost all, or was slower.
        sent_bytes: in the data's direction, with all headers.
        unneeded_bytes: sent although it had arrived.
        runs: the scores of all runs, the least first.
        doubts: why another run could have another score.
        said: what a failed command said last.
    """

    id: str
    says: str
    ended: str
    score: float
    took_s: float
    lost_s: float
    link_s: float
    sent_bytes: int
    unneeded_bytes: int
    runs: tuple[float, ...] = ()
    doubts: tuple[str, ...] = ()
    said: str = ""


def score(scenario: Scenario, runs: Sequence[Measured], twin: Twin) -> Score:
    """What runs of a scenario are worth, beside its twin: the median of those without doubts."""
    scored = sorted((_scored(scenario, run, twin) for run in runs), key=lambda one: one.score)
    good = [one for one in scored if not one.doubts] or scored
    chosen = good[(len(good) - 1) // 2]
    doubts = (*chosen.doubts, *_scattered(good), *_unsteady(chosen, twin))
    return replace(chosen, runs=tuple(one.score for one in scored), doubts=doubts)


def _scored(scenario: Scenario, run: Measured, twin: Twin) -> Score:
    unneeded = run.unneeded_bytes
    if unneeded is None:
        # What arrived beyond what arrives without disturbance was there already.
        unneeded = max(run.arrived_bytes - twin.arrived_bytes, 0)
    link_s = run.held_s + scenario.slower_s(twin.took_s)
    value = 0.0
    if run.ended is Ended.RECOVERED:
        value = worth((run.took_s, link_s), twin.took_s, unneeded)
    return Score(
        id=scenario.id,
        says=scenario.says,
        ended=run.ended.value,
        score=value,
        took_s=run.took_s,
        lost_s=run.took_s - twin.took_s,
        link_s=link_s,
        sent_bytes=run.sent_bytes,
        unneeded_bytes=unneeded,
        doubts=(*run.doubts, *_missed(scenario, run)),
        said=run.said,
    )


def _missed(scenario: Scenario, run: Measured) -> tuple[str, ...]:
    """A doubt where most of the disturbance came after the transfer."""
    due_s = scenario.disturbed_s
    if run.ended is not Ended.RECOVERED or run.held_s >= due_s / 2:
        return ()
    doubt = f"of {due_s:.2f} s in which the link was disturbed {run.held_s:.2f} s fell into the "
    return (f"{doubt}transfer",)


def _scattered(scores: Sequence[Score]) -> tuple[str, ...]:
    """A doubt where the same links gave other scores."""
    least, most = scores[0].score, scores[-1].score
    if most - least <= SCATTER:
        return ()
    return (f"{len(scores)} runs on the same seed had scores of {least:.0f} to {most:.0f}",)


def _unsteady(one: Score, twin: Twin) -> tuple[str, ...]:
    """A doubt where the score would be another beside another run of the twin."""
    if one.ended != Ended.RECOVERED:
        return ()
    least, most = (
        worth((one.took_s, one.link_s), twin_s, one.unneeded_bytes) for twin_s in twin.spread_s
    )
    if most - least <= SCATTER:
        return ()
    low, high = twin.spread_s
    twins = f"undisturbed the transfer took {low:.2f} to {high:.2f} s (quartiles)"
    return (f"{twins}, which makes scores of {least:.0f} to {most:.0f}",)


def worth(times_s: tuple[float, float], twin_s: float, unneeded: int) -> float:
    """100 for a stack that is as fast as the link allows and sends nothing unneeded.

    The product of two shares: the twin's time divided by the run's time without the link's part,
    and what the path holds divided by that plus the unneeded bytes. A stack that retransmits a
    whole path unneeded scores half.

    Args:
        times_s: what the run took, and of that what the link took.
        twin_s: the time of the twin.
        unneeded: bytes.
    """
    took_s, link_s = times_s
    return 100 * twin_s / max(took_s - link_s, twin_s) * PATH / (PATH + unneeded)


def overall(scores: Sequence[Score]) -> float:
    """The mean: every scenario weighs the same."""
    return fmean(one.score for one in scores) if scores else 0.0


class Verdict(StrEnum):
    """A scenario beside an earlier result."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    UNDECIDABLE = "undecidable"


@dataclass(frozen=True)
class Change:
    """A scenario now and in an earlier result.

    Attributes:
        id: the scenario's.
        before: its score then.
        now: its score now.
        verdict: `undecidable` where the score is doubted.
    """

    id: str
    before: float
    now: float
    verdict: Verdict


def changes(scores: Sequence[Score], before: Mapping[str, float], margin: float) -> list[Change]:
    """Of every scenario that both have; what differs by no more than `margin` is the same."""
    return [
        Change(one.id, before[one.id], one.score, _verdict(one, before[one.id], margin))
        for one in scores
        if one.id in before
    ]


def _verdict(one: Score, before: float, margin: float) -> Verdict:
    if one.doubts:
        return Verdict.UNDECIDABLE
    if one.score < before - margin:
        return Verdict.WORSE
    return Verdict.BETTER if one.score > before + margin else Verdict.SAME
