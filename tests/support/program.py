"""rtolab's command line, as a process or within this one, and other commands."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rtolab import cli

PROGRAM = [sys.executable, "-m", "rtolab.cli"]
SCRATCH = tempfile.mkdtemp(prefix="rtolab-tests-")
"""Temporary files of processes, which killed ones do not delete."""
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


def environment() -> dict[str, str]:
    """The environment for processes: the same modules, and `SCRATCH` for temporary files."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": SCRATCH}


def start(*arguments: str | Path, within: Sequence[str] = (), **how: Any) -> subprocess.Popen[Any]:
    """The program as a process, `within` another one if that is given; its output through pipes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    how = {"text": True, "env": environment(), **pipes, **how}
    return subprocess.Popen([*within, *PROGRAM, *map(str, arguments)], **how)


def execute(*words: str | Path, **how: Any) -> subprocess.CompletedProcess[Any]:
    """Any command, to its end; its output as text."""
    how = {"capture_output": True, "text": True, "check": False} | how
    return subprocess.run([str(word) for word in words], **how)  # noqa: PLW1510


def run(*arguments: str | Path, **how: Any) -> subprocess.CompletedProcess[Any]:
    """The program as a process, to its end."""
    return execute(*PROGRAM, *arguments, **how)


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """A line of bash, in which the first `rtolab` is the program."""
    python = f'"{sys.executable}" -m rtolab.cli'
    return execute("bash", "-c", command.replace("rtolab", python, 1), env=environment())


def wait_for(
    holds: Callable[[], bool], process: subprocess.Popen[Any] | None = None, within_s: float = 600
) -> None:
    """Waits until it holds, or the process ends."""
    until = time.monotonic() + within_s
    while not holds() and (process is None or process.poll() is None):
        assert time.monotonic() < until
        time.sleep(0.01)


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    """The command line in this process; how it exits."""
    monkeypatch.setattr(sys, "argv", ["rtolab", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)
