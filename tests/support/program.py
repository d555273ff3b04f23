"""rtolab as users have it: as a process of its own, or its command line in this one."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rtolab import cli

if TYPE_CHECKING:
    Popen = subprocess.Popen[Any]

PROGRAM = [sys.executable, "-m", "rtolab.cli"]
SCRATCH = tempfile.mkdtemp(prefix="rtolab-tests-")
"""Holds what killed processes leave."""
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


def environment() -> dict[str, str]:
    """Where processes find what tests find, and leave what is nobody's."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": SCRATCH}


def start(*arguments: str | Path, within: Sequence[str] = (), **how: Any) -> Popen:
    """The program as a process, `within` another one if that is given; its output through pipes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    how = {"text": True, "env": environment(), **pipes, **how}
    return subprocess.Popen([*within, *PROGRAM, *map(str, arguments)], **how)


def run(*arguments: str | Path, **how: Any) -> subprocess.CompletedProcess[Any]:
    """The program as a process, to its end."""
    how = {"capture_output": True, "text": True, "check": False} | how
    return subprocess.run([*PROGRAM, *map(str, arguments)], **how)  # noqa: PLW1510


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """A line of bash, in which the first `rtolab` is the program."""
    python = f'"{sys.executable}" -m rtolab.cli'
    line = ["bash", "-c", command.replace("rtolab", python, 1)]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=environment())


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    """The command line in this process; how it exits."""
    monkeypatch.setattr(sys, "argv", ["rtolab", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)
