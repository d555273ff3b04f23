"""The descriptions of scenarios, and the folder of built stacks."""

import re
from pathlib import Path

import pytest

from rtolab.conform import Suite, recipes, suite

PROSE = re.compile(r"(?:[a-z0-9 .,:;()%-]|\b[MG]bit/s\b|\bkB\b|\bRTTs?\b|\b4G\b)+")
"""Small letters, numbers, and units as the field writes them."""


@pytest.mark.parametrize("which", [Suite.FIFTY, Suite.TODAY])
def test_descriptions_are_short_prose(which: Suite) -> None:
    for one in suite(which):
        for each in (one, one.reference):
            assert PROSE.fullmatch(each.says), each.says
            assert each.says == each.says.strip()
            assert len(each.says) <= 80


def test_a_description_of_today_begins_with_its_path() -> None:
    for one in suite(Suite.TODAY):
        rate_bps, round_trip_s = one.path.rate_bps, one.path.round_trip_s
        rate = f"{rate_bps // 10**9} Gbit/s" if rate_bps >= 10**9 else f"{rate_bps // 10**6} Mbit/s"
        path, colon, what = one.says.partition(": ")
        assert (colon, bool(what)) == (": ", True)
        delay = (
            f"{round_trip_s * 1e3:g} ms" if round_trip_s >= 1e-3 else f"{round_trip_s * 1e6:g} us"
        )
        assert path in (rate, f"{rate}, {delay}"), one.says


def test_stacks_are_built_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert recipes.cache() == tmp_path / "cache" / "rtolab" / "stacks"
    for unset in ("", None):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        if unset is not None:
            monkeypatch.setenv("XDG_CACHE_HOME", unset)
        assert recipes.cache() == tmp_path / ".cache" / "rtolab" / "stacks"
