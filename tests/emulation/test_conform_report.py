"""Results of stacks: tables, pages, JUnit XML, baselines and evidence."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import program
import rtolab
from conform_results import CLEAN, NEEDED_S, STALL, TWIN, measured, report, scored
from program import printed
from rtolab.conform import Scenario, Stack, Suite, changes, conform, evidence, suite
from rtolab.conform.measure import TransferMeasurement, TransferOutcome
from rtolab.conform.page import page
from rtolab.conform.report import beside, check_baseline, junit, read, table
from rtolab.conform.report import kept as kept_lines
from rtolab.conform.run import PLACEHOLDERS, UndisturbedTransferError
from rtolab.conform.score import Verdict, score
from rtolab.emulation.placeholders import check_placeholders


def test_a_fall_beyond_the_margin_is_worse() -> None:
    now = [scored(measured(took_s=2 * NEEDED_S))]
    before = {"clean": 56.0, "gone": 3.0}
    (change,) = changes(now, before, 5.0)
    assert (change.before, change.verdict) == (56.0, Verdict.WORSE)
    assert change.now == pytest.approx(50)
    assert changes(now, before, 7.0)[0].verdict is Verdict.SAME
    assert changes(now, {"clean": 40.0}, 5.0)[0].verdict is Verdict.BETTER
    late = [scored(measured(took_s=2 * NEEDED_S, doubts=("late",)))]
    assert changes(late, before, 5.0)[0].verdict is Verdict.UNDECIDABLE
    assert changes(now, {}, 5.0) == []


def test_junit_reports_hangs_and_lower_scores_as_failures() -> None:
    hung = score(
        Scenario("h", Suite.LOSSES, "is lost"), [measured(ended=TransferOutcome.HUNG)], TWIN
    )
    slow = scored(measured(took_s=2 * NEEDED_S))
    top = ET.fromstring(junit(report(slow, hung, before={"clean": 99})))
    assert (top.get("tests"), top.get("failures")) == ("2", "2")
    messages = [one.get("message") for one in top.iter("failure")]
    assert messages == ["the score fell from 99.0 to 50.0", "hung after 5.3 s"]
    fine = ET.fromstring(junit(report(scored(measured()))))
    assert fine.get("failures") == "0"
    assert not list(fine.iter("failure"))


def test_the_matrix_has_a_column_a_result() -> None:
    one = report(scored(measured(unneeded=30_000, doubts=("late",)))).document()
    hung = report(scored(measured(ended=TransferOutcome.HUNG))).document() | {"stack": "other"}
    text = page([one, hung])
    assert "<th>a &lt;stack&gt;</th><th>other</th>" in text
    assert "kernel.frto=0" in text
    assert (
        '<td class="score late" style="background: hsl(97 65% 78%)">81<small>0.00 s, 30 kB' in text
    )
    assert ">hung<small>" in text
    assert "http" not in text


def test_the_times_without_disturbances_are_shown() -> None:
    one = report(scored(measured(took_s=2 * NEEDED_S)))
    lines = [line.split() for line in printed(table(one)).splitlines()]
    assert ["1200", "kB", "5.28", "5.28", "100", "%"] in lines
    assert ["clean", "50", "10.56", "5.28", "5.28", "0.00", "0.0", "1200"] in lines
    (undisturbed,) = one.document()["undisturbed"]
    assert undisturbed == {"transfer": "1200 kB", "took_s": NEEDED_S, "path_s": NEEDED_S}
    assert "<td>1200 kB: the path needs 5.28 s</td>" in page([one.document()])
    assert "the undisturbed path needs 5.280 s, this stack 5.280 s" in junit(one)


def test_a_failure_shows_its_exit_status_and_leaves_the_numbers() -> None:
    failed = replace(measured(ended=TransferOutcome.FAILED), exit_status=7, said="no route " * 30)
    broken = report(scored(measured()), scored(failed, STALL))
    text = printed(table(broken))
    row, *_ = [line.split() for line in text.splitlines() if line.strip().startswith("stall ")]
    assert row[:4] == ["stall", "0", "5.28", "5.28"]
    assert row[-4:] == ["failed", "(exit", "status", "7)"]
    assert "MEASUREMENT GOOD  no score is in doubt" in text
    assert f"failed (exit status 7) after 5.3 s: {failed.said}" in junit(broken)
    document = broken.document()
    assert (document["scores_in_doubt"], document["not_recovered"]) == (0, 1)
    assert "good" not in document


def test_a_baseline_of_another_stack_is_named(tmp_path: Path) -> None:
    now = report(scored(measured()))
    path = tmp_path / "old.json"
    before = replace(now, stack="other", kernel="Linux 6.1").document()
    compared = now.against(before, path, 5)
    assert compared.baseline
    assert compared.baseline.differs == ["stack", "kernel"]
    text = " ".join(printed(table(compared)).split())
    assert f"a <stack> compared with other ({path}): 1 same" in text
    assert "stack, kernel differ between a <stack> and the baseline, other" in text
    same = now.against(now.document(), path, 5)
    assert same.baseline
    assert same.baseline.differs == []
    assert "WARNING" not in printed(table(same))


class Runner:
    """Runs in which the transfer of 20 kB hangs, and leaves a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, scenario: Scenario, number: int, *_: object) -> TransferMeasurement:
        left = self.folder / f"{scenario.id}-{number}"
        left.mkdir()
        (left / "sender.pcapng").touch()
        short = scenario.bytes == 20_000
        ended = TransferOutcome.HUNG if short else TransferOutcome.RECOVERED
        return replace(measured(ended=ended, arrived=10**7), evidence=str(left))


def test_an_undisturbed_transfer_that_hangs_leaves_the_other_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(tmp_path)
    monkeypatch.setattr("rtolab.conform.run._Runner.run", lambda _, *one: runner.run(*one))
    tail, loss = (one for one in suite() if one.id in ("tail-1", "loss-1"))
    found = {one.id: one for one in conform(Stack("ours"), [tail, loss], evidence=tmp_path / "e")}
    assert (found["loss-1"].ended, found["tail-1"].ended) == ("recovered", "hung")
    assert (found["tail-1"].score, found["tail-1"].undisturbed_s) == (0, None)
    assert "raise --limit if it needs longer" in found["tail-1"].said
    assert (tmp_path / "e" / "tail-1" / "sender.pcapng").exists()
    runner.folder = tmp_path / "again"
    runner.folder.mkdir()
    with pytest.raises(UndisturbedTransferError, match=r"ours: the transfer of 20 kB .* within 60"):
        conform(Stack("ours"), [tail])


def test_evidence_is_kept_and_named(tmp_path: Path) -> None:
    made = []
    for name, ended in (("a", TransferOutcome.RECOVERED), ("b", TransferOutcome.HUNG)):
        (tmp_path / name).mkdir()
        one = scored(measured(ended=ended), replace(CLEAN, id=f"is-{name}"))
        made.append(replace(one, evidence=str(tmp_path / name)))
    kept = evidence.collect(made, tmp_path / "kept")
    assert [one.evidence for one in kept] == [str(tmp_path / "kept" / f"is-{n}") for n in "ab"]
    recovered, hung = evidence.drop(kept, [])
    assert recovered.evidence == ""
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["is-b"]
    files = [f"{hung.evidence}/{place}.pcapng" for place in ("sender", "receiver")]
    assert evidence.command(hung) == f"rtolab diagnose --pair {files[0]} {files[1]}"
    assert evidence.command(hung) in junit(report(hung))
    heading, line = kept_lines(report(hung))
    assert heading.startswith(f"captures of 1 scenario are in {tmp_path / 'kept'}; diagnose")
    assert line == evidence.command(hung)
    # The datagrams of a stack without logs cannot be diagnosed.
    assert evidence.command(replace(hung, is_datagrams=True)) == ""
    for host in ("server", "client"):
        (tmp_path / "kept" / "is-b" / host).mkdir()
        (tmp_path / "kept" / "is-b" / host / "x.sqlog").touch()
    assert evidence.command(replace(hung, is_datagrams=True)).endswith("client/x.sqlog")


def test_a_misspelt_placeholder_is_named() -> None:
    for server, client, reported in (
        ("serve {servr}", ["get"], "--server: found {servr}; expected {server}"),
        ("serve", ["get", "http://{server}/{byte}"], "the client: found {byte}; expected {bytes}"),
    ):
        with pytest.raises(rtolab.Error) as raised:
            conform(Stack("x", {}, server, client), [CLEAN])
        assert str(raised.value) == reported
    # Braces have other uses.
    check_placeholders("x", ["awk '{print}' ${servr}", "{peer} {bytes}"], PLACEHOLDERS)


def test_scenarios_are_written_as_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--only", "loss-1", "--only", "tail-1", "--write-scenarios", tmp_path, "--json")
    assert program.call(monkeypatch, "conform", *words) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert files == [str(tmp_path / f"{name}.toml") for name in ("tail-1", "loss-1")]
    assert "--seed 1043" in Path(files[1]).read_text()
    assert rtolab.run(files[1], seed=1043).connections["completed"].all()
    assert program.call(monkeypatch, "emulate", "loss-1") == 2
    reported = capsys.readouterr().err
    assert "rtolab conform --only loss-1 --write-scenarios FOLDER" in " ".join(reported.split())


def test_results_beside_each_other_are_marked_where_they_differ() -> None:
    one = report(scored(measured()), scored(measured(took_s=2 * NEEDED_S), STALL)).document()
    late = scored(measured(took_s=1.01 * NEEDED_S, doubts=("late",)))
    other = report(late).document() | {"stack": "other"}
    same = printed(beside([one, other], 5.0))
    assert "0 of 2 scenarios differ by more than 5 points" in same
    assert "99?" in same
    assert "times differ by 0.5 % (median), at most by 1 % (clean)" in same
    slow = report(scored(measured(took_s=1.2 * NEEDED_S))).document() | {"stack": "slow"}
    text = printed(beside([one, slow], 5.0))
    (row,) = [line for line in text.splitlines() if line.strip().startswith("clean")]
    assert row.split() == ["clean", "100", "5.28", "83", "6.34", "differ"]
    assert "1 of 2 scenarios differs" in text


def test_earlier_results_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(report(scored(measured())).document()))
    check_baseline(read(path), path, Suite.STALLS, 1)
    with pytest.raises(rtolab.Error, match="compare with --seed 1"):
        check_baseline(read(path), path, Suite.FIFTY, 2)
    with pytest.raises(rtolab.Error, match=r"of the suite fifty and this of today.*--suite fifty"):
        check_baseline(read(path), path, Suite.TODAY, 1)
    document = json.loads(path.read_text())
    assert (document["suite"], document["suite_version"]) == ("fifty", 2)
    path.write_text(json.dumps(document | {"suite_version": 3}))
    with pytest.raises(rtolab.Error, match="version 3 of the suite fifty and this of version 2"):
        check_baseline(read(path), path, Suite.FIFTY, 1)
    # Results without a suite are older than the second one.
    del document["suite"], document["suite_version"]
    path.write_text(json.dumps(document))
    with pytest.raises(rtolab.Error, match="version 1 of the suite fifty and this of version 2"):
        check_baseline(read(path), path, Suite.FIFTY, 1)
    path.write_text("[]")
    with pytest.raises(rtolab.Error, match="found no result"):
        read(path)


def test_a_baseline_without_any_of_the_scenarios_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(report(scored(measured())).document()))
    monkeypatch.setattr("rtolab.conform.run.conform", lambda *_, **__: pytest.fail("it ran"))
    words = ("--baseline", str(path), "--only", "tail-1", "--only", "tail-2")
    assert program.call(monkeypatch, "conform", *words) == 2
    lacks = "found no scenario in common, so nothing would be compared: it lacks tail-1, tail-2"
    assert capsys.readouterr().err == f"rtolab: {path}: {lacks}\n"


def test_wrong_arguments_are_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, reported in (
        (["--server", "x"], "a client needs a server and a server a client"),
        (["--only", "stall-7s"], "--only stall-7s: found no such scenario; expected one of"),
        (["--only", "dc-tail-1"], "not in the suite fifty; add --suite today"),
    ):
        assert program.call(monkeypatch, "conform", *words) == 2
        assert reported in capsys.readouterr().err
