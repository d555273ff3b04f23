"""Each check of `make lint` fails on a file that is wrong, and on no other."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

from program import execute

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


@pytest.fixture
def prose(tmp_path: Path) -> Any:
    """`tools/prose`, for an empty repository."""
    loader = SourceFileLoader("prose", str(ROOT / "tools" / "prose"))
    spec = spec_from_loader("prose", loader)
    assert spec
    module: Any = module_from_spec(spec)
    loader.exec_module(module)
    module.ROOT = tmp_path
    return module


def faults(prose: Any, files: dict[str, str]) -> list[str]:
    """The faults that it reports in a repository of these files."""
    for name, text in files.items():
        path: Path = prose.ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(prose.check((prose.ROOT / name for name in files), whole=True))


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        ("a.md", "It was sent in vain.", "a.md:1: “in vain”: write spurious"),
        ("a.py", "# It was sent again.", "a.py:1: “sent again”: write retransmitted"),
        ("a.rs", "// A copy is told.", "a.rs:1: “is told”: write reported"),
        ("a.md", "word " * 21, "a.md:1: 105 columns; at most 100"),
        ("a.py", "# " + "word " * 20, "a.py:1: 102 columns; at most 100"),
        ("a.rs", "/// " + "word " * 20, "a.rs:1: 104 columns; at most 100"),
    ],
)
def test_a_banned_phrase_and_a_wide_line_are_found(
    prose: Any, name: str, line: str, fault: str
) -> None:
    (found,) = faults(prose, {name: line})
    assert found.startswith(fault)


@pytest.mark.parametrize(
    "text",
    ["The copy was unneeded.", "| " + "word " * 30 + "|", "`in vain`", "```\nin vain\n```\n"],
)
def test_tables_code_and_other_words_are_left_alone(prose: Any, text: str) -> None:
    assert faults(prose, {"a.md": text}) == []


def test_a_type_that_two_crates_declare_is_found(prose: Any) -> None:
    tcp, link = "crates/tcp/src/lib.rs", "crates/link/src/lib.rs"
    assert faults(prose, {tcp: "pub struct One;", link: "pub enum Other {}"}) == []
    found = faults(prose, {tcp: "pub struct Same;", link: "    pub type Same = u8;"})
    assert found == ["crates: link, tcp each have a public type Same"]


RUFF = "ruff check --no-cache --config pyproject.toml"
MYPY = "mypy --config-file pyproject.toml"
TYPOS = "typos --format brief --config _typos.toml"
PYMARKDOWN = "pymarkdown --config pyproject.toml scan"


@pytest.mark.parametrize(
    ("command", "texts", "fault"),
    [
        (TYPOS, ["a receiver\n", "a reciever\n"], "receiver"),
        (RUFF, ['"""One."""\n', '"""One."""\n\nimport os\n'], "F401"),
        (RUFF, ['"""One."""\n', f'"""{"One " * 25}."""\n'], "E501"),
        (MYPY, ["A: int = 1\n", "A: int = ''\n"], "assignment"),
        (PYMARKDOWN, ["# One\n", "# One\n\n### Three\n"], "MD001"),
    ],
)
def test_a_misspelling_a_wide_line_and_a_wrong_type_are_found(
    tmp_path: Path, command: str, texts: list[str], fault: str
) -> None:
    tool, *options = command.split()
    settings = {name: str(ROOT / name) for name in ("pyproject.toml", "_typos.toml")}
    file = tmp_path / ("made_up.md" if tool == "pymarkdown" else "made_up.py")
    words = [str(BIN / tool), *(settings.get(option, option) for option in options), str(file)]
    for text, is_right in zip(texts, (True, False), strict=True):
        file.write_text(text)
        done = execute(*words, cwd=tmp_path)
        assert (done.returncode == 0) == is_right, done.stdout + done.stderr
        assert (fault in done.stdout) != is_right, done.stdout + done.stderr
