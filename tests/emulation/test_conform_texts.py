"""The text, the page and the JUnit XML of results written by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import rtolab
from program import printed, with_style
from rtolab.conform import Score, Suite, overall
from rtolab.conform.page import page
from rtolab.conform.report import (
    Baseline,
    Report,
    beside,
    check_baseline,
    check_suite,
    junit,
    kept,
    read,
    table,
    warning,
)
from rtolab.conform.score import Change, Verdict


def result(name: str, score: float = 50.0, **given: Any) -> Score:
    """A score of a transfer that takes 2 s, and 1 s undisturbed; of the excess 0.25 s is ours."""
    one = Score(
        id=name,
        says=f"{name} <is> held",
        transfer="1200 kB",
        ended="recovered",
        score=score,
        took_s=2.0,
        path_s=0.5,
        undisturbed_s=1.0,
        excess_s=1.0,
        link_s=0.75,
        sent_bytes=1_234_567,
        unneeded_bytes=4_321,
        runs=(score,),
    )
    return replace(one, **given)


def of(*scores: Score, **given: Any) -> Report:
    return Report("ours", {}, {}, Suite.TODAY, 7, [*scores], [], **given)


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


EVERYTHING = of(
    result(
        "held",
        runs=(49.4, 50.0, 60.6),
        declared_losses=8,
        spurious_losses=3,
        episodes=2,
        spurious_episodes=1,
        timeouts=4,
        spurious_timeouts=0,
        resume_s=0.0625,
    ),
    result("short", 99.5, took_s=0.0625, path_s=0.05, transfer="20 kB", undisturbed_s=0.0625),
    result("hangs", 0.0, ended="hung", excess_s=None, link_s=None, transfer="7 kB"),
    result("late", 80.0, doubts=("one", "two"), declared_losses=0, spurious_losses=0),
)


def test_the_scores_and_the_undisturbed_transfers_are_tables() -> None:
    broken = replace(EVERYTHING.scores[2], undisturbed_s=None, said="no <answer>")
    scores = [*EVERYTHING.scores[:2], broken, EVERYTHING.scores[3]]
    shown = table(replace(EVERYTHING, scores=scores))
    expected = (Path(__file__).parent / "printed" / "conform.txt").read_text(encoding="utf-8")
    assert lines(printed(shown)) == lines(expected)
    assert with_style(shown, "bold")[0] == "ours  57.4 of 100"
    assert with_style(shown, "bold red") == ["hung", "MEASUREMENT NOT GOOD"]
    assert with_style(shown, "yellow") == ["in doubt"]
    assert with_style(shown, "red") == ["hangs hung: no <answer>"]


def test_columns_without_anything_are_left_out() -> None:
    shown = table(of(result("held", runs=(50.0,))))
    heads = " ".join(printed(shown).split())
    for absent in ("score runs", "spurious", "resumes"):
        assert absent not in heads, absent
    assert heads.startswith("ours 50.0 of 100 1 scenario of today 2, seed 7, 0 not recovered ")
    assert with_style(shown, "bold green") == ["MEASUREMENT GOOD"]


def test_changes_against_a_baseline_are_shown_beside_the_scores() -> None:
    scores = [result(name) for name in ("same", "better", "worse", "unclear")]
    verdicts = (Verdict.SAME, Verdict.BETTER, Verdict.WORSE, Verdict.UNDECIDABLE)
    found = replace(
        of(*scores),
        changes=[
            Change(one.id, before, 50.0, verdict)
            for one, before, verdict in zip(scores, (50, 40.4, 60, 90), verdicts, strict=True)
        ],
        baseline=Baseline("old.json", "theirs", ["set"]),
    )
    shown = table(found)
    rows = {line.split()[0]: line.split() for line in lines(printed(shown)) if line.strip()}
    assert rows["better"][-2:] == ["better", "(40)"]
    assert rows["worse"][-2:] == ["worse", "(60)"]
    assert rows["unclear"][-2:] == ["undecidable", "(90)"]
    assert rows["same"][-1] == "1235"
    assert with_style(shown, "bold green") == ["better (40)", "MEASUREMENT GOOD"]
    assert with_style(shown, "bold red") == ["worse (60)"]
    said = "WARNING  settings differ between ours and the baseline, theirs"
    assert with_style(shown, "yellow") == ["undecidable (90)", said]
    assert lines(printed(shown))[-2:] == [
        "ours compared with theirs (old.json): 1 same, 1 better, 1 worse, 1 undecidable",
        said,
    ]
    none = replace(found, changes=[], baseline=Baseline("old.json", "theirs", []))
    assert lines(printed(table(none)))[-1] == (
        "ours compared with theirs (old.json): no scenario in common"
    )
    assert warning(none) == warning(of()) == ""
    partly = replace(none, changes=[*found.changes[1:]])
    first = found.scores[0].id
    assert with_style(table(partly), "yellow")[-1] == f"WARNING  the baseline lacks {first}"
    one = replace(found, baseline=Baseline("old.json", "theirs", ["kernel"]))
    assert warning(one) == "kernel differs between ours and the baseline, theirs"
    # Whatever the baseline, a transfer that hung is called so.
    hung = replace(found, scores=[replace(scores[2], ended="hung")])
    assert with_style(table(hung), "bold red") == ["hung"]


def test_scenarios_that_fail_for_one_reason_share_a_line() -> None:
    failed = {"ended": "failed", "exit_status": 3, "said": "no route"}
    six = [result(f"a{n}", 0.0, **failed) for n in range(6)]
    found = of(*six, result("b", 0.0, ended="hung"))
    assert with_style(table(found), "red") == [
        "a0, a1, a2, a3, a4 and 1 more failed (exit status 3): no route",
        "b hung",
    ]
    assert "more" not in " ".join(with_style(table(of(*six[:5])), "red"))


def test_the_first_doubts_are_listed() -> None:
    doubted = [result(f"a{n}", doubts=("x", "y")) for n in range(6)]
    shown = lines(printed(table(of(*doubted, result("b")))))
    at = shown.index("MEASUREMENT NOT GOOD  6 of 7 scores are in doubt")
    assert shown[at + 1 :] == [f"a{n}: x; y" for n in range(5)]


def test_the_worst_captures_that_are_kept_are_named() -> None:
    assert kept(of(result("a"))) == []
    scores = [result(f"a{n}", 60.0 - n, evidence=f"/kept/a{n}") for n in range(6)]
    heading, *commands = kept(of(*scores, result("b")))
    assert heading == "captures of 6 scenarios are in /kept; diagnose the worst with"
    assert commands == [
        f"rtolab diagnose --pair /kept/a{n}/sender.pcapng /kept/a{n}/receiver.pcapng"
        for n in (5, 4, 3, 2, 1)
    ]
    blind = result("a", evidence="/kept/a", is_datagrams=True)
    assert kept(of(blind)) == ["captures of 1 scenario are in /kept"]


def test_junit_describes_each_scenario() -> None:
    found = replace(
        of(
            result("held", doubts=("one", "two"), evidence="/kept/held"),
            result("hangs", 0.0, ended="hung", undisturbed_s=None, excess_s=None, link_s=None),
            result("fails", 0.0, ended="failed", exit_status=3, said="no <route>"),
            result("worse", 50.0),
        ),
        changes=[
            Change("held", 50.0, 50.0, Verdict.SAME),
            Change("hangs", 9.0, 0.0, Verdict.WORSE),
            Change("worse", 60.04, 50.0, Verdict.WORSE),
        ],
    )
    text = junit(found)
    assert text.startswith("<?xml version='1.0' encoding='")
    assert text.endswith("</testsuite>\n")
    assert '\n  <testcase classname="conform" name="held" time="2.000">\n    <system-out>' in text
    top = ET.fromstring(text)
    assert top.attrib == {
        "name": "rtolab conform ours",
        "tests": "4",
        "failures": "3",
        "errors": "0",
        "time": "8.000",
    }
    assert {
        case.get("name"): [failure.get("message") for failure in case.iter("failure")]
        for case in top
    } == {
        "held": [],
        "hangs": ["hung after 2.0 s"],
        "fails": ["failed (exit status 3) after 2.0 s: no <route>"],
        "worse": ["the score fell from 60.0 to 50.0"],
    }
    said = [case.findtext("system-out") for case in top]
    assert said[0] == (
        "held <is> held\nscore 50.0, 4321 B unneeded, 1.000 s excess, 0.750 s of it by the link\n"
        "the undisturbed path needs 0.500 s, this stack 1.000 s\none\ntwo\n"
        "rtolab diagnose --pair /kept/held/sender.pcapng /kept/held/receiver.pcapng"
    )
    assert said[1] == (
        "hangs <is> held\nscore 0.0, 4321 B unneeded\nthe undisturbed path needs 0.500 s"
    )


def document(name: str, *scores: Score) -> dict[str, Any]:
    return replace(of(*scores), stack=name).document()


def test_results_beside_each_other_are_a_table() -> None:
    first = document(
        "ours", result("a", 50.0), result("b", 60.0, took_s=0.05), result("c"), result("d", 10.0)
    )
    second = document(
        "theirs",
        result("a", 55.0, took_s=2.5),
        result("b", 54.9, took_s=0.0625, doubts=("x",)),
        result("c", ended="hung", took_s=60.0),
    )
    shown = beside([first, second], 5.0)
    text = lines(printed(shown))
    assert text[0] == (
        "ours 42.5, theirs 53.3  of 100; 2 of 4 scenarios differ by more than 5 points"
    )
    rows = [line.split() for line in text if line[:2] in (" a", " b", " c", " d", "a ", "b ")]
    assert rows == [
        ["a", "50", "2.00", "55", "2.50"],
        ["b", "60", "0.0500", "55?", "0.0625", "differ"],
        ["c", "50", "2.00", "50", "60.00", "differ"],
        ["d", "10", "2.00"],
    ]
    assert text[-1] == "times differ by 25 % (median), at most by 25 % (b)"
    assert with_style(shown, "bold")[0] == "ours 42.5, theirs 53.3"
    assert with_style(shown, "bold red") == ["differ", "differ"]
    hung = document("ours", result("a", ended="hung"))
    stuck = printed(beside([hung, hung], 5.0))
    assert "times differ" not in stuck
    assert lines(stuck)[-2].split() == ["a", "50", "2.00", "50", "2.00"]
    near = document("theirs", result("a", 56.0, took_s=2.19))
    alone = printed(beside([document("ours", result("a", 50.0)), near], 5.0))
    assert "; 1 of 1 scenario differs by more than 5 points" in alone
    assert "times differ by 9.5 % (median), at most by 9.5 % (a)" in alone


def test_a_document_has_everything_of_the_result() -> None:
    found = replace(
        EVERYTHING,
        command={"server": "serve"},
        set={"kernel.frto": 0},
        kernel="Linux 6.1",
        clock="virtual",
        changes=[Change("held", 1.0, 2.0, Verdict.BETTER)],
        baseline=Baseline("old.json", "theirs", ["set"]),
    ).document()
    scores, rest = found.pop("scenarios"), found
    assert [one["id"] for one in scores] == ["held", "short", "hangs", "late"]
    assert scores[0]["resume_s"] == 0.0625
    assert rest == {
        "rtolab": rtolab._rtolab.__version__,
        "stack": "ours",
        "command": {"server": "serve"},
        "set": {"kernel.frto": 0},
        "kernel": "Linux 6.1",
        "clock": "virtual",
        "suite": "today",
        "suite_version": Suite.TODAY.version,
        "seed": 7,
        "score": (50.0 + 99.5 + 80.0) / 4,
        "scores_in_doubt": 1,
        "not_recovered": 1,
        "undisturbed": [
            {"transfer": "1200 kB", "took_s": 1.0, "path_s": 0.5},
            {"transfer": "20 kB", "took_s": 0.0625, "path_s": 0.05},
            {"transfer": "7 kB", "took_s": 1.0, "path_s": 0.5},
        ],
        "baseline": {"file": "old.json", "stack": "theirs", "differs": ["set"]},
        "changes": [{"id": "held", "before": 1.0, "now": 2.0, "verdict": "better"}],
    }
    assert of().document()["baseline"] is None
    assert overall([]) == 0.0


def test_settings_that_differ_from_a_baseline_are_compared_as_text() -> None:
    now = replace(of(result("a")), set={"kernel.frto": 0}, command={"client": "get"}, kernel="6.1")
    same = now.document() | {"set": {"kernel.frto": "0"}}
    compared = now.against(same, Path("old.json"), 5)
    assert compared.baseline == Baseline("old.json", "ours", [])
    assert [change.verdict for change in compared.changes] == [Verdict.SAME]
    other = {"set": {}, "command": {}, "kernel": "6.2", "clock": "virtual", "stack": "theirs"}
    found = now.against(now.document() | other, Path("old.json"), 5).baseline
    assert found
    assert found.differs == ["stack", "command", "set", "kernel", "clock"]
    # Older results have neither a kernel nor a clock.
    old = {key: value for key, value in same.items() if key not in ("kernel", "clock")}
    assert now.against(old, Path("old.json"), 5).baseline == Baseline("old.json", "ours", [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "found no result of `rtolab conform --json` (Expecting property name"),
        ("{}", "found no result of `rtolab conform --json` ('scenarios')"),
        ('{"scenarios": [{"id": "a"}]}', "found no result of `rtolab conform --json` ('score')"),
        ('{"scenarios": [], "stack": "x", "seed": 1, "score": 1}', "found a result of no scenario"),
    ],
)
def test_a_file_that_is_no_result_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "old.json"
    file.write_text(text)
    with pytest.raises(rtolab.Error) as raised:
        read(file)
    assert str(raised.value).startswith(f"{file}: {said}")


def test_scores_of_other_scenarios_are_not_compared() -> None:
    file, version = Path("old.json"), Suite.TODAY.version
    right = {"suite": "today", "suite_version": version, "seed": 1}
    check_baseline(right, file, Suite.TODAY, 1)
    for wrong, said in (
        (
            right | {"seed": 2},
            "old.json is of seed 2 and this of 1: the scenarios differ; compare with --seed 2",
        ),
        (
            right | {"suite": "fifty"},
            (
                "old.json is of the suite fifty and this of today: the scenarios differ; compare "
                "with --suite fifty"
            ),
        ),
        (
            right | {"suite": "mine"},
            "old.json is of the suite mine and this of today: the scenarios differ",
        ),
        (
            right | {"suite_version": 99},
            (
                f"old.json is of version 99 of the suite today and this of version {version}: "
                "scores of different versions cannot be compared; store a new result"
            ),
        ),
    ):
        with pytest.raises(rtolab.Error) as raised:
            check_baseline(wrong, file, Suite.TODAY, 1)
        assert str(raised.value) == said
    with pytest.raises(rtolab.Error, match="of the suite fifty and this of today"):
        check_suite(right | {"suite": "fifty"}, file, Suite.TODAY)


def test_the_matrix_shows_the_details_of_each_score() -> None:
    first = replace(EVERYTHING, set={"kernel.frto": 0}, command={"server": "<serve>"})
    broken = replace(first.scores[2], said="no <answer>", undisturbed_s=None)
    first = replace(first, scores=[*first.scores[:2], broken, first.scores[3]])
    other = document("<theirs>", result("held", 12.5))
    text = page([first.document(), other])
    assert "<title>Conformance: ours, &lt;theirs&gt;</title>" in text
    assert "<th>ours</th><th>&lt;theirs&gt;</th></tr></thead>" in text
    assert f"Suite today {Suite.TODAY.version}, seed 7.\n" in text
    details = (
        "0.25 s, 4 kB<br>49 to 61<br>3 of 8 losses spurious<br>resumes after 0.06 s",
        "0.25 s, 4 kB",
        "4 kB",
        "0.25 s, 4 kB",
    )
    cells = [
        (
            f'<td class="score" style="background: hsl(60 65% 78%)">50<small>{details[0]}</small>'
            '</td><td class="score" style="background: hsl(15 65% 78%)">12<small>0.25 s, 4 kB'
            "</small></td>"
        ),
        (
            f'<td class="score" style="background: hsl(119 65% 78%)">100<small>{details[1]}</small>'
            "</td><td></td>"
        ),
        (
            '<td class="score" style="background: hsl(0 65% 78%)"><abbr title="no &lt;answer&gt;">'
            f"hung</abbr><small>{details[2]}</small></td><td></td>"
        ),
        (
            '<td class="score late" style="background: hsl(96 65% 78%)">80'
            f"<small>{details[3]}</small></td><td></td>"
        ),
    ]
    names = ("held", "short", "hangs", "late")
    rows = "\n".join(
        f"<tr><td>{name}</td><td>{name} &lt;is&gt; held</td>{cell}</tr>"
        for name, cell in zip(names, cells, strict=True)
    )
    assert f"<tbody>\n{rows}\n</tbody>" in text
    undisturbed = [
        ("1200 kB: the path needs 0.5 s", '<td class="score">1 s</td><td class="score">1 s</td>'),
        ("20 kB: the path needs 0.05 s", '<td class="score">0.0625 s</td><td></td>'),
        ("7 kB: the path needs 0.5 s", "<td></td><td></td>"),
    ]
    feet = "\n".join(
        f"<tr><td>undisturbed</td><td>{transfer}</td>{times}</tr>"
        for transfer, times in undisturbed
    )
    mean = '<td class="score">57.4</td><td class="score">12.5</td>'
    assert f'<tfoot>\n{feet}\n<tr><td colspan="2">mean</td>{mean}</tr></tfoot>' in text
    assert text.partition("</table>")[2].startswith(
        "\n<p><b>ours</b>: <code>kernel.frto=0; server: &lt;serve&gt;</code></p>\n"
        "<p><b>&lt;theirs&gt;</b>: <code>default settings</code></p>\n</body>"
    )
