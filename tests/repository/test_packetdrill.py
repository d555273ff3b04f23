"""Our packetdrill scripts on the engine, if the tool is installed.

The object itself is tested without it, by its C interface: `cargo test -p rtolab-packetdrill`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rtolab
from guests import require_kernel
from kernel_differences import scenario
from kernel_scripts import script as kernel_script
from prerequisites import lack
from program import execute

HERE = Path(__file__).parents[1]
SCRIPTS = sorted((HERE / "packetdrill").glob("*.pkt"))


def test_every_script_says_where_it_was_certified() -> None:
    assert len(SCRIPTS) >= 20
    for script in SCRIPTS:
        text = script.read_text()
        assert "// Certified on Linux " in text, script.name
        assert "`./settings.sh" in text, script.name


def packetdrill(*variables: str) -> subprocess.CompletedProcess[str]:
    if not (tool := os.environ.get("PACKETDRILL")):
        # No distribution packages it, so that CI does without.
        lack("PACKETDRILL names no binary of github.com/google/packetdrill", ci_has_it=False)
    make = ["make", "--silent", "packetdrill", f"PACKETDRILL={tool}", *variables]
    return execute(*make, cwd=HERE.parent, timeout=600)


def test_an_unknown_guest_is_an_error() -> None:
    runner = [sys.executable, "tools/packetdrill", "--tool", sys.executable, "--on", "nope"]
    done = execute(*runner, SCRIPTS[0], cwd=HERE.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("packetdrill: ")
    assert "nope" in done.stderr or "kernel" in done.stderr


def test_our_scripts_pass_on_the_engine() -> None:
    done = packetdrill()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"{len(SCRIPTS)} passed, 0 failed, 0 skipped"


@pytest.mark.parametrize(("scenario", "sender"), [("stall", "sack+frto:linux"), ("tail", "linux")])
def test_a_run_that_was_written_as_a_script_passes(
    scenario: str, sender: str, tmp_path: Path
) -> None:
    script = tmp_path / "run.pkt"
    script.write_text(rtolab.run(scenario, sender=sender).packetdrill())
    done = packetdrill(f"SCRIPTS={script}")
    assert done.stdout.splitlines()[-1] == "1 passed, 0 failed, 0 skipped", done.stdout


def test_a_script_of_what_a_guest_sends_passes_there_and_on_the_engine(tmp_path: Path) -> None:
    kernel = require_kernel()
    (tmp_path / "path.toml").write_text(scenario(3))
    # A guest has a /tmp of its own.
    script = HERE.parent / "target" / "packetdrill" / "3.pkt"
    kernel_script(tmp_path / "path.toml", 3, kernel).write(script)
    passed = "1 passed, 0 failed, 0 skipped"
    assert packetdrill(f"SCRIPTS={script}").stdout.splitlines()[-1] == passed
    runner = [sys.executable, "tools/packetdrill", "--tool", os.environ["PACKETDRILL"]]
    on_guest = execute(*runner, "--on", kernel.name, script, cwd=HERE.parent, timeout=600)
    assert on_guest.stdout.splitlines()[-1] == passed, on_guest.stdout
