"""Explanations of failing checks: commands are valid, and cheap ones print what is said."""

import re
import shlex

import pytest
import typer

from missed_checks import missed
from rtolab import check
from rtolab.cli import app
from rtolab.experiments import EXPERIMENTS, find
from rtolab.experiments.base import Check
from rtolab.experiments.explanation import Demonstration, Explanation
from rtolab.run import find_scenario

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?")


def explanation(one: Check, verdict: str) -> Explanation | None:
    return one.explained if verdict == "fail" else one.because


def checks() -> dict[tuple[str, str], Check]:
    """All checks, by experiment and name with its note."""
    return {
        (experiment.id, f"{one.name} ({one.note})" if one.note else one.name): one
        for experiment in EXPERIMENTS
        for one in experiment.checks
    }


def demonstrations() -> dict[str, Demonstration]:
    """Every demonstration, by its command; commands may serve several explanations."""
    given = [
        cause.shown_by
        for one in checks().values()
        for cause in (one.explained, one.because)
        if cause and cause.shown_by
    ]
    return {one.command: one for one in given}


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


@pytest.mark.parametrize("command", demonstrations())
def test_every_command_is_valid(command: str) -> None:
    context = parsed(command)
    given = context.params
    if context.info_name == "run":
        check(find_scenario(given["scenario"]), set=dict(pairs(given["set_"])))
        return
    assert context.info_name == "reproduce"
    found = find(given["experiment"])
    for experiment in found:
        assert not given["search"] or experiment.unstated
        if experiment.scenario:
            assumed = {a.name: a.value for a in experiment.assumptions if a.is_key}
            path = find_scenario(experiment.scenario)
            check(path, set=assumed | dict(pairs(given["assume"])))
