"""Captures and what is found in them."""

from pathlib import Path

import pytest

import scoring

SHARED = Path(__file__).parents[2] / "shared" / "captures"


@pytest.fixture(scope="session")
def kernel() -> Path:
    """The captures of a kernel's transfers, kept beside the project."""
    folder = SHARED / "kernel"
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing: captures with labels, kept beside the project")
    return folder


@pytest.mark.parametrize("half", [0, 1])
def test_what_a_kernel_sent_again_is_found(kernel: Path, half: int) -> None:
    """Thresholds were fixed on the first half; the second shows what they are worth."""
    score = scoring.score(kernel, scoring.names(kernel)[half::2])
    for side in ("snd", "rcv"):
        assert score.recall(side, "verdict", "unneeded") >= 0.99, score.wrong
        assert score.precision(side, "verdict", "unneeded") >= 0.99, score.wrong
    assert not [wrong for wrong in score.wrong if " snd timeout " in wrong]
    assert not [wrong for wrong in score.wrong if " snd trigger " in wrong]
