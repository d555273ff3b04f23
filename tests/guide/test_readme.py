"""Every example of the README works unchanged."""

import os
import re
import shlex
from pathlib import Path

import pytest

import program
from guests import require_kernel

README = Path(__file__).parents[2] / "README.md"


def test_the_example_in_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(example, names)
    assert "result" in names
    assert (tmp_path / "trace.html").stat().st_size > 10_000


def test_every_named_file_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text())
    assert len(links) > 5
    for link in links:
        assert (README.parent / link).exists(), link


BLOCK = re.compile(r"\n```console\n\$ rtolab (.*?)\n```\n", re.DOTALL)
COMMANDS = BLOCK.findall(README.read_text())


def test_there_are_commands() -> None:
    assert len(COMMANDS) == 3


@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: block.split()[0])
def test_the_commands_print_what_is_shown(block: str) -> None:
    """In the same order, spaces apart; `...` stands for lines left out."""
    if "--virtual" in block:
        require_kernel()
    command, shown = re.split(r"(?<!\\)\n", block, maxsplit=1)
    words = shlex.split(command.replace("\\\n", " "))
    plain = os.environ | {"NO_COLOR": "1", "COLUMNS": "96"}
    done = program.run(*words, cwd=README.parent, env=plain, check=True)
    printed = [" ".join(line.split()) for line in done.stdout.splitlines()]
    rows = [" ".join(line.split()) for line in shown.splitlines() if line.strip(" ─.")]
    assert len(rows) > 4
    assert [line for line in printed if line in rows] == rows


def test_it_stays_short() -> None:
    """Details belong in the guide."""
    assert len(README.read_text().splitlines()) <= 150
