"""Each line of the threat model names the tests that hold it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "threats.md"
HEAD = "| what they try | what stops it | test |"


def lines() -> list[tuple[str, list[str]]]:
    """What is tried, and the references of its tests."""
    rows = [row for row in PAGE.read_text(encoding="utf-8").splitlines() if row.startswith("|")]
    found = [row for row in rows if row != HEAD and not row.startswith("|---")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in found]
    assert all(len(row) == 3 for row in cells)
    return [(tried, re.findall(r"`([^`]+)`", tests)) for tried, _, tests in cells]


@cache
def names_of(path: Path) -> set[str]:
    """The tests of a file of Python or Rust."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        # In a macro of proptest, too.
        return set(re.findall(r"#\[test\]\s+(?:#\[[^]]*\]\s+)*(?:fn (\w+))", text))
    return {
        node.name
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_there_is_a_line_for_each_door() -> None:
    text = PAGE.read_text(encoding="utf-8")
    doors = ["serve", "watch", "mcp", "gateway", "kernel", "diagnose", "tune", "import", "record"]
    assert not [door for door in doors if f"`rtolab {door}" not in text and f"`{door}`" not in text]
    assert len(lines()) > 40
    assert text.count(HEAD) == len(re.findall(r"^## ", text, re.MULTILINE))


@pytest.mark.parametrize(("tried", "references"), lines(), ids=lambda one: str(one)[:50])
def test_a_line_names_tests_that_exist(tried: str, references: list[str]) -> None:
    assert references, tried
    for reference in references:
        name, _, test = reference.partition("::")
        assert (ROOT / name).is_file(), reference
        found = names_of(ROOT / name)
        assert test in found if test else found, reference


def test_who_looks_for_it_finds_it() -> None:
    assert "docs/threats.md" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "- threats.md\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
