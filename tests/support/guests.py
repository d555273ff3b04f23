"""Kernels for tests of guests: a stand-in, and the newest that is built."""

import shlex
import stat
import sys
from pathlib import Path

from prerequisites import lack
from rtolab import kernel

STAND_IN = Path(__file__).parents[1] / "emulation" / "stand_in.py"


def shell_kernel(folder: Path, script: str) -> kernel.Kernel:
    """A kernel whose program is a shell script."""
    (folder / "root").mkdir(parents=True)
    program = folder / "linux"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return kernel.Kernel("stand-in", "0.0", 1000, "a test", folder)


def stand_in(folder: Path, *words: str) -> kernel.Kernel:
    """A kernel that answers requests, and behaves as these words say."""
    command = shlex.join([sys.executable, str(STAND_IN), *words])
    return shell_kernel(folder, f'exec {command} "$@" < /dev/null')


def require_kernel() -> kernel.Kernel:
    """The newest kernel that is built; they take minutes to build, also in CI."""
    if not kernel.kernels():
        lack("needs a kernel:  rtolab kernel build", ci_has_it=False)
    return kernel.find()
