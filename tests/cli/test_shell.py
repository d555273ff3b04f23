"""The manual pages and completions in the wheel."""

import os
import sys
from pathlib import Path

import pytest

from prerequisites import require_tool
from program import execute

ROOT = Path(__file__).parents[2]
SHARE = ROOT / "wheel" / "data" / "share"
COMPLETE = """
source {script}
COMP_WORDS=(rtolab {typed}) COMP_CWORD=1
$(complete -p rtolab | sed 's/.* -F \\([^ ]*\\).*/\\1/') rtolab
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def test_the_manual_is_up_to_date() -> None:
    done = execute(sys.executable, "tools/shell", "--check", SHARE, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_manual_is_valid_roff() -> None:
    groff = require_tool("groff", "groff-base")
    pages = list(SHARE.glob("man/man1/*.1"))
    assert len(pages) > 10
    for page in pages:
        done = execute(groff, "-man", "-Tutf8", "-ww", "-z", page)
        assert (done.returncode, done.stderr) == (0, ""), page


def test_bash_completes_commands(tmp_path: Path) -> None:
    program = tmp_path / "rtolab"
    program.write_text(f"#!{sys.executable}\nfrom rtolab.cli import main\n\nmain()\n")
    program.chmod(0o755)
    script = SHARE / "bash-completion" / "completions" / "rtolab"
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    command = COMPLETE.format(script=script, typed="rep")
    done = execute("bash", "-c", command, env=os.environ | {"PATH": path}, check=True)
    assert done.stdout.split() == ["reproduce"]


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("zsh/site-functions/_rtolab", "#compdef rtolab"),
        ("fish/vendor_completions.d/rtolab.fish", "complete --command rtolab"),
    ],
)
def test_zsh_and_fish_have_completions(path: str, word: str) -> None:
    assert word in (SHARE / path).read_text()
