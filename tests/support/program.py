"""rtolab's command line, as a process or within this one, and other commands."""

import atexit
import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from rich.console import Console, RenderableType

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


@contextlib.contextmanager
def _streams(given: bytes) -> Iterator[list[BinaryIO]]:
    """Files in place of this process's standard streams, also for code that is not Python."""
    before = sys.stdin, sys.stdout, sys.stderr
    for stream in before[1:]:
        stream.flush()
    with contextlib.ExitStack() as stack:
        files: list[BinaryIO] = [stack.enter_context(tempfile.TemporaryFile()) for _ in before]
        files[0].write(given)
        files[0].seek(0)
        for number, file in enumerate(files):
            descriptor = os.dup(number)
            stack.callback(os.close, descriptor)
            stack.callback(os.dup2, descriptor, number)
            os.dup2(file.fileno(), number)
        streams = [
            stack.enter_context(open(number, mode, encoding="utf-8", closefd=False))
            for number, mode in enumerate("rww")
        ]
        sys.stdin, sys.stdout, sys.stderr = streams
        try:
            yield files[1:]
        finally:
            sys.stdin, sys.stdout, sys.stderr = before


def _status() -> int:
    """Runs the command line in this process; its exit status. The process stays as it was."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    # As any handler but Python's, it keeps the command line from ending us at a second Ctrl-C.
    handler = signal.signal(signal.SIGINT, interrupted)
    try:
        with pytest.raises(SystemExit) as ended:
            cli.main()
    finally:
        signal.signal(signal.SIGINT, handler)
        gc.unfreeze()
    return int(ended.value.code or 0)


def run_here(
    *arguments: str | Path,
    given: bytes = b"",
    cwd: Path | None = None,
    text: bool = True,
    check: bool = False,
) -> subprocess.CompletedProcess[Any]:
    """The program within this process, to its end; `given` is its standard input.

    It takes a fraction of the processor time of `run`, which imports all modules first. Tests of
    signals, limits and the environment need `run`.
    """
    words = ["rtolab", *map(str, arguments)]
    before, sys.argv = sys.argv, words
    try:
        with contextlib.chdir(cwd or "."), _streams(given) as files:
            code = _status()
            printed = [_content(file) for file in files]
    finally:
        sys.argv = before
    done = subprocess.CompletedProcess[Any](
        words, code, *(content.decode() if text else content for content in printed)
    )
    if check:
        done.check_returncode()
    return done


def _content(file: BinaryIO) -> bytes:
    sys.stdout.flush()
    sys.stderr.flush()
    file.seek(0)
    return file.read()


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    """The command line in this process; how it exits."""
    monkeypatch.setattr(sys, "argv", ["rtolab", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def printed(shown: RenderableType) -> str:
    """What a terminal of 120 columns shows."""
    console = Console(width=120)
    with console.capture() as capture:
        console.print(shown)
    return capture.get()


def with_style(shown: RenderableType, style: str) -> list[str]:
    """The passages with a style, such as `bold` or `dim`, that a terminal of 120 columns shows."""
    console = Console(width=120, color_system="truecolor", force_terminal=True)
    found = [text.strip() for text, of, _ in console.render(shown) if str(of) == style]
    return [text for text in found if text]
