"""The library in a guest kernel's process confines it, whatever a program inside attempts."""

import ctypes
import os
import socket
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from prerequisites import lack, require_linux, require_tool

CREATE_RULESET = 444
"""The system call landlock_create_ruleset."""

ATTEMPTS = """
import os, socket, sys
outside, port, pid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def attempt(name, act):
    try:
        act()
        print(name, "done")
    except OSError as error:
        print(name, error.errno)
attempt("inside", lambda: open("file", "w").close())
attempt("write", lambda: open(outside, "a").close())
attempt("remove", lambda: os.unlink(outside))
attempt("create", lambda: os.mkdir(outside + "2"))
attempt("memory", lambda: open(f"/proc/{pid}/mem", "r+b").close())
attempt("connect", lambda: socket.create_connection(("127.0.0.1", port)).close())
attempt("signal", lambda: os.kill(pid, 0))
print(open(outside).read())
"""


def landlock() -> int:
    """The version of Landlock here; 0 without it."""
    require_linux()
    libc = ctypes.CDLL(None, use_errno=True)
    return max(int(libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)), 0)


@pytest.fixture
def shim(tmp_path: Path) -> Path:
    """The library, compiled."""
    made = tmp_path / "shim.so"
    source = files("rtolab.kernel") / "shim.c"
    compiler = require_tool("cc", "gcc")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, str(source)], check=True)
    return made


def test_files_network_and_processes_of_the_host_are_out_of_reach(
    shim: Path, tmp_path: Path
) -> None:
    """Reading works; of the rest all that this version of Landlock knows is refused (1, 13)."""
    version = landlock()
    if not version:
        lack("needs Landlock", ci_has_it=False)
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.write_text("host", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        arguments = [str(outside), str(server.getsockname()[1]), str(os.getpid())]
        done = subprocess.run(
            [sys.executable, "-c", ATTEMPTS, *arguments],
            cwd=inside,
            env=os.environ | {"LD_PRELOAD": str(shim)},
            capture_output=True,
            text=True,
            check=True,
        )
    found = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines()[:-1])
    assert found["inside"] == "done"
    assert {found[name] for name in ("write", "remove", "create", "memory")} == {"13"}
    assert found["connect"] == ("13" if version >= 4 else "done")
    assert found["signal"] == ("1" if version >= 6 else "done")
    assert done.stdout.endswith("host\n")
    assert outside.read_text(encoding="utf-8") == "host"
