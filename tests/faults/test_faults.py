"""Faults of the machine and interruptions: signals, closed pipes, a full disk, no descriptors."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from prerequisites import require_hosts, small_disk
from program import SCRATCH, environment, run_here, shell, start, wait_for
from rtolab import run

ENDLESS = """
title = "A transfer without end"
duration = "10000000 s"

[[link]]
name = "wire"
between = ["a", "b"]
rate = "1 Gbit/s"
delay = "10 ms"
queue = "1000 packets"

[[flow]]
name = "transfer"
from = "a"
to = "b"
"""
SOON_S = 10.0
"""The processor time that a command may take after a Ctrl-C; on an idle machine it is below 1 s."""
PATIENCE_S = 600
"""The time that a busy machine may take for any step."""


@dataclass(frozen=True)
class Ended:
    """The status and the output of a command that has ended."""

    code: int
    out: str
    err: str


def end_of(process: subprocess.Popen[str], within_s: float = 120) -> Ended:
    with process:
        try:
            out, err = process.communicate(timeout=within_s)
        finally:
            process.kill()
    return Ended(process.returncode, out, err)


def rtolab(*arguments: str | Path, **how: Any) -> Ended:
    return end_of(start(*arguments, **how))


def rtolab_here(*arguments: str | Path) -> Ended:
    """The same within this process, for faults that are not of the process."""
    done = run_here(*arguments)
    return Ended(done.returncode, done.stdout, done.stderr)


def error_message(ended: Ended, code: int = 2) -> str:
    """The error message of a command that ended with this code; it must have no traceback."""
    assert ended.code == code, ended.err
    assert ended.err.startswith("rtolab: "), ended.err
    assert "Traceback" not in ended.err
    assert "panic" not in ended.err
    return ended.err


def scenario(folder: Path, text: str = ENDLESS) -> Path:
    file = folder / "scenario.toml"
    file.write_text(text)
    return file


# Ctrl-C.


def processor_s(pid: int) -> float:
    """The processor time that a process and its descendants have taken so far."""
    try:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0  # It has ended meanwhile.
    own = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return own + sum(processor_s(int(child)) for child in children)


def ended_soon(process: subprocess.Popen[str], before_s: float) -> Ended:
    """The end of an interrupted command that had taken this processor time before.

    Only processor time is bounded, because a busy machine may take any time.
    """
    reaped_s = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    ended = end_of(process, PATIENCE_S)
    total_s = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - reaped_s
    assert total_s - before_s < SOON_S, (total_s, before_s)
    return ended


def endless(command: str, folder: Path) -> list[str | Path]:
    """The arguments of a command that would not end by itself."""
    file, out = scenario(folder), folder / "out"
    sweep = folder / "sweep.toml"
    sweep.write_text('scenario = "scenario.toml"\nruns = 5\n')
    commands: dict[str, list[str | Path]] = {
        "run": ["run", file, "--out", out],
        "run without trace": ["run", file, "--runs", "2", "--out", out],
        "run on one thread": ["run", file, "--runs", "2", "--jobs", "1", "--out", out],
        "sweep": ["sweep", sweep, "--out", out],
        "reproduce": ["reproduce", "minrto2007/fig7a", "--runs", "200", "--out", out],
        "diagnose": ["diagnose", folder / "pipe"],
        "serve": ["serve", "--port", "0"],
    }
    return commands[command]


COMMANDS = [
    *("run", "run without trace", "run on one thread", "sweep", "reproduce", "diagnose", "serve")
]


def is_at_work(process: subprocess.Popen[str]) -> bool:
    """Has it begun its work? Only threads that simulate take time beside the main thread.

    A command on one thread has begun when it took longer than it takes to load its modules.
    """
    own = Path(f"/proc/{process.pid}/task/{process.pid}/stat")
    taken = {one: one.read_text().rpartition(")")[2] for one in own.parents[1].glob("*/stat")}
    ticks = {one: int(text.split()[11]) for one, text in taken.items()}
    second = os.sysconf("SC_CLK_TCK")
    return ticks.pop(own) > 1.5 * second or sum(ticks.values()) > 0.2 * second


@contextmanager
def at_work(command: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The command, once it has begun its work."""
    if command == "diagnose":
        os.mkfifo(folder / "pipe")
    process = start(*endless(command, folder))
    try:
        if command == "serve":
            assert process.stdout
            assert process.stdout.readline()
        elif command == "diagnose":
            with (folder / "pipe").open("wb") as pipe:
                pipe.write(capture().read_bytes()[:2000])
                pipe.flush()
                time.sleep(1)
                yield process
                return
        elif command == "sweep":
            wait_for((folder / "out" / "unfinished").exists)
            wait_for(lambda: is_at_work(process))
        else:
            wait_for(lambda: is_at_work(process))
        yield process
    finally:
        process.kill()
        process.wait()


@cache
def capture() -> Path:
    """A capture of a sender with unneeded retransmissions."""
    file = Path(SCRATCH) / "sample.pcapng"
    file.write_bytes(run("frto2002-delays").pcapng())
    return file


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_first_ctrl_c_ends_a_command_cleanly(tmp_path: Path, command: str) -> None:
    with at_work(command, tmp_path) as process:
        before_s = processor_s(process.pid)
        process.send_signal(signal.SIGINT)
        ended = ended_soon(process, before_s)
    assert ended.code in (130, -signal.SIGINT), ended.err
    assert "Traceback" not in ended.err
    assert not unfinished(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_second_ctrl_c_ends_a_command_at_once(tmp_path: Path, command: str) -> None:
    with at_work(command, tmp_path) as process:
        before_s = processor_s(process.pid)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        ended = ended_soon(process, before_s)
    assert ended.code in (130, -signal.SIGINT), ended.err
    assert "Traceback" not in ended.err


def test_a_second_ctrl_c_cannot_be_ignored(tmp_path: Path) -> None:
    """A program that ignores the first one ends at the second."""
    script = tmp_path / "ignores_interrupts.py"
    script.write_text(
        "from rtolab.process import end_at_second_interrupt\n"
        "import time\n"
        "end_at_second_interrupt()\n"
        "while True:\n"
        "    try:\n"
        "        print('ready', flush=True)\n"
        "        time.sleep(60)\n"
        "    except KeyboardInterrupt:\n"
        "        print('first', flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "first\n"
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE_S) == 130


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("command", [["emulate", "hold"], ["gateway", "--device", "rtofault0"]])
def test_on_kernels_a_second_ctrl_c_ends_a_command_at_once(command: list[str]) -> None:
    process = start(*command)
    try:
        if command[0] == "gateway":
            assert process.stderr
            assert "Ctrl-C ends it" in process.stderr.readline()
        else:
            # Not its processor time, which may stay small: the run would end and be a doubted one.
            host = Path(f"/run/netns/rtolab-{process.pid}-near")
            wait_for(host.exists, process)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
    finally:
        ended = end_of(process, PATIENCE_S)
    assert ended.code in (0, 130), ended.err
    assert "Traceback" not in ended.err
    if command[0] == "emulate":
        rtolab("emulate", "--clean")


def unfinished(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.unfinished") if path.is_file()]


# Pipes.

PIPED = {
    "help": ["--help"],
    "list": ["list"],
    "list --json": ["list", "--json"],
    "schema": ["schema"],
    "run": ["run", "frto2002-delays", "--runs", "3"],
    "run --json": ["run", "frto2002-delays", "--runs", "3", "--json"],
    "reproduce": ["reproduce", "frto2002/fig1", "--quick"],
    "reproduce --json": ["reproduce", "frto2002/fig1", "--quick", "--json"],
    "demo": ["demo", "--runs", "1"],
    "diagnose": ["diagnose", "CAPTURE"],
    "diagnose --json": ["diagnose", "CAPTURE", "--json"],
    "sweep": ["sweep", "SWEEP"],
    "sweep --status": ["sweep", "SWEEP", "--status", "--json"],
    "emulate": ["emulate", "--clean"],
    "compare": ["compare", "--help"],
    "conform": ["conform", "--help"],
    "gateway": ["gateway", "--help"],
    "serve": ["serve", "--port", "0"],
}


def placed(arguments: list[str], folder: Path) -> list[str]:
    """The arguments, with files in place of their placeholders."""
    sweep = folder / "sweep.toml"
    sweep.write_text('scenario = "frto2002-delays"\nruns = 3\n')
    files = {"CAPTURE": str(capture()), "SWEEP": str(sweep)}
    return [files.get(one, one) for one in arguments]


@pytest.mark.slow
@pytest.mark.parametrize("command", PIPED)
def test_a_reader_may_close_the_pipe(tmp_path: Path, command: str) -> None:
    """As in `rtolab ... | true`: it ends by SIGPIPE or never notices, and prints nothing."""
    if command == "emulate":
        require_hosts()
    process = start(*placed(PIPED[command], tmp_path), cwd=tmp_path)
    assert process.stdout
    process.stdout.close()
    process.stdout = None
    ended = end_of(process)
    assert ended.code in (0, 1, -signal.SIGPIPE), ended.err
    assert "Traceback" not in ended.err
    assert "Broken pipe" not in ended.err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["list", "list --json", "schema", "run --json", "help"])
def test_output_to_a_full_device_is_an_error(tmp_path: Path, command: str) -> None:
    arguments = placed(PIPED[command], tmp_path)
    with Path("/dev/full").open("w") as full:
        process = start(*arguments, stdout=full)
    assert "No space left on device" in error_message(end_of(process))


def test_closed_streams_raise_no_traceback() -> None:
    ran = shell("rtolab list >&-")
    assert (ran.returncode, ran.stderr) == (2, "rtolab: standard output is closed\n")
    ran = shell("rtolab run nowhere 2>&-")
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", "")
    ran = shell("rtolab diagnose - <&-")
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr


# Descriptors, disk, memory.


def limited(kind: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (most, most))


def of_run(folder: Path) -> list[str | Path]:
    return ["run", "frto2002-delays", "--out", folder / "out"]


@pytest.mark.slow
@pytest.mark.parametrize("most", [6, 8, 10, 12, 14, 16, 20])
def test_a_lack_of_descriptors_is_reported(tmp_path: Path, most: int) -> None:
    ended = rtolab(*of_run(tmp_path), preexec_fn=limited(resource.RLIMIT_NOFILE, most))
    if ended.code != 0:
        assert "too many open files" in error_message(ended).lower()
    assert not unfinished(tmp_path)


@pytest.mark.slow
def test_a_sweep_without_descriptors_keeps_what_is_finished(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('scenario = "frto2002-delays"\nruns = 40\nblock = 4\n')
    out = tmp_path / "out"
    command: list[str | Path] = ["sweep", sweep, "--out", out, "--json"]
    codes = set()
    # With 7 nothing begins; with 8 it depends on which files two threads have open at a time.
    for most in (7, 8, 8, 8, 9, 10):
        ended = rtolab(*command, preexec_fn=limited(resource.RLIMIT_NOFILE, most))
        codes.add(ended.code)
        # A chunk may fail, and then it is listed; so may the whole command.
        assert ended.code in (0, 1, 2), ended.err
        assert ended.code != 1 or json.loads(ended.out)["failed"]
        assert "Traceback" not in ended.err
    assert 2 in codes
    before = set((out / "chunks").iterdir()) if (out / "chunks").exists() else set()
    done = json.loads(rtolab(*command).out)
    assert (done["chunks"], done["computed"]) == (10, 10 - len(before))


WRITES = {
    "run": ["run", "frto2002-delays", "--out", "OUT/run"],
    "run --export": ["run", "frto2002-delays", "--export", "packetdrill", "--out", "OUT"],
    "reproduce": ["reproduce", "frto2002/fig1", "--quick", "--out", "OUT"],
    "diagnose --html": ["diagnose", "CAPTURE", "--html", "OUT/page.html"],
    "diagnose --annotate": ["diagnose", "CAPTURE", "--annotate", "OUT/copy.pcapng"],
    "diagnose --parquet": ["diagnose", "CAPTURE", "--parquet", "OUT"],
    "sweep": ["sweep", "SWEEP", "--out", "OUT"],
}


@pytest.mark.root
@pytest.mark.parametrize("command", WRITES)
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, command: str) -> None:
    arguments = placed(WRITES[command], tmp_path)
    out = tmp_path / "small"
    with small_disk(out, "8k"):
        reported = error_message(rtolab_here(*(one.replace("OUT", str(out)) for one in arguments)))
        assert "No space left on device" in reported
        assert str(out) in reported
        files = [path for path in out.rglob("*") if path.is_file()]
        whole = [path for path in files if path.stat().st_size]
        assert not unfinished(out)
    assert not [path for path in whole if path.suffix in (".html", ".pcapng", ".pkt")]


@pytest.mark.root
def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "small"
    with small_disk(out, "8k"):
        page = out / "page.html"
        page.write_text("the one before")
        error_message(rtolab_here("diagnose", capture(), "--html", page))
        assert page.read_text() == "the one before"


def test_a_page_is_written_through_links_and_to_devices(tmp_path: Path) -> None:
    """A device is not replaced by a file, and a link stays a link."""
    target, link = tmp_path / "target.html", tmp_path / "link.html"
    link.symlink_to(target)
    assert rtolab_here("diagnose", capture(), "--html", link).code == 0
    assert link.is_symlink()
    assert target.stat().st_size > 1000
    assert rtolab_here("diagnose", capture(), "--html", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()


def test_a_trace_too_long_for_memory_is_refused(tmp_path: Path) -> None:
    file = scenario(tmp_path)
    most = 1_600_000_000
    command: list[str | Path] = ["run", file, "--out", tmp_path / "out", "--jobs", "1"]
    ended = rtolab(*command, preexec_fn=limited(resource.RLIMIT_AS, most))
    reported = error_message(ended)
    assert "out of memory: found no room for the trace beyond" in reported
    found = re.search(r"beyond (\d+) MB", reported)
    assert found
    assert 10 < int(found[1]) < 400
    assert not (tmp_path / "out").exists()


# Files.


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    loop = tmp_path / "loop.toml"
    loop.symlink_to(loop)
    for command in (["run"], ["diagnose"], ["sweep"]):
        for path in (folder, loop, tmp_path / "nowhere.toml", tmp_path / ("x" * 300)):
            reported = error_message(rtolab_here(*command, path))
            assert str(path) in reported


def test_a_truncated_capture_is_diagnosed_or_refused(tmp_path: Path) -> None:
    """The part that was read is diagnosed."""
    whole = capture().read_bytes()
    for length in (0, 1, 10, 24, 25, 40, len(whole) // 2, len(whole) - 1):
        cut = tmp_path / f"{length}.pcap"
        cut.write_bytes(whole[:length])
        ended = rtolab_here("diagnose", cut)
        assert ended.code in (0, 2), ended.err
        assert "Traceback" not in ended.err
        if ended.code == 2:
            assert str(cut) in ended.err


def test_a_pipe_cannot_be_read_a_second_time_for_its_page(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = start("diagnose", pipe, "--html", tmp_path / "page.html")
    with pipe.open("wb") as opened:
        opened.write(capture().read_bytes())
        pipe.unlink()
    ended = end_of(process)
    reported = error_message(ended)
    assert str(pipe) in reported
    assert not (tmp_path / "page.html").exists()
