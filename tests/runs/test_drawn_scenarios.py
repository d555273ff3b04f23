"""Scenarios that nobody chose: any keys of the schema, with any policies."""

from pathlib import Path

import pytest

from drawn_scenarios import SEEDS, different

STEP = 50


@pytest.mark.parametrize("first", SEEDS[::STEP])
def test_outcomes_are_as_recorded(tmp_path: Path, first: int) -> None:
    assert list(different(range(first, first + STEP), tmp_path)) == []
