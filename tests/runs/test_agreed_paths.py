"""The engine sends on random paths what it sent when Linux 6.12 sent the same."""

from pathlib import Path

import pytest

from agreed_paths import agreed, different

STEP = 50


@pytest.mark.parametrize("first", range(0, len(agreed()), STEP))
def test_it_still_sends_the_same(tmp_path: Path, first: int) -> None:
    found = list(different(list(agreed())[first : first + STEP], tmp_path))
    assert found == [], (
        "If this is meant, tools/kernel-differences --seeds tells whether the kernel still agrees"
    )
