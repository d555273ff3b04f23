"""Recommendations from tables with known content, and from captures with known truth."""

import ipaddress
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rtolab
from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.stats import poisson_sum
from rtolab.tuning import CURRENT_S, DAY_S, Source, source, tune
from rtolab.tuning.commands import BPF_LEAST_S, commands, delayed_ack, rules, settings
from rtolab.tuning.text import answer, document, warnings

CAPTURES = Path(__file__).parents[1] / "captures"
MINIMUMS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
TIMEOUTS = pl.DataFrame(
    schema={
        "connection": pl.UInt64,
        "from": pl.String,
        "frame": pl.UInt64,
        "backoff": pl.UInt32,
        "after": pl.Float64,
        "class": pl.String,
        "handshake": pl.Boolean,
    }
)


def rows(**given: Any) -> pl.DataFrame:
    """A connection with 5,000 waits and ten repairs that the minimum alone would have delayed.

    `late` are the waits beyond SRTT in seconds, of which `single` had one segment outstanding.
    """
    late, single = given.pop("late", ()), given.pop("single", 0)
    probed = given.pop("probes", ())
    values: dict[str, Any] = {
        "to": "10.0.0.2:80",
        "min_rtt": 0.0005,
        "vantage": "sender",
        "connection": 1,
    }
    values |= {
        "connection": 1,
        "only_from": None,
        "timestamps": True,
        "waits": 5000,
        "genuine": 10,
    } | given

    def row(minimum: float) -> dict[str, Any]:
        spurious = sum(one > minimum for one in late)
        return values | {
            "start": 0.0,
            "end": 60.0,
            "from": "client",
            "srtt": values["min_rtt"],
            "minimum": minimum,
            "single_waits": 0,
            "late": spurious,
            "spurious_probes": sum(one > minimum for one in probed),
            "spurious": spurious,
            "spurious_single": min(single, spurious),
            "saved": values["genuine"] * (CURRENT_S - minimum),
            "probed": 0,
            "probes_saved": 0.0,
            "preempted": 0,
            "unknown": 0,
        }

    schema = {"only_from": pl.String, "timestamps": pl.Boolean}
    return pl.DataFrame([row(one) for one in MINIMUMS_S], schema_overrides=schema)


def of(*tables: pl.DataFrame, timeouts: pl.DataFrame = TIMEOUTS) -> Source:
    return Source("some.pcapng", 60.0, pl.concat(tables), timeouts)


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(0, 0.0, 3.688879), (1, 0.025318, 5.571643), (10, 4.795389, 18.390356)],
)
def test_equal_weights_give_the_exact_interval_of_poisson(
    count: int, low: float, high: float
) -> None:
    """Garwood's table."""
    for weight in (1.0, 0.25):
        found = poisson_sum([weight] * count, unit=weight)
        assert found.value == count * weight
        assert (found.low, found.high) == pytest.approx((low * weight, high * weight), rel=1e-4)


def test_an_event_of_great_weight_widens_the_interval() -> None:
    even, uneven = poisson_sum([1.0] * 10), poisson_sum([9.1, *[0.1] * 9])
    assert even.value == pytest.approx(uneven.value)
    assert (uneven.low < even.low, uneven.high > even.high) == (True, True)


def test_the_smallest_minimum_without_added_spurious_timeouts_is_recommended() -> None:
    [one] = tune([of(rows(late=[0.015] * 4 + [0.3]))]).classes
    assert str(one.network) == "10.0.0.0/24"
    assert (one.recommended, one.round_trip) == (0.02, (0.0, 0.001))
    at = one.at(0.01)
    assert at.spurious.value * 60 / DAY_S == pytest.approx(5)
    # 190 ms earlier, ten times in a minute.
    assert at.saved.value * 60 / DAY_S == pytest.approx(1.9)
    assert one.at(0.5).saved.value < 0.0
    said = answer(tune([of(rows(late=[0.015] * 4 + [0.3]))]))
    assert said.startswith("Set the minimum RTO to 20 ms for 10.0.0.0/24: ")


def test_a_minimum_that_adds_many_spurious_probes_is_not_recommended() -> None:
    """One in a thousand of 5,000 waits may have one."""
    for count, expected in ((5, 0.005), (6, 0.05)):
        [one] = tune([of(rows(probes=[0.04] * count))]).classes
        assert one.recommended == expected, count


def test_delayed_acknowledgments_that_hold_the_minimum_are_named() -> None:
    found = tune([of(rows(late=[0.04] * 9, single=9))])
    [one] = found.classes
    assert (one.recommended, one.without_delay) == (0.05, 0.005)
    assert delayed_ack(one) == 0.008
    assert "delayed acknowledgments hold the minimum at 50 ms" in " ".join(warnings(found))
    [rule] = rules(found)
    assert (str(rule.network), rule.rto_min_us, rule.delack_max_us) == (
        "10.0.0.0/24",
        50_000,
        8_000,
    )


def test_the_document_has_the_daily_counts_of_each_minimum() -> None:
    [one] = document(tune([of(rows(late=[0.015] * 4 + [0.3]))]))["classes"]
    [row] = [row for row in one["minimums"] if row["seconds"] == 0.01]
    counts = ("spurious_a_day", "probes_a_day", "saved_a_day")
    values = [row[name]["value"] * 60 / DAY_S for name in counts]
    assert values == pytest.approx([5.0, 0.0, 1.9])
    single = ("single_a_day", "preempted_a_day", "unknown_a_day")
    assert set(row) == {"seconds", "late", *counts, *single}


def test_a_prefix_has_one_setting_for_all_its_round_trips() -> None:
    near = rows(late=[0.015])
    far = rows(connection=2, min_rtt=0.005, late=[0.07])
    found = tune([of(near, far)])
    for classes in (found.classes, found.classes[::-1]):
        assert [one.recommended for one in settings(replace(found, classes=classes))] == [0.1]
    [line] = [command for _, command in commands(found) if command.startswith("ip ")]
    assert line == "ip route replace 10.0.0.0/24 via GATEWAY dev DEVICE rto_min 100ms"
    said = (
        "10.0.0.0/24: paths of other round trips in it would take 20 ms. A route or a rule knows "
    )
    said += "no round trip, so the largest minimum is advised; a longer --prefix may separate them."
    assert said in " ".join(warnings(found))
    assert said not in " ".join(warnings(tune([of(near)])))
    # A class on which any smaller minimum is wrong keeps the whole prefix.
    slow = rows(connection=3, min_rtt=0.5, late=[0.19])
    assert settings(tune([of(near, slow)])) == []


@pytest.mark.parametrize("srtt", [0.0, 1e-9, 0.0005, 0.15, 1e9])
@pytest.mark.parametrize("late", [[], [0.004], [0.015], [0.19], [1e9]])
def test_no_capture_sets_times_outside_of_their_bounds(srtt: float, late: list[float]) -> None:
    """Not below what the kernel takes, nor above its default."""
    found = tune([of(rows(min_rtt=srtt, late=late, single=len(late)))])
    for rule in rules(found):
        assert rule.rto_min_us is not None
        assert BPF_LEAST_S * 1e6 <= rule.rto_min_us < CURRENT_S * 1e6
        assert rule.delack_max_us is None or BPF_LEAST_S * 1e6 <= rule.delack_max_us < 1e5
        assert isinstance(rule.network, ipaddress.IPv4Network)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"waits": 30}, "No advice: too little data."),
        ({"genuine": 2}, "No advice: too little data."),
        ({"genuine": 0}, "Keep the minimum RTO of 200 ms: no timeout or probe repaired a loss"),
        ({"late": [0.19]}, "Keep the minimum RTO of 200 ms: acknowledgments come so late"),
        ({"vantage": "receiver"}, "No advice: no direction of this capture shows"),
        ({"only_from": "client"}, "No advice: no direction of this capture shows"),
    ],
)
def test_what_allows_no_advice_is_said(given: dict[str, Any], said: str) -> None:
    found = tune([of(rows(**given))])
    assert answer(found).startswith(said)
    assert rules(found) == []
    assert not any("rto_min" in command for _, command in commands(found))


def test_reasons_for_unused_directions_are_counted() -> None:
    both = of(rows(vantage="receiver"), rows(connection=2, only_from="client"), rows(connection=3))
    found = tune([both])
    assert found.unused == {
        "captured at the receiver": 1,
        "the capture has packets of one end only": 1,
    }
    assert len(found.classes) == 1


def test_a_direction_that_ends_at_the_capture_is_not_used() -> None:
    """Both ends of a path below half a millisecond look near, and one is."""
    near, far = rows(min_rtt=0.000001, to="10.9.9.1:80"), rows(min_rtt=0.0002)
    near = near.with_columns(pl.lit("server").alias("from"))
    found = tune([of(near, far)])
    assert [str(one.network) for one in found.classes] == ["10.0.0.0/24"]
    assert found.unused == {"captured at the receiver": 1}


def test_missing_timestamps_and_short_captures_are_said() -> None:
    found = tune([Source("short", 5.0, rows(timestamps=False), TIMEOUTS, left_out=2)])
    said = " ".join(warnings(found))
    for part in ("last 5.0 s", "no timestamps", "Left out: 2 connections"):
        assert part in said


def test_a_cap_follows_from_the_longest_real_timeout() -> None:
    def series(*waits: float, kind: str = "genuine") -> pl.DataFrame:
        made = [
            {"connection": 1, "from": "client", "frame": n, "backoff": n, "after": wait}
            | {"class": kind, "handshake": False}
            for n, wait in enumerate(waits)
        ]
        return pl.DataFrame(made, schema=TIMEOUTS.schema)

    found = tune([of(rows(), timeouts=series(5.0, 10.0, 20.0, 40.0))])
    assert (found.cap, found.longest) == (10.0, 40.0)
    row = next(one for one in found.caps if one.seconds == 10.0)
    # The last wait of 40 s ends on average after 5 s instead of 20; 20 and 40 s have 1 + 3 more.
    assert row.saved * 60 / DAY_S == pytest.approx(15.0)
    assert row.sent * 60 / DAY_S == pytest.approx(4.0)
    assert ("tcp_rto_max_ms=10000" in str(list(commands(found)))) is True
    for other in (series(5.0, 8.0), series(40.0, kind="spurious")):
        assert tune([of(rows(), timeouts=other)]).cap is None


def test_captures_without_connections_and_logs_are_errors() -> None:
    empty = Source("empty.pcapng", 0.0, rows().clear(), TIMEOUTS)
    with pytest.raises(Error, match=r"empty\.pcapng: no TCP connection with data"):
        tune([empty])


def captured(file: Path) -> Source:
    found = _rtolab.diagnose(file, timers=True)
    return source(file.name, found, json.loads(found.json())["summary"])


def test_a_stall_is_spurious_at_every_minimum() -> None:
    """The path holds all packets for three seconds, and no minimum below that helps."""
    one = captured(CAPTURES / "stall-3s-sack-frto-off.sender.pcapng.gz")
    table = one.rows.filter(pl.col("vantage") == "sender")
    assert table.height == 18
    assert table["spurious"].min() >= 1  # type: ignore[operator]
    assert table["genuine"].max() == 0
    assert table["late"].min() >= 1  # type: ignore[operator]
    found = tune([one])
    assert found.unused == {"captured at the receiver": 1}
    json.dumps(document(found), allow_nan=False)


def test_a_diagnosis_without_timers_has_no_rows() -> None:
    found = _rtolab.diagnose(CAPTURES / "stall-3s-sack-frto-off.sender.pcapng.gz")
    assert pl.DataFrame(found.timers()).is_empty()


SCENARIO = """
title = "Requests over a path that delays some frames"
duration = "40 s"
[[link]]
name = "path"
between = ["server", "client"]
rate = "1 Gbit/s"
delay = "0.5 ms"
spikes = { probability = 0.003, length = { exponential = "60 ms" } }
[kernel]
rto_min = "MINIMUM ms"
[[flow]]
name = "pages"
from = "server"
to = "client"
count = 10
requests = { request = "200 B", response = "6 kB", think = { exponential = "30 ms" } }
"""


def test_predictions_from_a_capture_agree_with_the_simulator(tmp_path: Path) -> None:
    """Spurious timeouts of two minimums, predicted from a capture with 200 ms, within a quarter."""
    file = tmp_path / "path.toml"

    def run(minimum: int) -> rtolab.Result:
        file.write_text(SCENARIO.replace("MINIMUM", str(minimum)))
        return rtolab.run(file, sender="linux", trace=True)

    capture = tmp_path / "path.pcapng"
    capture.write_bytes(run(200).pcapng(0, "sender"))
    one = captured(capture)
    [path] = tune([one], prefix=0).classes
    for minimum in (20, 50):
        events = run(minimum).timeouts.filter(
            (pl.col("kind") == "timeout")
            & (pl.col("truth") == "spurious")
            & (pl.col("backoff") == 0)
        )
        predicted = path.at(minimum / 1000).spurious.value * one.seconds / DAY_S
        assert math.isclose(predicted, events.height, rel_tol=0.25), (predicted, events.height)
