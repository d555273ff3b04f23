"""The test suite in the background of a shell, where Ctrl-C is ignored."""

import sys
from pathlib import Path

import pytest

from program import execute

ROOT = Path(__file__).parents[2]

IGNORING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-m", "pytest", "-q", *sys.argv[1:]])
"""


@pytest.mark.slow
def test_signals_reach_the_programs_under_test_there() -> None:
    one = "tests/runs/test_extension.py::test_control_c_ends_the_runs"
    done = execute(sys.executable, "-c", IGNORING, one, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stdout
