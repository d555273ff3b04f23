"""The code blocks of the guide's pages, and what the tests do with each.

A fenced block is run as its language says: `sh` and `python` in one folder a page, in their order;
`toml` is written to the file of its title and checked as a scenario or a sweep; `text` is shown
only, unless its title is `Output`: then it is what the block before it prints, where `...` stands
for anything. A comment before a block overrides this:

    <!-- not run: needs root -->
    <!-- exits with 1 -->
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w-]*) *(?P<more>.*)")
TITLE = re.compile(r'title="(?P<title>[^"]*)"')
NOT_RUN = re.compile(r"<!-- not run: (?P<why>.+) -->")
EXITS = re.compile(r"<!-- exits with (?P<status>\d+) -->")
INDENTED = re.compile(r" {4}\S")
LIST_ITEM = re.compile(r" {0,3}([-*+]|\d+\.) ")
REASONS = (
    "needs root",
    "needs a kernel",
    "needs a cluster",
    "takes minutes",
    "needs another program",
    "compiled by the tests of the crates",
    "compiled by tests/guide/test_control.py",
    "run by tests/guide/test_gallery.py",
    "needs your own files",
    "writes into the checkout",
)
"""The allowed reasons not to run a block. A comma and details may follow."""
RUNS = ("sh", "python", "toml")
"""The languages of blocks that the tests run."""


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: the file that contains it.
        line: the line of its fence, from 1.
        language: the language of the fence.
        title: the title of the fence; empty without one.
        text: the content.
        not_run: the reason why the tests do not run it; empty if they do.
        status: the exit status of its last command.
    """

    page: Path
    line: int
    language: str
    title: str
    text: str
    not_run: str
    status: int

    @property
    def is_output(self) -> bool:
        """Is it the output of the previous block?"""
        return self.language == "text" and self.title == "Output"

    @property
    def place(self) -> str:
        """The page and the line."""
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        fence = FENCE.fullmatch(lines[number])
        if fence is None:
            number += 1
            continue
        end = _end(lines, number, fence["indent"] + fence["ticks"])
        indent = len(fence["indent"])
        said = _comments(lines, number)
        why, status = NOT_RUN.search(said), EXITS.search(said)
        title = TITLE.search(fence["more"])
        yield Block(
            page=page,
            line=number + 1,
            language=fence["language"],
            title=title["title"] if title else "",
            text="".join(line[indent:] + "\n" for line in lines[number + 1 : end]),
            not_run=why["why"] if why else "",
            status=int(status["status"]) if status else 0,
        )
        number = end + 1


def indented(page: Path) -> Iterator[int]:
    """Lines that begin a block without a fence, which the tests would miss."""
    fenced, before, in_list = "", "", False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.fullmatch(line)
        if fenced:
            fenced = "" if line == fenced else fenced
        elif fence:
            fenced = fence["indent"] + fence["ticks"]
        elif line and not line.startswith(" "):
            in_list = bool(LIST_ITEM.match(line))
        elif INDENTED.match(line) and not before and not in_list:
            yield number
        before = line


def _end(lines: list[str], begin: int, closing: str) -> int:
    for number in range(begin + 1, len(lines)):
        if lines[number].rstrip() == closing:
            return number
    raise ValueError(f"line {begin + 1}: the block is not closed")


def _comments(lines: list[str], fence: int) -> str:
    """The comments directly before a fence."""
    said = []
    for line in reversed(lines[:fence]):
        if line.strip() and not line.strip().startswith("<!--"):
            break
        said.append(line)
    return "\n".join(said)


def matches(shown: str, printed: str) -> bool:
    """Does the output match this text?

    `...` stands for anything in its line, and alone in a line for any lines; spaces at the ends of
    lines, and empty lines around the whole, are no difference.
    """
    pattern = ""
    for line in _tidy(shown):
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(map(re.escape, line.split("..."))) + r"\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _tidy(printed))) is not None


def _tidy(text: str) -> list[str]:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n").split("\n")
