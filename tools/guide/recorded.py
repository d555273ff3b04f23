"""Figures that the pages of the guide and the files of the tests record."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


class NotRecordedError(Exception):
    """A page does not have the table or the sentence any more; `checked.py` must follow it."""


@cache
def text(path: str) -> str:
    """A file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def table(path: str, *columns: str, after: str | None = None) -> list[list[str]]:
    """The rows of the first table of a page whose head begins with these columns.

    With `after`, that of the first one after this line.

    Raises:
        NotRecordedError: the page has no such line or table.
    """
    lines = text(path).splitlines()
    if after is not None and after not in lines:
        raise NotRecordedError(f"{path}: no line {after}")
    start = 0 if after is None else lines.index(after)
    for at, line in enumerate(lines[start:], start):
        # A table in the documentation of a Rust file is in its comment.
        head = _cells(line)
        if tuple(head[: len(columns)]) == columns:
            return list(_rows(lines[at + 2 :]))
    raise NotRecordedError(f"{path}: no table whose head begins with {' | '.join(columns)}")


def _rows(lines: Sequence[str]) -> Iterator[list[str]]:
    for line in lines:
        if not (cells := _cells(line)):
            return
        yield cells


def _cells(line: str) -> list[str]:
    line = line.removeprefix("//! ").strip()
    return [cell.strip() for cell in line[1:-1].split("|")] if line.startswith("|") else []


def sentence(path: str, pattern: str) -> tuple[str, ...]:
    """The groups of a pattern in the text of a page, whose lines are joined.

    Raises:
        NotRecordedError: the page has no such sentence.
    """
    found = re.search(pattern, " ".join(text(path).split()))
    if found is None:
        raise NotRecordedError(f"{path}: no sentence like {pattern}")
    return found.groups()


def number(cell: str) -> int:
    """The first integer of a cell, as in `1,234 of 5,678`."""
    return int(numbers(cell)[0])


def numbers(cell: str) -> list[int]:
    """The integers of a cell."""
    return [int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?![\d.])", cell)]


def shares(cells: Sequence[str]) -> tuple[int, int]:
    """The sum of cells such as `3 of 4`."""
    parts = [re.match(r"([\d,]+) of ([\d,]+)", cell) for cell in cells]
    pairs = [(number(one[1]), number(one[2])) for one in parts if one]
    return sum(one for one, _ in pairs), sum(all_ for _, all_ in pairs)


def missed_checks() -> dict[str, dict[str, int]]:
    """The numbers of the papers' and our checks by verdict, for each paper with missed ones."""
    found: dict[str, dict[str, int]] = {}
    for experiment, checks in json.loads(text("tests/missed_checks.json")).items():
        counts = found.setdefault(experiment.partition("/")[0], {})
        for verdict in checks.values():
            counts[verdict] = counts.get(verdict, 0) + 1
    return found
