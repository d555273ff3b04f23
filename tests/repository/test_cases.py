"""docs/cases.md lists the worked cases, and each has a test."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEST = re.compile(r"\bfn t_([a-z0-9]+?)_(\d+b?)(?:_(and|to)_(\d+))?_")


def ids_of_tests() -> set[str]:
    """The ids that names of tests begin with."""
    found = set()
    for file in (ROOT / "crates").rglob("*.rs"):
        for group, first, joint, last in TEST.findall(file.read_text(encoding="utf-8")):
            numbers = range(int(first), int(last) + 1) if joint else [first]
            found |= {f"T-{group.upper()}-{number}" for number in numbers}
    return found


def test_every_case_is_listed_and_tested() -> None:
    page = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \*\*(T-[A-Z0-9]+-\w+)\*\*", page, re.MULTILINE)
    assert len(listed) == len(set(listed)) > 100
    assert set(listed) == ids_of_tests()
