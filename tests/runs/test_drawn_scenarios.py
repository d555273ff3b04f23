"""Scenarios that nobody chose: any keys of the schema with any policies, and each key alone."""

from pathlib import Path

import pytest

from drawn_results import SEEDS, different, of_each_key, recorded

STEP = 50


@pytest.mark.parametrize("first", SEEDS[::STEP])
def test_outcomes_are_as_recorded(tmp_path: Path, first: int) -> None:
    assert list(different(range(first, first + STEP), tmp_path)) == []


def test_each_key_does_what_it_did_and_refuses_what_it_refused(tmp_path: Path) -> None:
    now, before = of_each_key(tmp_path), recorded()["keys"]
    assert [key for key in now if now[key] != before.get(key)] == []
    assert list(now) == list(before)
