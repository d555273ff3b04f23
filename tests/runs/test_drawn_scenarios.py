"""Scenarios that nobody chose: any keys of the schema with any policies, and each key alone."""

import re
from pathlib import Path

import pytest

from drawn_results import SEEDS, different, of_each_key, recorded
from drawn_scenarios import FILES, SHAPE, scenario, schema

STEP = 50
TABLES = schema()["properties"]
KEYS = {
    *TABLES["link"]["items"]["properties"],
    *TABLES["flow"]["items"]["properties"],
    *TABLES["tcp"]["properties"],
    *TABLES["receiver"]["properties"],
}.difference(FILES, SHAPE)


@pytest.mark.slow
@pytest.mark.parametrize("first", SEEDS[::STEP])
def test_outcomes_are_as_recorded(tmp_path: Path, first: int) -> None:
    assert list(different(range(first, first + STEP), tmp_path)) == []


@pytest.mark.slow
def test_each_key_does_what_it_did_and_refuses_what_it_refused(tmp_path: Path) -> None:
    now, before = of_each_key(tmp_path), recorded()["keys"]
    assert [key for key in now if now[key] != before.get(key)] == []
    assert list(now) == list(before)


def test_most_keys_are_drawn_and_most_take_some_of_their_values() -> None:
    """Others name files, or need keys that the small scenario lacks."""
    text = "".join(scenario(seed) for seed in SEEDS)
    lacking = [key for key in KEYS if not re.search(rf"\b{key} = ", text)]
    assert lacking == []
    taken = [of for of in recorded()["keys"].values() if not of.startswith("0 ")]
    assert len(taken) >= 0.85 * len(recorded()["keys"])
