"""Importance splitting estimates chances that are known, or that many runs show."""

import json
import math
from pathlib import Path

import polars as pl
import pytest

import program
import rtolab
from rtolab import Error, rare
from rtolab.stats import mean_of_few

SYN_LOSS = """
title = "SYNs that get lost"
duration = "63.5 s"

[[link]]
name = "path"
between = ["client", "server"]
delay = "400 ms"
forward.loss = LOSS

[tcp]
sender = "sack"

[tcp.rto]
initial = "1 s"
min = "60 s"

[[flow]]
name = "flow"
from = "client"
to = "server"
bytes = "1 kB"
"""
"""The sixth timeout in a row comes after 63 s if all six SYNs are lost, and only then: after the
handshake the RTO is a minute, so a second timeout does not happen."""


def syn_loss(folder: Path, loss: float) -> Path:
    file = folder / "syn-loss.toml"
    file.write_text(SYN_LOSS.replace("LOSS", str(loss)))
    return file


@pytest.mark.slow
def test_a_known_chance_is_within_the_interval_for_most_seeds(tmp_path: Path) -> None:
    file, exact = syn_loss(tmp_path, 0.2), 0.2**6
    found = [rare.estimate(file, "backoff", 5, runs=200, seed=seed) for seed in range(1, 31)]
    within = sum(one.low <= exact <= one.high for one in found if one.low and one.high)
    # Of 30 intervals of 95 %, fewer than 25 hold it with a chance of 2 %.
    assert within >= 25
    # The mean of all is unbiased: its own error follows from the spread.
    mean = mean_of_few([one.chance for one in found], share=0.99)
    assert mean.low < exact < mean.high
    assert (mean.high - mean.low) / exact < 0.4


@pytest.mark.slow
def test_a_chance_that_no_plain_run_meets_is_found(tmp_path: Path) -> None:
    loss = 0.05
    found = rare.estimate(syn_loss(tmp_path, loss), "backoff", 5, runs=3000)
    assert found.low is not None
    assert found.high is not None
    assert found.low < loss**6 < found.high
    assert found.high - found.low < loss**6
    assert [level.value for level in found.levels] == list(range(6))
    # Timeouts after the handshake only add to the first level.
    for level in found.levels[1:]:
        assert level.chance == pytest.approx(loss ** (level.value + 1), rel=0.3)


PHONE = """
title = "Losses in bursts, and stalls"
duration = "100 s"

[[link]]
name = "radio"
between = ["server", "phone"]
rate = "2 Mbit/s"
delay = "50 ms"
queue = "50 packets"
jitter = { exponential = "10 ms" }
loss = 0.01

[link.states]
good = { exponential = "5 s" }
bad = { exponential = "0.4 s" }

[link.bad]
loss = 0.7

[link.stalls.random]
good = { exponential = "6 s" }
bad = { exponential = "0.6 s" }

[[flow]]
name = "flow"
from = "server"
to = "phone"
bytes = "300 kB"
"""

QUANTITIES = [("backoff", 2), ("timeouts", 4), ("spurious_timeouts", 3)]


@pytest.mark.slow
@pytest.mark.parametrize(("quantity", "at_least"), QUANTITIES)
def test_the_estimate_agrees_with_plain_runs(tmp_path: Path, quantity: str, at_least: int) -> None:
    file = tmp_path / "phone.toml"
    file.write_text(PHONE)
    found = rare.estimate(file, quantity, at_least, sender="sack", runs=200)
    of = 6000
    judge = ["dualrtt"] if quantity == "spurious_timeouts" else []
    result = rtolab.run(file, sender="sack", runs=of, judge=judge, trace=False, windows=False)
    if quantity == "backoff":
        timeouts = result.timeouts.filter(end="sender", kind="timeout")
        rare_runs = timeouts.filter(pl.col("backoff") >= at_least)["run"].n_unique()
    else:
        rare_runs = result.connections.filter(pl.col(quantity) >= at_least).height
    plain = rare_runs / of
    assert rare_runs > 20
    deviation = math.hypot(math.sqrt(plain / of), (found.high or 1.0) / 4 - (found.low or 0.0) / 4)
    assert abs(found.chance - plain) < 3.5 * deviation, (found, plain)


def test_the_same_seed_gives_the_same_estimate_on_any_number_of_threads(tmp_path: Path) -> None:
    file = syn_loss(tmp_path, 0.2)
    one, two = (rare.estimate(file, "backoff", 5, runs=100, jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert one != rare.estimate(file, "backoff", 5, runs=100, seed=2)


def test_an_event_that_never_happens_has_no_interval(tmp_path: Path) -> None:
    found = rare.estimate(syn_loss(tmp_path, 0.01), "spurious_timeouts", 2, runs=20)
    assert (found.chance, found.low, found.high, found.successful) == (0.0, None, None, 0)
    assert found.levels[-1].runs == 0


WRONG = [
    ({"quantity": "timeout"}, "quantity: found `timeout`; expected backoff, timeouts or"),
    ({"quantity": "timeouts", "at_least": 0}, "at_least: found 0; expected 1 to 1000"),
    ({"runs": 0}, "runs: found 0; expected 1 to 1000000"),
    ({"repeats": 4}, "repeats: found 4; expected 5 to 10000"),
    ({"sender": "sock"}, "sock"),
]


@pytest.mark.parametrize(("changed", "message"), WRONG)
def test_bad_input_is_refused(tmp_path: Path, changed: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"quantity": "backoff", "at_least": 5, **changed}
    with pytest.raises(Error, match=message):
        rare.estimate(syn_loss(tmp_path, 0.2), **given)  # type: ignore[arg-type]


def test_the_command_prints_the_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours: list[str | Path] = ["rare", syn_loss(tmp_path, 0.2), "--at-least", "5", "--runs", "100"]
    assert program.call(monkeypatch, *ours) == 0
    said = capsys.readouterr().out
    assert "The chance of backoff >= 5 in a run is" in said
    assert "95 % confidence interval" in said
    assert program.call(monkeypatch, *ours, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["low"] < document["chance"] < document["high"]
    assert len(document["levels"]) == 6
    none = ["--quantity", "spurious_timeouts", "--runs", "2"]
    assert program.call(monkeypatch, *ours, *none) == 1
    assert "no run reached the event; expected more --runs" in capsys.readouterr().err
    assert program.call(monkeypatch, *ours, "--quantity", "x") == 2


@pytest.mark.parametrize("timestamps", [False, True])
def test_back_offs_are_timeouts_of_one_segment_only_with_timestamps(
    tmp_path: Path, timestamps: bool
) -> None:
    """Without timestamps the ACK of a retransmitted segment gives no sample, so that the back-off
    survives progress (RFC 6298 section 5.7)."""
    file = tmp_path / "phone.toml"
    file.write_text(PHONE)
    found = rtolab.run(
        file,
        sender="sack",
        runs=300,
        set={"tcp.timestamps": timestamps},
        trace=False,
        windows=False,
    )
    timeouts = pl.DataFrame(found.timeouts.filter(end="sender", kind="timeout")).sort("run", "at_s")
    survives, before, last = [], 0, None
    for run, seq, backoff in timeouts.select("run", "seq", "backoff").iter_rows():
        before, last = before + 1 if (run, seq) == last else 0, (run, seq)
        assert backoff >= before
        survives.append(backoff > before)
    assert any(survives) != timestamps
