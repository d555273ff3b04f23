"""Scores of passive detectors against the ground truth, on handmade tables."""

from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from rtolab.judging import confusions, differences
from rtolab.result import Result

VERDICTS = [
    # truth, verdict, delay, kind
    ("spurious", "spurious", 0.2, "timeout"),
    ("spurious", "spurious", 0.4, "timeout"),
    ("spurious", "genuine", 0.6, "timeout"),
    ("spurious", "open", None, "timeout"),
    ("genuine", "genuine", 1.0, "timeout"),
    ("genuine", "blind", 2.0, "timeout"),
    ("ack-lost", "spurious", 3.0, "timeout"),
    ("spurious", "spurious", 9.0, "fast_retransmit"),
]


def result(**tables: Any) -> Result:
    return cast("Result", SimpleNamespace(**tables))


def judged(rows: list[tuple[str, str, float | None, str]], own: str = "sack") -> Result:
    """Verdicts about one flow, in a run of sack; `own` is the flow's sender."""
    columns = {"truth": pl.String, "verdict": pl.String, "delay_s": pl.Float64, "kind": pl.String}
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    named = frame.with_columns(
        run=0,
        sender=pl.lit("sack"),
        detector=pl.lit("eifel"),
        end=pl.lit("sender"),
        flow=pl.lit("a"),
    )
    flows = pl.DataFrame({"run": [0], "flow": ["a"], "flow_sender": [own]})
    return result(verdicts=named, connections=flows)


def test_verdicts_are_counted_by_ground_truth() -> None:
    (found,) = confusions(judged(VERDICTS), "timeout")
    assert (found.sender, found.detector) == ("sack", "eifel")
    assert (found.spurious_found, found.spurious_missed) == (2, 1)
    assert (found.genuine_called_spurious, found.genuine_right) == (1, 1)
    assert (found.open, found.blind) == (1, 1)
    assert found.median_delay_s == pytest.approx(0.6)
    assert (found.smt, found.tms) == pytest.approx((0.5, 1 / 3))
    assert found.detection_error == pytest.approx(0.2 * 0.5 + 0.8 / 3)


def test_the_scores_of_a_flow_with_a_sender_of_its_own_are_that_senders() -> None:
    (found,) = confusions(judged(VERDICTS, own="sack+frto"))
    assert found.sender == "sack+frto"


def test_both_kinds_of_episode_count_by_default() -> None:
    (both,) = confusions(judged(VERDICTS))
    assert both.spurious_found == 3
    (fast,) = confusions(judged(VERDICTS), "fast_retransmit")
    assert (fast.spurious_found, fast.smt, fast.tms) == (1, 0.0, None)
    assert fast.detection_error is None


def test_without_verdicts_there_are_no_scores() -> None:
    assert confusions(judged([])) == []
    (silent,) = confusions(judged([("spurious", "open", None, "timeout")]))
    assert (silent.median_delay_s, silent.smt) == (None, 1.0)


def test_a_difference_is_relative_to_the_original_sender() -> None:
    row = {
        "run": 0,
        "flow": "transfer",
        "at_s": 3.0,
        "truth": "spurious",
        "what_if": "sack+frto",
        "end_s": 10.0,
        "original_end_s": 12.5,
        "segments": 100,
        "original_segments": 108,
    }
    unfinished = row | {"end_s": None}
    frame = pl.DataFrame([row, unfinished], schema_overrides={"end_s": pl.Float64})
    first, second = differences(result(what_if=frame))
    assert (first.sender, first.time_s, first.segments) == ("sack+frto", -2.5, -8)
    assert second.time_s is None
