"""The page that says what rtolab was checked against."""

import re
from pathlib import Path

import pytest

import checked
import recorded
from rtolab.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date() -> None:
    """`python tools/guide/checked.py` updates it."""
    assert checked.PAGE.read_text(encoding="utf-8") == checked.page()


def test_every_command_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for one in checked.CHECKS:
        for command in one.command.split("; "):
            first, second, *_ = [*command.removeprefix("sudo ").split(), ""]
            if first == "rtolab":
                assert second in COMMANDS, command
            elif first == "make":
                assert f"\n{second}:" in makefile, command
            elif first != "cargo":
                assert (ROOT / first).is_file(), command


@pytest.mark.parametrize("one", checked.CHECKS, ids=lambda one: one.name)
def test_every_check_has_a_page_a_date_and_figures(one: checked.Check) -> None:
    assert (ROOT / "docs" / one.page).is_file()
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", one.date)
    assert re.search(r"\d", one.score())
    assert one.wrong().endswith(".")


def test_a_figure_whose_source_is_gone_is_an_error() -> None:
    with pytest.raises(recorded.NotRecordedError, match=r"cases\.md: no table whose head"):
        recorded.table("docs/cases.md", "no such column")
    with pytest.raises(recorded.NotRecordedError, match=r"cases\.md: no sentence like"):
        recorded.sentence("docs/cases.md", r"(\d+) of nothing")


def test_numbers_are_read_as_they_are_printed() -> None:
    assert recorded.numbers("1,234 of 5,678, 90 %") == [1234, 5678, 90]
    assert recorded.shares(["3 of 4", "1,000 of 1,001, 1", "-"]) == (1003, 1005)


def test_who_looks_for_it_finds_it() -> None:
    assert "docs/checked.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "- checked.md\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
