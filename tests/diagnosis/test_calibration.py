"""The confidence of verdicts, on paths drawn at random, and cases that were once misjudged."""

from collections import Counter
from collections.abc import Iterable
from math import sqrt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import drawn_paths
from labelled_captures import Labelled, compared, labels
from rtolab.result import Result
from rtolab.run import run

SHARED = 30
"""The number of shared queues of a test."""

MANY = 30
"""The minimum number of verdicts of a class whose share is compared."""


@pytest.mark.slow
def test_confidence_is_at_most_the_share_that_is_right(tmp_path: Path) -> None:
    rows = pl.DataFrame(list(drawn_paths.verdicts(drawn_paths.JUDGING, tmp_path)))
    compared = 0
    for one in drawn_paths.calibration(rows).iter_rows(named=True):
        if one["verdicts"] < MANY:
            continue
        compared += 1
        stated = one["confidence"]
        # Verdicts of one transfer are right or wrong together: three standard errors.
        allowed = 3 * sqrt(stated * (1 - stated) / one["verdicts"])
        assert one["right"] >= stated - allowed, one
    assert compared >= 6


@pytest.mark.slow
def test_an_outage_that_empties_a_shared_queue_makes_no_copy_unneeded(tmp_path: Path) -> None:
    """After the outage the path is faster than ever: an ACK that seems too soon answers a copy."""
    seeds = drawn_paths.SHARED_JUDGING[:SHARED]
    rows = pl.DataFrame(list(drawn_paths.verdicts(seeds, tmp_path, drawn_paths.drawn_shared)))
    sure = rows.filter((pl.col("place") == "sender") & (pl.col("confidence") >= 0.9))
    unneeded = sure.filter((pl.col("what") == "verdict") & (pl.col("said") == "unneeded"))
    assert unneeded.height > MANY
    right = (unneeded["said"] == unneeded["truth"]).mean()
    assert isinstance(right, float)
    assert right >= 0.95, unneeded.filter(pl.col("said") != pl.col("truth"))


def test_originals_that_paws_discards_make_no_copy_unneeded(tmp_path: Path) -> None:
    """The receiver's capture contains originals so late that their timestamps are too old."""
    link = {"rate": "2 Mbit/s", "delay": "50 ms", "order": "free"}
    late = {"jitter": '{ exponential = "300 ms" }'}
    set: dict[str, object] = {f"link.wire.{key}": value for key, value in (link | late).items()}
    set |= {"tcp.timestamps": True, "flow.transfer.bytes": "500 kB", "duration": "120 s"}
    discarded = 0
    for seed in range(1, 5):
        result = run("single-link", sender="sack", seed=seed, set=set, trace=True)
        (tmp_path / "one.receiver.pcapng").write_bytes(result.pcapng(0, "receiver"))
        known = labels(Labelled("", result, 0), "receiver")
        known.write_parquet(tmp_path / "one.receiver.labels.parquet")
        counts = compared(tmp_path, "one.receiver")
        assert counts["receiver", "verdict", "needed", "unneeded"] == 0, counts
        discarded += counts["receiver", "verdict", "needed", "needed"]
    assert discarded > 0


def test_smallest_round_trip_may_be_that_of_two_segments_in_a_row(tmp_path: Path) -> None:
    assert wrong(drawn_paths.verdicts([181], tmp_path), "verdict") == Counter()


def test_answers_to_copies_count_when_nothing_is_outstanding(tmp_path: Path) -> None:
    result = run("gprs-ping", sender="freebsd-14", seed=101)
    counts = scored(result, tmp_path)
    assert counts["timeout", "spurious", "ack-lost"] == 0, counts
    assert counts["timeout", "spurious", "spurious"] > 0


def test_lost_acknowledgments_are_not_called_late_if_the_answer_takes_less_than_a_round_trip(
    tmp_path: Path,
) -> None:
    found = wrong(drawn_paths.verdicts([371], tmp_path), "timeout")
    assert found["spurious", "ack-lost"] == 0, found


@pytest.mark.parametrize("sender", ["reno", "newreno", "sack+eifel"])
def test_delayed_acknowledgments_are_not_called_lost(sender: str, tmp_path: Path) -> None:
    """The minimum RTO of these senders equals the delay of delayed acknowledgments."""
    counts = scored(
        run("minrto2007-a", sender=sender, seed=101, set={"duration": "30 s"}), tmp_path
    )
    late = counts["timeout", "spurious", "spurious"]
    assert counts["timeout", "spurious", "ack-lost"] <= late / 10
    assert counts["verdict", "needed", "unneeded"] <= 1


def scored(result: Result, folder: Path) -> Counter[tuple[str, str, str]]:
    """Count the rows of the sender's capture by kind, truth and verdict."""
    (folder / "one.sender.pcapng").write_bytes(result.pcapng(0, "sender"))
    known = labels(Labelled("", result, 0), "sender")
    known.write_parquet(folder / "one.sender.labels.parquet")
    counts: Counter[tuple[str, str, str]] = Counter()
    for (_, *key), number in compared(folder, "one.sender").items():
        counts[key[0], key[1], key[2]] += number
    return counts


def wrong(rows: Iterable[dict[str, Any]], what: str) -> Counter[tuple[str, str]]:
    """Count the verdicts of this kind that differ from the truth, by verdict and truth."""
    return Counter(
        (row["said"], row["truth"])
        for row in rows
        if row["what"] == what and row["said"] not in (row["truth"], "unknown")
    )
