"""Every command, program and scenario that the guide shows works unchanged."""

import contextlib
import io
import os
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import rtolab
from blocks import REASONS, RUNS, Block, blocks, indented, matches
from program import execute
from rtolab import sweep
from rtolab.conform import recipes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
CAPTURES = ROOT / "tests" / "captures"
SLOW = {"slow.pcapng": CAPTURES / "stall-3s-none-frto-off.sender.pcapng.gz"}
GIVEN = {"diagnose.md": SLOW, "wireshark.md": SLOW}
"""Files that a page assumes."""
SHIM = '#!/bin/sh\nexec "{python}" -m rtolab.cli "$@"\n'


def names(page: Path) -> str:
    return str(page.relative_to(ROOT))


class Session:
    """A page's blocks, run in their order in one folder."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "__guide__"}
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        self.environment = os.environ | {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}

    def run(self, block: Block) -> str:
        """Runs a block and returns what it prints."""
        match block.language:
            case "sh":
                return self.sh(block)
            case "python":
                return self.python(block)
            case _:
                return self.toml(block)

    def sh(self, block: Block) -> str:
        bash = ("bash", "-e", "-u", "-o", "pipefail", "-c", block.text)
        done = execute(*bash, cwd=self.folder, env=self.environment, timeout=1000)
        assert done.returncode == block.status, f"{block.place}: {done.stdout}{done.stderr}"
        return str(done.stdout)

    def python(self, block: Block) -> str:
        if block.title:
            (self.folder / block.title).write_text(block.text)
        printed = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            exec(compile(block.text, block.place, "exec"), self.names)
        return printed.getvalue()

    def toml(self, block: Block) -> str:
        path = self.folder / (block.title or "block.toml")
        path.write_text(block.text)
        if path.name == recipes.FILE:
            recipes.read(path)
        elif "scenario" in tomllib.loads(block.text):
            sweep.load(path)
        else:
            rtolab.check(path)
        return ""


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `rtolab` and `python` as the guide calls them."""
    folder = tmp_path_factory.mktemp("programs")
    for name, text in (("rtolab", SHIM), ("python", '#!/bin/sh\nexec "{python}" "$@"\n')):
        (folder / name).write_text(text.format(python=sys.executable))
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_a_reader_who_follows_a_page_gets_what_it_shows(
    page: Path, tmp_path: Path, programs: Path
) -> None:
    session = Session(tmp_path, programs)
    for name, path in GIVEN.get(page.name, {}).items():
        shutil.copy(path, tmp_path / name)
    printed = ""
    for block in blocks(page):
        if block.is_output:
            assert matches(block.text, printed), f"{block.place}:\n{printed}"
        elif block.language in RUNS and not block.not_run:
            printed = session.run(block)


def not_run() -> Iterator[Block]:
    for page in PAGES:
        yield from (block for block in blocks(page) if block.not_run)


def test_every_block_is_one_of_a_kind() -> None:
    kinds = {*RUNS, "text", "rust", "diff", "yaml", "ini"}
    for page in PAGES:
        assert list(indented(page)) == [], page
        for block in blocks(page):
            assert block.language in kinds, block.place
            assert block.language not in {"rust", "diff"} or block.not_run, block.place


def test_every_block_that_is_not_run_says_why() -> None:
    found = list(not_run())
    assert found
    for block in found:
        assert block.not_run.startswith(REASONS), f"{block.place}: {block.not_run}"


def test_a_page_with_wrong_output_fails(tmp_path: Path, programs: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('```sh\necho 1 2 3\n```\n\n```text title="Output"\n1 ... 4\n```\n')
    (tmp_path / "folder").mkdir()
    with pytest.raises(AssertionError, match=r"page\.md:5"):
        test_a_reader_who_follows_a_page_gets_what_it_shows(page, tmp_path / "folder", programs)
