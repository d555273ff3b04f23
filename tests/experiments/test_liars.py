"""How much misbehaving receivers gain, in few runs."""

from rtolab.experiments.liars import BELIEVERS, EXPERIMENT, LIES
from rtolab.experiments.reproduce import reproduce


def test_each_sender_meets_each_false_claim() -> None:
    keys = [variant.key for variant in EXPERIMENT.variants]
    assert len(keys) == len(set(keys)) == len(BELIEVERS) * (1 + len(LIES))


def test_each_sender_gains_or_loses_as_published() -> None:
    done = reproduce(EXPERIMENT, runs=10, seed=1)
    assert [check.name for check in done.checks if check.verdict != "pass"] == []
    (table,) = done.tables
    assert table.head == ("sender", *LIES.values())
    assert [row[0] for row in table.rows] == [believer.label for believer in BELIEVERS]
