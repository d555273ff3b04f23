"""Tables of the guide that an experiment prints are those of the experiment, as it is now.

After a change that is meant to change them, the command that the page names has the new ones; the
sentences of the page that follow from a table are checked as well, as far as they have its numbers.
"""

import re
from functools import cache

import polars as pl
import pytest

from recorded import sentence, table
from rtolab.experiments import find
from rtolab.experiments.base import Table
from rtolab.experiments.outages.policies import DOUBLING
from rtolab.experiments.outages.study import ROUND_TRIPS, outages_of
from rtolab.experiments.reproduce import Reproduction, reproduce
from rtolab.stats import Estimate

pytestmark = pytest.mark.slow

OUTAGES = "docs/outages.md"
STUDY = "docs/study.md"
LONG = pl.col("length_s") > 20
ARQ = "docs/papers/arq2002.md"

POLICIES = {
    "doubling to 120 s": "doubling to 120 s",
    "maximum 30 s": "maximum 30 s",
    "maximum 5 s": "maximum 5 s",
    "cap of idle/16 = 7.5 s": "cap of idle/16",
    "cap of 2 s": "cap of 2 s",
    "six linear, then doubling": "six linear",
    "ICMP, one message a second": "ICMP (LCD)",
    "path hint": "path hint",
    "warning 2 s before": "warning (freeze)",
}
"""The policies as the first table of their page names them, and as the experiment does."""


@cache
def measured(id_: str) -> Reproduction:
    """The experiment, with its own number of runs."""
    (experiment,) = find([id_])
    return reproduce(experiment, seed=1)


def rows(found: Table) -> dict[str, list[str]]:
    """The cells of a table by their first one."""
    return {str(row[0]): [str(cell) for cell in row[1:]] for row in found.rows}


def by_round_trip() -> list[dict[str, tuple[float, ...]]]:
    """Resume delay, its 95th percentile, time to 90 % of the rate and probes a minute."""
    *tables, _ = measured("outages/study").tables
    assert len(tables) == len(ROUND_TRIPS)
    return [
        {policy: tuple(map(float, cells[:4])) for policy, cells in rows(one).items()}
        for one in tables
    ]


def test_outages_by_policy() -> None:
    at_300_ms = by_round_trip()[ROUND_TRIPS.index(0.3)]
    expected = [
        [*(f"{number:.2f}" for number in at_300_ms[name][:3]), f"{at_300_ms[name][3]:.1f}"]
        for name in POLICIES.values()
    ]
    page = table(OUTAGES, "policy", "source", "resume delay, mean s")
    assert [row[0] for row in page] == [*POLICIES]
    assert [row[2:] for row in page] == expected


def test_outages_by_length() -> None:
    *_, by_length = measured("outages/study").tables
    printed = rows(by_length)
    page = table(OUTAGES, "policy", *by_length.head[1:])
    assert {row[0]: row[1:] for row in page} == {row[0]: printed[row[0]] for row in page}
    assert len(page) == len(printed) - 1


def ratios(column: int, first: str, second: str) -> list[float]:
    """The quotient of two policies at each round trip."""
    return [found[first][column] / found[second][column] for found in by_round_trip()]


def test_what_follows_from_the_outages() -> None:
    doubling, cap = "doubling to 120 s", "cap of 2 s"
    probes = [
        100 * (one - 1)
        for policy in ("maximum 5 s", "cap of idle/16")
        for one in ratios(3, policy, doubling)
    ]
    gains = [
        100 * (found[doubling][0] - found[policy][0]) / (found[doubling][0] - found[cap][0])
        for policy in ("maximum 5 s", "cap of idle/16")
        for found in by_round_trip()
    ]
    said = sentence(OUTAGES, r"(\d+) to (\d+) % of that gain, for (\d+) to (\d+) % more probes")
    ends = (min(gains), max(gains), min(probes), max(probes))
    assert [*map(int, said)] == [round(end) for end in ends]
    little = [100 * (1 - one) for one in ratios(0, "maximum 30 s", doubling)]
    said = sentence(
        OUTAGES, r"maximum of 30 s .*?: 30 s reduces the mean delay by (\d+) to (\d+) %"
    )
    assert [*map(int, said)] == [round(min(little)), round(max(little))]
    *_, by_length = measured("outages/study").tables
    long = {policy: float(cells[-1]) for policy, cells in rows(by_length).items()}
    share, times = sentence(OUTAGES, r"the delay is (\d+) % of doubling's, for ([\d.]+) times")
    assert int(share) == round(100 * long["six linear"] / long[doubling])
    assert {f"{one:.1f}" for one in ratios(3, "six linear", doubling)} == {times}
    runs = measured("outages/study").measured
    assert runs
    whole = outages_of(runs, DOUBLING, 0.3)
    said = sentence(OUTAGES, r"standard error of the mean delay is ([\d.]+) s, and ([\d.]+) s")
    for digits, text, some in ((2, said[0], whole), (1, said[1], whole.filter(LONG))):
        delay = some["resume_s"].to_numpy()
        assert text == f"{delay.std() / delay.size**0.5:.{digits}f}"
    assert all(0.18 <= one <= 0.34 for one in ratios(0, cap, doubling)), "a fifth to a third"
    assert all(2 <= one <= 3 for one in ratios(3, cap, doubling)), "two to three times"
    assert max(ratios(0, "path hint", cap)) < 1
    assert max(ratios(3, "path hint", doubling)) < 1.01, "as many probes"
    assert max(ratios(0, "ICMP (LCD)", cap)) < 1, "as soon as with a cap of 2 s"
    assert max(ratios(0, "maximum 5 s", "six linear")) < 1
    assert max(ratios(3, "maximum 5 s", "six linear")) < 1


def test_loss_detections() -> None:
    late, *_ = measured("detectors/study/recoveries").tables
    assert late.caption.startswith("2 ms late: means of 5 runs")
    columns = [late.head.index(name) - 1 for name in ("time, s", "unneeded", "reductions")]
    printed = {name: [cells[at] for at in columns] for name, cells in rows(late).items()}
    page = table(STUDY, "sender", "time, s", "unneeded", "reductions, spurious of all")
    assert len(page) == 8
    assert {row[0]: row[1:] for row in page} == {row[0]: printed[row[0]] for row in page}


def test_gains_at_other_rates() -> None:
    gains: dict[str, list[str]] = {"144": [], "1920": []}
    for value in measured("arq2002/fig4-rates").derived:
        assert isinstance(value.measured, Estimate)
        found = re.fullmatch(r"gain, (\d+) kbit/s, \d+ ms, 1 %", value.name)
        assert found
        gains[found[1]].append(f"{value.measured.value:.1f}")
    slow, fast = gains.values()
    numbers = r"([\d.]+), ([\d.]+) and ([\d.]+) %"
    assert [*sentence(ARQ, f"at 144 kbit/s it grows, too: {numbers}")] == slow
    assert [*sentence(ARQ, f"against the text: {numbers} at 1920 kbit/s")] == fast
    (said,) = {
        check.failure_cause.shown_by.finding
        for check in measured("arq2002/fig4-rates").experiment.checks
        if check.failure_cause
        and check.failure_cause.shown_by
        and "1920" in check.failure_cause.shown_by.finding
    }
    assert re.findall(r"\d+\.\d", said) == [*slow, *fast]
