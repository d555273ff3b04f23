"""The extension: arguments in, Arrow tables out, errors with names."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rtolab
from rtolab import _rtolab
from rtolab.result import TABLES

LINK = """
    title = "A short transfer over a slow link that loses packets"
    duration = "600 s"

    [[link]]
    name = "wireless"
    between = ["remote", "mobile"]
    rate = "28.8 kbit/s"
    delay = "200 ms"
    loss = 0.05

    [tcp]
    mss = "256 B"
"""
FLOW = """
    [[flow]]
    name = "transfer"
    from = "remote"
    to = "mobile"
    bytes = "10240 B"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(LINK + FLOW)
    return path


def frames(outcome: _rtolab.Outcome) -> dict[str, pl.DataFrame]:
    return {name: pl.DataFrame(outcome.table(name)) for name in TABLES}


def test_runs_are_numbered_sender_by_sender(scenario: Path) -> None:
    outcome = _rtolab.simulate(scenario, senders=["newreno", "sack+frto"], seeds=[7, 5, 9])
    runs = pl.DataFrame(outcome.table("connections")).select("run", "seed", "sender").rows()
    senders = ["newreno"] * 3 + ["sack+frto"] * 3
    assert runs == list(zip(range(6), [7, 5, 9] * 2, senders, strict=True))


def test_an_outcome_reports_the_effort_of_its_runs(scenario: Path) -> None:
    one = _rtolab.simulate(scenario, seeds=[1]).effort
    two = _rtolab.simulate(scenario, seeds=[1, 1]).effort
    for count in ("data_packets_delivered", "events"):
        assert two[count] == 2 * (one[count] or 0) > 0
    assert all((one[figure] or 0) > 0 for figure in ("set_up_s", "run_s", "peak_memory_mb"))


def test_without_senders_the_scenario_names_the_sender(scenario: Path) -> None:
    own = frames(_rtolab.simulate(scenario, seeds=[1, 2], trace=True))
    assert own["connections"].height == 2
    sender = own["connections"]["sender"][0]
    named = frames(_rtolab.simulate(scenario, senders=[sender], seeds=[1, 2], trace=True))
    assert all(own[name].equals(named[name]) for name in TABLES)


def test_any_number_of_threads_gives_the_same_tables(scenario: Path) -> None:
    def tables(jobs: int) -> dict[str, pl.DataFrame]:
        arguments: dict[str, Any] = {"senders": ["newreno", "sack"], "trace": True, "windows": True}
        return frames(_rtolab.simulate(scenario, seeds=range(20), jobs=jobs, **arguments))

    one = tables(1)
    assert one["segments"].height > 1000
    for jobs in (2, 5, 0):
        several = tables(jobs)
        assert all(one[name].equals(several[name]) for name in TABLES)


def test_tables_that_were_not_requested_are_empty(scenario: Path) -> None:
    outcome = _rtolab.simulate(scenario, seeds=[1])
    assert len(outcome.table("connections")) == 1
    assert len(outcome.table("links")) == 2
    for name in ("segments", "windows", "disturbances"):
        assert len(outcome.table(name)) == 0
    traced = _rtolab.simulate(scenario, seeds=[1], trace=True)
    assert len(traced.table("segments")) > 40
    assert len(traced.table("windows")) == 0
    watched = _rtolab.simulate(scenario, seeds=[1], windows=True)
    assert len(watched.table("segments")) == 0
    assert len(watched.table("windows")) > 10


def test_detectors_give_a_verdict_on_every_timeout(scenario: Path) -> None:
    names = [detector["name"] for detector in _rtolab.detectors()]
    assert {"eifel", "frto", "dualrtt", "dsack"} <= set(names)
    outcome = _rtolab.simulate(scenario, seeds=range(20), judges=names, what_if=["sack"])
    timeouts, verdicts = (pl.DataFrame(outcome.table(t)) for t in ("timeouts", "verdicts"))
    assert timeouts.height > 0
    assert verdicts.height == timeouts.height * len(names)
    assert set(timeouts["truth"]) <= {"spurious", "ack-lost", "genuine"}
    assert len(outcome.table("what_if")) > 0
    assert len(outcome.table("duplicates")) > 0


@pytest.mark.parametrize(
    ("requested", "said"),
    [
        ({"judges": ["eiffel"]}, r"unknown detector `eiffel`; expected one of \d+, such as eifel"),
        ({"what_if": ["sack+eiffel"]}, "unknown policy `eiffel`"),
        (
            {"what_if": ["sack+eifel"]},
            r"`sack\+eifel` cannot continue a connection of `newreno`: .*timestamps",
        ),
    ],
)
def test_an_unknown_detector_or_sender_is_named(
    scenario: Path, requested: dict[str, Any], said: str
) -> None:
    with pytest.raises(_rtolab.SenderError, match=said):
        _rtolab.simulate(scenario, senders=["newreno"], seeds=[1], **requested)


@pytest.mark.parametrize("name", TABLES)
def test_tables_open_in_polars_pandas_and_pyarrow(scenario: Path, name: str) -> None:
    outcome = _rtolab.simulate(scenario, seeds=range(3), trace=True, windows=True)
    table = outcome.table(name)
    arrow = pa.table(table)
    assert arrow.column_names == table.columns
    assert arrow.num_rows == len(table)
    assert table.columns[:3] == ["run", "seed", "sender"]
    assert pl.DataFrame(table).equals(pl.DataFrame(arrow))
    pd.testing.assert_frame_equal(pd.DataFrame.from_arrow(table), arrow.to_pandas())
    assert repr(table).startswith(f"<Table: {len(table)} rows, run, seed, sender, ")


def test_an_override_takes_effect(scenario: Path) -> None:
    lossless = _rtolab.simulate(scenario, set=[("link.wireless.loss", "0.0")], seeds=range(5))
    lossy = _rtolab.simulate(scenario, set=[("link.wireless.loss", "0.2")], seeds=range(5))
    assert pl.DataFrame(lossless.table("links"))["dropped_error"].sum() == 0
    assert pl.DataFrame(lossy.table("links"))["dropped_error"].sum() > 0


def test_a_sender_that_no_flow_uses_is_an_error(scenario: Path) -> None:
    own = {"flow.transfer.sender": "newreno"}
    assert rtolab.run(scenario, set=own).connections["flow_sender"].to_list() == ["newreno"]
    with pytest.raises(rtolab.ScenarioError, match="found the sender sack, but each flow has a"):
        rtolab.run(scenario, set=own, sender="sack")


def test_an_unknown_sender_is_named_with_those_that_are_known(scenario: Path) -> None:
    for wrong in (
        lambda: _rtolab.check(scenario, senders=["newreno", "sack+frot"]),
        lambda: _rtolab.simulate(scenario, senders=["newreno", "sack+frot"], seeds=[1]),
    ):
        with pytest.raises(rtolab.SenderError, match="unknown policy `frot` in sender `sack"):
            wrong()
    _rtolab.check(scenario, senders=["newreno", "sack+frto"])


def test_a_wrong_scenario_is_an_error_with_its_file(scenario: Path, tmp_path: Path) -> None:
    with pytest.raises(rtolab.ScenarioError, match=re.escape(str(tmp_path / "nowhere.toml"))):
        _rtolab.check(tmp_path / "nowhere.toml")
    scenario.write_text(LINK.replace("delay", "dleay") + FLOW)
    for wrong in (
        lambda: _rtolab.check(str(scenario)),
        lambda: _rtolab.simulate(str(scenario), seeds=[1]),
    ):
        with pytest.raises(rtolab.ScenarioError, match=r"scenario\.toml.*dleay"):
            wrong()


def test_every_error_has_the_same_base() -> None:
    for error in (rtolab.ScenarioError, rtolab.SenderError, rtolab.InternalError):
        assert issubclass(error, rtolab.Error)
        assert error.__module__ == "rtolab"
        assert error.__doc__


def test_every_policy_makes_a_sender(scenario: Path) -> None:
    questions = {policy["name"]: policy["question"] for policy in rtolab.policies()}
    first = [name for name, question in questions.items() if question in {"recovery", "profile"}]
    others = [name for name in questions if name not in first]
    assert {"sack", "linux-2.4"} <= set(first)
    assert "frto" in others
    responses = [name for name, question in questions.items() if question == "response"]
    heads = {name: "sack+eifel" if name in responses else "sack" for name in others}
    # QUIC's undo knows the packets that its loss recovery declared lost.
    heads |= dict.fromkeys(("undo", "undo:any"), "rfc9002")
    specifications = [*first, *(f"{head}+{name}" for name, head in heads.items())]
    known = [("tcp.dualrtt.path_rate", "50 kbit/s"), ("tcp.dualrtt.path_delay", "1.4 s")]
    _rtolab.check(scenario, senders=specifications, set=known)


def test_every_name_has_a_description_and_a_source() -> None:
    for one in (*rtolab.policies(), *_rtolab.receivers(), *_rtolab.detectors()):
        assert one["name"]
        assert one["about"]
        assert one["source"]
    for policy in rtolab.policies():
        assert bool(policy["behaviours"]) == (policy["question"] == "profile")
    for one in (*rtolab.policies(), *_rtolab.receivers()):
        assert all(behaviour["about"] and behaviour["source"] for behaviour in one["behaviours"])


def test_every_receiver_profile_can_be_set(scenario: Path) -> None:
    names = [receiver["name"] for receiver in _rtolab.receivers()]
    assert {"bsdi-3.0", "linux-2.4", "ns2-2001"} <= set(names)
    for name in names:
        _rtolab.check(scenario, set=[("receiver.profile", name)])
    with pytest.raises(rtolab.ScenarioError, match=r'such as "bsdi-3\.0", '):
        _rtolab.check(scenario, set=[("receiver.profile", "bsdi")])


def test_the_schema_is_a_json_schema() -> None:
    schema = json.loads(rtolab.schema())
    assert "json-schema.org" in schema["$schema"]
    assert {"title", "duration", "link", "flow"} <= schema["properties"].keys()


def test_a_capture_that_cannot_be_written_says_why(scenario: Path) -> None:
    traced = _rtolab.simulate(scenario, seeds=[1], trace=True)
    with pytest.raises(rtolab.Error, match="no run 1: there are 1, counted from 0"):
        traced.pcapng(1, "sender")
    with pytest.raises(rtolab.Error, match="at `sender` and at `receiver` only"):
        traced.pcapng(0, "wireless")
    with pytest.raises(rtolab.Error, match="set `trace`"):
        _rtolab.simulate(scenario, seeds=[1]).pcapng(0, "sender")


def test_progress_is_reported_and_its_error_ends_the_runs(scenario: Path) -> None:
    reported: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        reported.append((done, total))
        if len(reported) == 3:
            raise OverflowError("enough")

    with pytest.raises(OverflowError, match="enough"):
        _rtolab.simulate(scenario, seeds=range(1_000_000), jobs=2, progress=progress)
    assert [total for _, total in reported] == [1_000_000] * 3
    assert sorted(reported) == reported
    assert 0 < reported[-1][0] < 1_000_000


def test_control_c_ends_the_runs(scenario: Path) -> None:
    program = (
        "from rtolab import _rtolab\n"
        "def begun(done, total): print(done, flush=True)\n"
        f"_rtolab.simulate({str(scenario)!r}, seeds=range(1_000_000), progress=begun)\n"
    )
    command = [sys.executable, "-c", program]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=600)
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
