"""Scores of a stack, and comparison with a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean, median
from typing import TYPE_CHECKING

from rtolab.conform.measure import TransferMeasurement, TransferOutcome

if TYPE_CHECKING:
    from rtolab.conform.scenario import Scenario

SCATTER = 5.0
"""The largest scatter of a score without doubt, in points."""


@dataclass(frozen=True)
class UndisturbedTransfer:
    """The transfer without disturbances: medians of several runs.

    Attributes:
        took_s: its time, in seconds.
        spread_s: the quartiles of the time.
        arrived_bytes: bytes that arrived in the data direction, with all headers.
        tail: the number of the last packet with data.
    """

    took_s: float
    spread_s: tuple[float, float]
    arrived_bytes: int
    tail: int

    @classmethod
    def of(cls, runs: Sequence[TransferMeasurement]) -> UndisturbedTransfer:
        """The medians of completed runs."""
        times = sorted(run.took_s for run in runs)
        return cls(
            median(times),
            (times[len(times) // 4], times[-1 - len(times) // 4]),
            round(median(run.arrived_bytes for run in runs)),
            # The smallest number is never beyond the end of another run.
            min(run.tail for run in runs),
        )


@dataclass(frozen=True)
class Score:
    """The outcome of a scenario: the run with the median score.

    Attributes:
        id: the id of the scenario.
        says: a description of the scenario.
        ended: recovered, hung or failed.
        score: 0 to 100; see `worth`.
        took_s: the time of the transfer, in seconds.
        lost_s: the excess over the reference run, in seconds.
        link_s: the part of the excess that the link causes: it holds or loses all, or is slower.
        sent_bytes: bytes in the data direction, with all headers.
        unneeded_bytes: unneeded retransmissions, in bytes.
        runs: the scores of all runs, lowest first.
        doubts: reasons why another run may have another score.
        said: the last output line of a failed command.
        resume_s: see `TransferMeasurement`, as the following.
        declared_losses: packets that were declared lost.
        spurious_losses: those of them that arrived.
        recoveries: recovery episodes, or fast retransmits.
        spurious_recoveries: those of them that were spurious.
        timeouts: probe timeouts, or retransmission timeouts.
        spurious_timeouts: those of them that were spurious.
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
    resume_s: float | None = None
    declared_losses: int | None = None
    spurious_losses: int | None = None
    recoveries: int | None = None
    spurious_recoveries: int | None = None
    timeouts: int | None = None
    spurious_timeouts: int | None = None


def score(
    scenario: Scenario, runs: Sequence[TransferMeasurement], reference: UndisturbedTransfer
) -> Score:
    """The score of a scenario against its reference run: the median of the runs without doubts."""
    scored = sorted((_scored(scenario, run, reference) for run in runs), key=lambda one: one.score)
    undoubted = [one for one in scored if not one.doubts] or scored
    chosen = undoubted[(len(undoubted) - 1) // 2]
    doubts = (*chosen.doubts, *_scattered(undoubted), *_unsteady(scenario, chosen, reference))
    return replace(chosen, runs=tuple(one.score for one in scored), doubts=doubts)


def _scored(scenario: Scenario, run: TransferMeasurement, reference: UndisturbedTransfer) -> Score:
    unneeded = run.unneeded_bytes
    if unneeded is None:
        # Data beyond that of the undisturbed transfer had arrived before.
        unneeded = max(run.arrived_bytes - reference.arrived_bytes, 0)
    link_s = run.held_s + scenario.slower_s(reference.took_s)
    value = 0.0
    if run.ended is TransferOutcome.RECOVERED:
        value = worth((run.took_s, link_s), reference.took_s, (unneeded, scenario.capacity))
    return Score(
        id=scenario.id,
        says=scenario.says,
        ended=run.ended.value,
        score=value,
        took_s=run.took_s,
        lost_s=run.took_s - reference.took_s,
        link_s=link_s,
        sent_bytes=run.sent_bytes,
        unneeded_bytes=unneeded,
        doubts=(*run.doubts, *_missed(scenario, run)),
        said=run.said,
        resume_s=run.resume_s,
        declared_losses=run.declared_losses,
        spurious_losses=run.spurious_losses,
        recoveries=run.recoveries,
        spurious_recoveries=run.spurious_recoveries,
        timeouts=run.timeouts,
        spurious_timeouts=run.spurious_timeouts,
    )


def _missed(scenario: Scenario, run: TransferMeasurement) -> tuple[str, ...]:
    """A doubt if most of the disturbance came after the transfer."""
    due_s = scenario.disturbed_s
    if run.ended is not TransferOutcome.RECOVERED or run.held_s >= due_s / 2:
        return ()
    doubt = f"of {due_s:.2f} s in which the link was disturbed {run.held_s:.2f} s fell into the "
    return (f"{doubt}transfer",)


def _scattered(scores: Sequence[Score]) -> tuple[str, ...]:
    """A doubt if the scores of the same links differ."""
    least, most = scores[0].score, scores[-1].score
    if most - least <= SCATTER:
        return ()
    return (f"{len(scores)} runs on the same seed had scores of {least:.0f} to {most:.0f}",)


def _unsteady(scenario: Scenario, one: Score, reference: UndisturbedTransfer) -> tuple[str, ...]:
    """A doubt if the score depends on which reference run is the median."""
    if one.ended != TransferOutcome.RECOVERED:
        return ()
    times_s, sizes = (one.took_s, one.link_s), (one.unneeded_bytes, scenario.capacity)
    least, most = (worth(times_s, reference_s, sizes) for reference_s in reference.spread_s)
    if most - least <= SCATTER:
        return ()
    low, high = reference.spread_s
    spread = f"undisturbed the transfer took {low:.2f} to {high:.2f} s (quartiles)"
    return (f"{spread}, which makes scores of {least:.0f} to {most:.0f}",)


def worth(times_s: tuple[float, float], reference_s: float, sizes: tuple[int, int]) -> float:
    """The score: 100 for a stack as fast as the link allows, without unneeded retransmissions.

    It is the product of two shares: the time of the reference run over this run's time without the
    link's part, and the capacity of the path over that capacity plus the unneeded bytes. A stack
    whose unneeded retransmissions fill the path once scores half.

    Args:
        times_s: the time of the run, and the part of it that the link caused.
        reference_s: the time of the reference run.
        sizes: unneeded bytes, and the capacity of the path in bytes.
    """
    (took_s, link_s), (unneeded, capacity) = times_s, sizes
    return 100 * reference_s / max(took_s - link_s, reference_s) * capacity / (capacity + unneeded)


def overall(scores: Sequence[Score]) -> float:
    """The mean score of all scenarios."""
    return fmean(one.score for one in scores) if scores else 0.0


class Verdict(StrEnum):
    """Verdicts on a scenario against a baseline."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    UNDECIDABLE = "undecidable"


@dataclass(frozen=True)
class Change:
    """A scenario now and in the baseline.

    Attributes:
        id: the id of the scenario.
        before: the score in the baseline.
        now: the score now.
        verdict: `undecidable` if the score has doubts.
    """

    id: str
    before: float
    now: float
    verdict: Verdict


def changes(scores: Sequence[Score], before: Mapping[str, float], margin: float) -> list[Change]:
    """The changes of all scenarios in both; scores within `margin` count as equal."""
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
