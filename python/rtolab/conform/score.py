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
        end: the number of the last packet of any size.
        copied_bytes: datagrams that are equal to an earlier one that arrived, in bytes.
    """

    took_s: float
    spread_s: tuple[float, float]
    arrived_bytes: int
    tail: int
    end: int = 0
    copied_bytes: int = 0

    @property
    def shows_copies(self) -> bool:
        """Does the content of datagrams show retransmissions?

        If most are equal where nothing is lost, this stack's data is equal, not retransmitted.
        """
        return 2 * self.copied_bytes < self.arrived_bytes

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
            min(run.end for run in runs),
            max(run.copied_bytes for run in runs),
        )


@dataclass(frozen=True)
class Score:
    """The outcome of a scenario: the run with the median score.

    Attributes:
        id: the id of the scenario.
        says: a description of the scenario.
        transfer: its transfers in words: their path, number and size.
        ended: recovered, hung or failed.
        score: 0 to 100; see `worth`.
        took_s: the time of the transfer, in seconds.
        path_s: the time that the undisturbed path needs, equal for all stacks, in seconds.
        undisturbed_s: the time of the reference run of this stack; `None` if that did not end.
        excess_s: the excess over the reference run, at least 0; `None` unless recovered.
        link_s: the part of the excess that the link causes: it holds or loses all, or is slower.
            `None` unless recovered.
        sent_bytes: bytes in the data direction, with all headers.
        unneeded_bytes: unneeded retransmissions, in bytes; for encrypted datagrams an upper bound,
            which includes the headers of additional packets.
        runs: the scores of all runs, lowest first.
        doubts: reasons why another run may have another score.
        said: the last output line of the client and the server if the transfer failed.
        exit_status: the exit status of a client that failed; else `None`.
        resume_s: see `TransferMeasurement`, as the following.
        declared_losses: packets that were declared lost.
        spurious_losses: those of them that arrived.
        episodes: recovery episodes, or fast retransmits.
        spurious_episodes: those of them that were spurious.
        timeouts: probe timeouts, or retransmission timeouts.
        spurious_timeouts: those of them that were spurious.
        is_datagrams: are the packets UDP datagrams?
        evidence: the folder with the captures and logs of the run; empty if they are not kept.
    """

    id: str
    says: str
    transfer: str
    ended: str
    score: float
    took_s: float
    path_s: float
    undisturbed_s: float | None
    excess_s: float | None
    link_s: float | None
    sent_bytes: int
    unneeded_bytes: int
    runs: tuple[float, ...] = ()
    doubts: tuple[str, ...] = ()
    said: str = ""
    exit_status: int | None = None
    resume_s: float | None = None
    declared_losses: int | None = None
    spurious_losses: int | None = None
    episodes: int | None = None
    spurious_episodes: int | None = None
    timeouts: int | None = None
    spurious_timeouts: int | None = None
    is_datagrams: bool = False
    evidence: str = ""

    @property
    def outcome(self) -> str:
        """Its outcome, with the exit status of a failed client."""
        if self.exit_status is None:
            return self.ended
        return f"{self.ended} (exit status {self.exit_status})"


def score(
    scenario: Scenario, runs: Sequence[TransferMeasurement], reference: UndisturbedTransfer
) -> Score:
    """The score of a scenario against its reference run: the median of the runs without doubts."""
    scored = sorted(
        ((_scored(scenario, run, reference), run) for run in runs), key=lambda one: one[0].score
    )
    undoubted = [one for one in scored if not one[0].doubts] or scored
    chosen, run = undoubted[(len(undoubted) - 1) // 2]
    scattered = _scattered([one for one, _ in undoubted])
    doubts = (*chosen.doubts, *scattered, *_unsteady(scenario, (chosen, run), reference))
    every = tuple(one.score for one, _ in scored)
    return replace(chosen, runs=every, doubts=doubts)


def without_reference(scenario: Scenario, run: TransferMeasurement, why: str) -> Score:
    """The score of a scenario whose undisturbed transfer did not end: 0.

    Args:
        scenario: the scenario, which was not run.
        run: the undisturbed transfer.
        why: what is wrong with it.
    """
    return Score(
        id=scenario.id,
        says=scenario.says,
        transfer=scenario.transfer,
        ended=(run.ended if run.ended is TransferOutcome.HUNG else TransferOutcome.FAILED).value,
        score=0.0,
        took_s=run.took_s,
        path_s=scenario.path_s,
        undisturbed_s=None,
        excess_s=None,
        link_s=None,
        sent_bytes=run.sent_bytes,
        unneeded_bytes=0,
        runs=(0.0,),
        said=why,
        exit_status=run.exit_status,
        is_datagrams=run.is_datagrams,
        evidence=run.evidence,
    )


def link_part(scenario: Scenario, run: TransferMeasurement, undisturbed_s: float) -> float:
    """The part of the excess over a reference run that the link causes, in seconds.

    It is no longer than the excess: data goes on while acknowledgments are held, and a stack that
    is slower than the link does not notice that the link becomes slower.
    """
    link_s = run.held_s + scenario.slower_s(undisturbed_s)
    return min(link_s, max(run.took_s - undisturbed_s, 0.0))


def _scored(scenario: Scenario, run: TransferMeasurement, reference: UndisturbedTransfer) -> Score:
    unneeded = run.unneeded_bytes
    if unneeded is None:
        # Copies beyond the data of the undisturbed transfer had arrived before. The excess is an
        # upper bound: it includes the headers of additional packets, which need no copies.
        unneeded = max(run.arrived_bytes - reference.arrived_bytes, 0)
        if reference.shows_copies:
            # Equal datagrams are copies, also those that a queue drops.
            unneeded = max(unneeded, run.copied_bytes)
    value, excess_s, link_s = 0.0, None, None
    if run.ended is TransferOutcome.RECOVERED:
        excess_s = max(run.took_s - reference.took_s, 0.0)
        link_s = link_part(scenario, run, reference.took_s)
        value = worth((run.took_s, link_s), scenario.path_s, (unneeded, scenario.capacity))
    return Score(
        id=scenario.id,
        says=scenario.says,
        transfer=scenario.transfer,
        ended=run.ended.value,
        score=value,
        took_s=run.took_s,
        path_s=scenario.path_s,
        undisturbed_s=reference.took_s,
        excess_s=excess_s,
        link_s=link_s,
        sent_bytes=run.sent_bytes,
        unneeded_bytes=unneeded,
        doubts=(*run.doubts, *_missed(scenario, run)),
        said=run.said,
        exit_status=run.exit_status,
        resume_s=run.resume_s,
        declared_losses=run.declared_losses,
        spurious_losses=run.spurious_losses,
        episodes=run.episodes,
        spurious_episodes=run.spurious_episodes,
        timeouts=run.timeouts,
        spurious_timeouts=run.spurious_timeouts,
        is_datagrams=run.is_datagrams,
        evidence=run.evidence,
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


def _unsteady(
    scenario: Scenario,
    chosen: tuple[Score, TransferMeasurement],
    reference: UndisturbedTransfer,
) -> tuple[str, ...]:
    """A doubt if the score depends on which reference run is the median."""
    one, run = chosen
    if one.ended != TransferOutcome.RECOVERED:
        return ()
    sizes = one.unneeded_bytes, scenario.capacity
    least, most = sorted(
        worth((one.took_s, link_part(scenario, run, each_s)), one.path_s, sizes)
        for each_s in reference.spread_s
    )
    if most - least <= SCATTER:
        return ()
    low, high = reference.spread_s
    spread = f"undisturbed the transfer took {low:.2f} to {high:.2f} s (quartiles)"
    return (f"{spread}, which makes scores of {least:.0f} to {most:.0f}",)


def worth(times_s: tuple[float, float], path_s: float, sizes: tuple[int, int]) -> float:
    """The score: 100 for a stack as fast as the link allows, without unneeded retransmissions.

    It is the product of two shares: the time that the undisturbed path needs over this run's time
    without the link's part, and the capacity of the path over that capacity plus the unneeded
    bytes. A stack whose unneeded retransmissions fill the path once scores half.

    Args:
        times_s: the time of the run, and the part of it that the link caused.
        path_s: the time that the undisturbed path needs, equal for all stacks.
        sizes: unneeded bytes, and the capacity of the path in bytes.
    """
    (took_s, link_s), (unneeded, capacity) = times_s, sizes
    return 100 * path_s / max(took_s - link_s, path_s) * capacity / (capacity + unneeded)


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
