"""Kernels for tests of guests: a fake one, and the newest that is built."""

import ctypes
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prerequisites import lack
from rtolab import kernel

PR_SET_CHILD_SUBREAPER = 36
"""Of linux/prctl.h."""

FAKE_KERNEL = Path(__file__).parents[1] / "emulation" / "fake_kernel.py"


def shell_kernel(folder: Path, script: str) -> kernel.Kernel:
    """A kernel whose program is a shell script."""
    (folder / "root").mkdir(parents=True)
    program = folder / "linux"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return kernel.Kernel("fake", "0.0", 1000, "a test", folder)


def fake_kernel(folder: Path, *words: str) -> kernel.Kernel:
    """A kernel that answers requests, and behaves as these words say."""
    command = shlex.join([sys.executable, str(FAKE_KERNEL), *words])
    return shell_kernel(folder, f'exec {command} "$@" < /dev/null')


def require_kernel() -> kernel.Kernel:
    """The newest kernel that is built; they take minutes to build, also in CI."""
    if not kernel.kernels():
        lack("needs a kernel:  rtolab kernel build", ci_has_it=False)
    return kernel.find()


@contextmanager
def adopted_orphans() -> Iterator[Callable[[], str]]:
    """Makes this process the parent of what its children leave behind.

    Yields what lists the command lines of its children: those of other tests are not among them.
    """
    prctl = ctypes.CDLL(None).prctl
    assert prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    command = ["ps", "-o", "args=", "--ppid", str(os.getpid())]
    try:
        yield lambda: subprocess.run(command, capture_output=True, text=True, check=True).stdout
    finally:
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
