"""The commands of the gallery: they make its figures, and the page shows them."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from program import environment, execute

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PICTURES = ROOT / "docs" / "images" / "gallery"
PAGE = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
NAMES = sorted(script.stem for script in EXAMPLES.glob("*.sh"))
LARGEST = 100_000


def words(svg: Path) -> set[str]:
    """The texts of a picture, without numbers, which may change with the simulation."""
    found = re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text(encoding="utf-8"))
    return {word for word in found if not re.search(r"\d", word)}


def test_the_page_shows_ten_questions_with_their_commands() -> None:
    assert len(NAMES) == 10
    for name in NAMES:
        assert f"](images/gallery/{name}.svg)" in PAGE
        assert (EXAMPLES / f"{name}.sh").read_text().strip() in PAGE
        sweep = EXAMPLES / f"{name}.toml"
        assert not sweep.exists() or sweep.read_text().strip() in PAGE
        assert (PICTURES / f"{name}.svg").stat().st_size < LARGEST
    assert PAGE.count("\n## ") == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_make_the_picture(name: str, tmp_path: Path) -> None:
    for file in EXAMPLES.iterdir():
        shutil.copy(file, tmp_path)
    program = tmp_path / "rtolab"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rtolab.cli "$@"\n')
    program.chmod(0o755)
    within = environment() | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = execute("sh", "-eu", f"{name}.sh", cwd=tmp_path, env=within, timeout=1000)
    assert done.returncode == 0, done.stdout + done.stderr
    made = tmp_path / f"{name}.svg"
    assert 'width="3.5in"' in made.read_text(encoding="utf-8")
    assert words(made) == words(PICTURES / f"{name}.svg")
