"""The congestion control of docs/control.md fits into the engine as the page says, and works."""

import os
import shutil
from pathlib import Path
from textwrap import indent

import pytest

from blocks import Block, blocks
from prerequisites import require_tool
from program import execute

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "control.md"


def changed(text: str, block: Block) -> str:
    """The text of a file with a block's changes, each of which has its place once."""
    for hunk in block.text.split("@@\n"):
        before, after = ("".join(_lines(hunk, signs)) for signs in (" -", " +"))
        assert text.count(before) == 1, f"{block.place}: {before}"
        text = text.replace(before, after)
    return text


def _lines(hunk: str, signs: str) -> list[str]:
    lines = hunk.splitlines(keepends=True)
    return [line[1:] or "\n" for line in lines if line[0] in f"{signs}\n"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that cargo needs, with the changes of the page."""
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "crates", tmp_path / "crates")
    for block in blocks(PAGE):
        path = tmp_path / block.title
        if block.language == "diff":
            path.write_text(changed(path.read_text(), block))
        elif block.language == "rust":
            assert not path.exists()
            path.write_text(block.text)
    return tmp_path


def test_the_page_adds_a_congestion_control(checkout: Path) -> None:
    cargo = require_tool("cargo", "cargo")
    # It is compiled for this test only, whose transfers are short.
    quick = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_INCREMENTAL": "0"}
    environment = os.environ | quick | {"CARGO_TARGET_DIR": str(ROOT / "target")}
    for words in (
        ["test", "-p", "rtolab-tcp", "--test", "scalable"],
        ["check", "-p", "rtolab-scenario"],
    ):
        done = execute(
            cargo, *words, "--offline", "--quiet", cwd=checkout, env=environment, timeout=1800
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_change_that_no_longer_applies_fails() -> None:
    block = next(block for block in blocks(PAGE) if block.language == "diff")
    with pytest.raises(AssertionError, match=r"control\.md"):
        changed("nothing of it\n", block)


def test_the_page_shows_the_example_of_the_crate() -> None:
    [shown] = [
        block.text for block in blocks(ROOT / "docs" / "engine.md") if block.language == "rust"
    ]
    readme = (ROOT / "crates" / "tcp" / "README.md").read_text()
    assert indent(shown, "    ") in readme
