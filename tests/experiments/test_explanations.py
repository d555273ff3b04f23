"""Explanations of failing checks: commands are valid, and cheap ones print what is said."""

import re
import shlex
from pathlib import Path

import pytest
import typer

import program
from missed_checks import missed
from rtolab import check
from rtolab.cli import app
from rtolab.experiments import EXPERIMENTS, find
from rtolab.experiments.base import Check
from rtolab.experiments.explanation import Demonstration, Explanation
from rtolab.run import find_scenario

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?")


INDEX = Path(__file__).parents[2] / "docs" / "papers" / "index.md"

CHEAP = (
    "rtolab reproduce dualrtt2004/table5-phys",
    "rtolab reproduce dualrtt2004/table3",
    "rtolab reproduce dualrtt2004/table2",
    "rtolab reproduce minrto2007/fig2",
    "rtolab reproduce delays2001/fig8 --search",
    "rtolab reproduce delays2001/fig1 --assume tcp.rto.sampling=every-ack",
    "rtolab run ack-outage --sender sack+frto --judge frto",
)
"""Commands that take about a second each."""


def explanation(one: Check, verdict: str) -> Explanation | None:
    return one.failure_cause if verdict == "fail" else one.not_reproducible


def checks() -> dict[tuple[str, str], Check]:
    """All checks, by experiment and name with its note."""
    return {
        (experiment.id, f"{one.name} ({one.note})" if one.note else one.name): one
        for experiment in EXPERIMENTS
        for one in experiment.checks
    }


def explanations() -> list[Explanation]:
    """Every explanation of a check."""
    return [
        cause
        for one in checks().values()
        for cause in (one.failure_cause, one.not_reproducible)
        if cause
    ]


def demonstrations() -> list[Demonstration]:
    """Every demonstration; a command may serve several explanations."""
    return [cause.shown_by for cause in explanations() if cause.shown_by]


def parsed(command: str) -> typer.Context:
    """What the command line makes of a command, which is not run."""
    name, *words = shlex.split(command)
    assert name == "rtolab"
    group = typer.main.get_command(app)
    with group.make_context("rtolab", list(words), resilient_parsing=True) as context:
        name, subcommand, rest = group.resolve_command(context, words)  # type: ignore[attr-defined]
        return subcommand.make_context(name, rest, parent=context)  # type: ignore[no-any-return]


def pairs(given: list[str] | None) -> list[tuple[str, str]]:
    return [(key, value) for key, _, value in (one.partition("=") for one in given or ())]


@pytest.mark.parametrize("id_", missed())
def test_every_missed_check_is_explained(id_: str) -> None:
    known = checks()
    for name, verdict in missed()[id_].items():
        cause = explanation(known[id_, name], verdict)
        assert cause is not None, name
        assert cause.text
        if cause.shown_by:
            assert cause.shown_by.finding


@pytest.mark.parametrize("command", sorted({one.command for one in demonstrations()}))
def test_every_command_is_valid(command: str) -> None:
    context = parsed(command)
    given = context.params
    if context.info_name == "run":
        check(find_scenario(given["scenario"]), pairs(given["set_"]), given["sender"] or [])
        return
    assert context.info_name == "reproduce"
    found = find(given["experiment"])
    for experiment in found:
        assert not given["search"] or experiment.unstated
        if experiment.scenario:
            assumed = {a.name: a.value for a in experiment.assumptions if a.is_key}
            path = find_scenario(experiment.scenario)
            check(path, [*(assumed | dict(pairs(given["assume"]))).items()])


def test_the_guide_counts_demonstrated_causes() -> None:
    known = checks()
    causes = [
        explanation(known[id_, name], verdict)
        for id_, verdicts in missed().items()
        for name, verdict in verdicts.items()
    ]
    shown = [cause.shown_by.is_cause for cause in causes if cause and cause.shown_by]
    page = " ".join(INDEX.read_text(encoding="utf-8").split())
    assert f"Of the {len(causes)} checks that fail or are not reproducible" in page
    assert f"a command demonstrates the cause of {sum(shown)}." in page
    assert f"The cause of {len(shown) - sum(shown)} is not known" in page
    assert f"{len(causes) - len(shown)} are reasoned, not demonstrated" in page


def test_an_unknown_option_is_noticed() -> None:
    with pytest.raises(Exception, match="No such option"):
        parsed("rtolab reproduce frto2002/table1 --assumed tcp.mss=1")


def numbers(text: str) -> list[str]:
    return [found.replace(",", "") for found in NUMBER.findall(text)]


@pytest.mark.slow
@pytest.mark.parametrize("command", CHEAP)
def test_a_command_prints_what_is_said(
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """Each number of the finding is one of the output, perhaps rounded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "2000")
    assert program.call(monkeypatch, *shlex.split(command)[1:]) in (0, 1)
    printed = capsys.readouterr().out
    for cause in explanations():
        shown = (cause.shown_by.command, cause.shown_by.finding) if cause.shown_by else ()
        for text in (*shown, cause.text):
            printed = printed.replace(text, "")
    known = [float(number) for number in numbers(printed)]
    findings = {one.finding for one in demonstrations() if one.command == command}
    assert findings
    for said in (number for finding in findings for number in numbers(finding)):
        digits = len(said.partition(".")[2])
        assert float(said) in {round(number, digits) for number in known}, said
