"""Rates per day, and captures that are diagnosed together."""

from dataclasses import replace

import pytest
from test_tuning import of, rows

from rtolab.tuning import DAY_S, tune
from rtolab.tuning.text import interval


def test_a_minimum_above_the_default_costs_time_with_an_interval() -> None:
    [one] = tune([of(rows())]).classes
    saved = one.at(0.5).saved
    # The repairs of a connection in a minute come 3 s later together. They are one event, whose
    # interval is 0.0253 to 5.57 (Garwood).
    ends = [-count * 3 * DAY_S / 60 for count in (1, 5.571643, 0.025318)]
    assert (saved.value, saved.low, saved.high) == pytest.approx(ends, rel=1e-4)


def test_a_single_added_timeout_counts_also_in_a_capture_of_days() -> None:
    days = replace(of(rows(late=[0.015])), seconds=10 * DAY_S)
    [one] = tune([days]).classes
    assert one.at(0.01).spurious.value == pytest.approx(0.1)
    assert (one.limit, one.recommended) == (0.02, 0.02)


def test_connections_of_one_number_in_two_captures_are_different() -> None:
    found = tune([of(rows(min_rtt=0.0005)), of(rows(min_rtt=0.15, to="10.1.0.1:80"))])
    assert found.unused == {}
    assert {str(one.network) for one in found.classes} == {"10.0.0.0/24", "10.1.0.0/24"}
    assert [one.seconds for one in found.classes] == [60.0, 60.0]


def test_the_default_saves_nothing() -> None:
    [one] = tune([of(rows())]).classes
    assert interval(one.at(0.2).saved) == "0 (0 to 0)"
