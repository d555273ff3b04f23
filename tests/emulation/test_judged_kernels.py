"""Passive detectors that are scored on kernels."""

import json
from pathlib import Path

import polars as pl
import pytest

import program
from guests import fake_kernel, require_kernel
from rtolab import judging
from rtolab._rtolab import Ack, Episode, SenderError, detectors
from rtolab.emulation import emulate
from rtolab.emulation.comparison import RECEIVER
from rtolab.prototype import Detector, Verdict
from rtolab.run import run

MARKED = {"eifel:rxt", "eifel:two-bits"}
"""Detectors of a flag that no kernel sets."""


class Always(Detector):
    """A detector that needs no evidence."""

    name = "always"

    def on_ack(self, ack: Ack, episode: Episode) -> Verdict:  # noqa: ARG002  (that of the engine)
        """Spurious, whatever happened."""
        return Verdict.SPURIOUS


def test_detectors_score_on_a_guest_as_on_the_engine() -> None:
    """A stall of 3 s, where the engine's transfer is that of the kernel, segment by segment."""
    found = emulate("kernel-stall", kernel=require_kernel(), judge="all")
    engine = run("kernel-stall", sender="linux", judge="all", set=RECEIVER)
    verdicts = [
        result.verdicts.filter(pl.col("end") == "sender").select(
            "detector", "kind", "seq", "truth", "verdict", "why"
        )
        for result in (found, engine)
    ]
    assert verdicts[0].height == 2 * len(detectors())
    assert verdicts[0].sort("detector", "seq").equals(verdicts[1].sort("detector", "seq"))
    blind = {one.detector for one in judging.confusions(found) if one.blind == 2}
    assert blind >= MARKED


def test_a_detector_in_python_is_scored_on_a_guest() -> None:
    """Losses make genuine timeouts and fast retransmits, of which it calls all spurious."""
    result = emulate(
        "kernel-stall", kernel=require_kernel(), judge=Always, set={"link.radio.loss": 0.05}
    )
    [score] = judging.confusions(result)
    assert score.detector == "always"
    assert score.genuine_called_spurious > 3
    decided = score.genuine_called_spurious + score.spurious_found
    assert decided + score.blind == result.timeouts.height


def test_judging_changes_nothing_on_a_guest() -> None:
    built = require_kernel()
    plain, judged = (emulate("kernel-stall", kernel=built, judge=one) for one in ((), "eifel"))
    assert plain.segments.equals(judged.segments)
    assert plain.verdicts.height == 0


def test_an_unknown_detector_is_named(tmp_path: Path) -> None:
    fake = fake_kernel(tmp_path / "kernel")
    with pytest.raises(SenderError, match=r'unknown detector `eifle`.*did you mean "eifel"'):
        emulate("kernel-stall", kernel=fake, judge="eifle")


def test_a_command_is_not_judged() -> None:
    """Its sockets are its own."""
    done = program.run("emulate", "hold", "--judge", "eifel", "--", "true")
    assert done.returncode == 2
    assert "--judge goes with the scenario's flows" in done.stderr


def test_the_scores_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a table, and as `judges` in JSON."""
    require_kernel()
    monkeypatch.setenv("COLUMNS", "100")
    words = ("emulate", "kernel-stall", "--virtual", "--judge", "eifel")
    printed = program.run(*words)
    assert "detector" in printed.stdout
    [score] = json.loads(program.run(*words, "--json").stdout)["judges"]
    assert (score["detector"], score["spurious_found"]) == ("eifel", 2)
