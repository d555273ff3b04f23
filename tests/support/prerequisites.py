"""What tests need of the machine: programs, root, devices.

A test that lacks one is skipped, and says what to install. With CI set it fails instead.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

Remount = Callable[[str], object]
"""Changes the options of a mounted file system."""


def lack(message: str, *, ci_has_it: bool = True) -> NoReturn:
    """Skips the test, or fails it in CI, unless CI does without."""
    if ci_has_it and os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def require_tool(name: str, package: str) -> str:
    """The path of a program, which this Debian package has."""
    path = shutil.which(name)
    return path or lack(f"{name} is missing; install it:  sudo apt-get install {package}")


def require_mcp() -> None:
    if find_spec("mcp") is None:
        lack("mcp is missing; install it:  pip install mcp")


def no_root() -> str | None:
    """How to become root, for a user who is not."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return None if is_root else "root; run the tests with sudo"


def no_hosts() -> str | None:
    """What keeps this machine from emulating hosts."""
    if not Path("/dev/net/tun").exists():
        return no_root() or "/dev/net/tun; load it:  sudo modprobe tun"
    return no_root()


def require_linux() -> None:
    """The kernel's list of what each process started."""
    if not Path("/proc/self/task").is_dir():
        lack("needs Linux")


def require_root() -> None:
    if what := no_root():
        lack(f"needs {what}")


def require_hosts() -> None:
    """Namespaces of the network, with devices in them."""
    if what := no_hosts():
        lack(f"needs {what}")
    require_tool("ip", "iproute2")


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Remount]:
    """Mounts a small file system at a new folder, and yields what remounts it."""
    require_root()
    folder.mkdir()

    def mount(options: str) -> object:
        command = ["mount", "-t", "tmpfs", "-o", options, "rtolab", str(folder)]
        return subprocess.run(command, check=True)

    mount(f"size={size}")
    try:
        yield lambda options: mount(f"remount,{options}")
    finally:
        subprocess.run(["umount", str(folder)], check=True)
