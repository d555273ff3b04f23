"""Measurements, scores and reports of stacks that no test ran."""

from rtolab.conform import Scenario, Score, Suite, changes
from rtolab.conform.measure import TransferMeasurement, TransferOutcome
from rtolab.conform.report import Report
from rtolab.conform.score import UndisturbedTransfer, score

CLEAN = Scenario("clean", Suite.STALLS, "nothing happens")
STALL = Scenario("stall", Suite.STALLS, "held")
PATH = CLEAN.capacity
NEEDED_S = CLEAN.path_s
"""The time that the path needs for a clean transfer."""
TWIN = UndisturbedTransfer(
    took_s=NEEDED_S, spread_s=(NEEDED_S, NEEDED_S), arrived_bytes=1_200_000, tail=800
)


def measured(
    *,
    took_s: float = NEEDED_S,
    held_s: float = 0.0,
    unneeded: int | None = 0,
    arrived: int = 1_200_000,
    ended: TransferOutcome = TransferOutcome.RECOVERED,
    doubts: tuple[str, ...] = (),
) -> TransferMeasurement:
    return TransferMeasurement(
        ended=ended,
        took_s=took_s,
        held_s=held_s,
        sent_bytes=1_200_000,
        arrived_bytes=arrived,
        unneeded_bytes=unneeded,
        tail=800,
        doubts=doubts,
    )


def scored(run: TransferMeasurement, scenario: Scenario = CLEAN) -> Score:
    return score(scenario, [run], TWIN)


def report(*scores: Score, before: dict[str, float] | None = None) -> Report:
    compared = changes(scores, before or {}, 5)
    return Report("a <stack>", {}, {"kernel.frto": 0}, Suite.FIFTY, 1, [*scores], compared)
