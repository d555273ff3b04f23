"""Programs in guests on a virtual clock: with a fake kernel, and with one that was built."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from guests import adopted_orphans, fake_kernel, require_kernel
from rtolab import _rtolab, kernel
from rtolab._rtolab import EmulationError, Error
from rtolab.conform import Stack, conform, suite
from rtolab.conform.measure import packets
from rtolab.conform.quic import unpack
from rtolab.run import find_scenario

if TYPE_CHECKING:
    from rtolab._rtolab import EmulationReport

SERVE = f"{sys.executable} -m http.server 8000 --directory /usr/share/common-licenses"
FETCH = "import sys, urllib.request as web; print(web.urlopen(sys.argv[1]).read().decode())"


def ran(
    on: kernel.Kernel,
    client: Sequence[str],
    log: Path,
    *,
    server: str | None = None,
    limit_s: float | None = None,
    patience_s: float | None = None,
    kept: tuple[str, Path] | None = None,
) -> EmulationReport:
    """The report of programs on `hold`; their output is in `log`."""
    _, report = _rtolab.emulate_programs(
        find_scenario("hold"),
        guest=(on.folder, on.title),
        client=client,
        server=server,
        limit_s=limit_s,
        log=log,
        patience_s=patience_s,
        kept=kept,
    )
    return report


def test_arguments_output_and_status_pass_through_a_fake_kernel(tmp_path: Path) -> None:
    """The server starts first, addresses replace names, and the client's status counts."""
    fake, log = fake_kernel(tmp_path / "kernel"), tmp_path / "log"
    report = ran(fake, ["false", "{peer}", "{near}", "x" * 3000], log, server="serve")
    assert report["returncode"] == 3
    assert log.read_text() == f"false 10.83.0.2 10.83.0.1 {'x' * 3000}\n"
    assert ran(fake, ["true"], log)["returncode"] == 0


def test_files_are_archived_at_both_hosts_after_the_client(tmp_path: Path) -> None:
    """A fake program prints its arguments: those of what makes the archive."""
    fake, log = fake_kernel(tmp_path / "kernel"), tmp_path / "log"
    report = ran(fake, ["true"], log, server="serve", kept=("/tmp/logs", tmp_path))
    assert report["returncode"] == 0
    for host in ("near", "far"):
        words = (tmp_path / f"{host}.tar").read_text()
        assert words.endswith("exec tar -cf - . sh /tmp/logs\n")
    assert log.read_text() == "true\n"
    with pytest.raises(OSError, match="No such file"):
        ran(fake, ["true"], log, kept=("/tmp/logs", tmp_path / "gone"))


def test_files_of_a_guest_are_kept_and_do_not_change_the_run(tmp_path: Path) -> None:
    """A server may write its last file at SIGTERM."""
    require_kernel()
    client = ["sh", "-c", "mkdir /tmp/logs; echo of the client > /tmp/logs/one; exit 4"]
    server = "mkdir /tmp/logs; trap 'echo ended > /tmp/logs/two; exit' TERM; sleep 99 & wait"
    on, elapsed = kernel.find(), []
    for kept in (None, ("/tmp/logs", tmp_path)):
        report = ran(on, client, tmp_path / "log", server=server, kept=kept)
        assert report["returncode"] == 4
        elapsed.append(report["elapsed_s"])
    assert elapsed[0] == elapsed[1]
    folders = unpack(tmp_path)
    assert (folders["near"] / "one").read_text() == "of the client\n"
    assert (folders["far"] / "two").read_text() == "ended\n"


def test_a_client_that_never_ends_is_ended_at_its_limit(tmp_path: Path) -> None:
    """As `timeout` does, in virtual time."""
    fake = fake_kernel(tmp_path / "kernel", "waits")
    assert ran(fake, ["true"], tmp_path / "log", limit_s=60)["returncode"] == 124


def test_a_connected_udp_socket_does_not_count_as_listening(tmp_path: Path) -> None:
    """The client waits for another socket, ten virtual seconds at most."""
    for words, least_s in [((), 0.2), (("asks",), 10)]:
        fake = fake_kernel(tmp_path / f"kernel{least_s}", *words)
        report = ran(fake, ["true"], tmp_path / "log", server="serve")
        assert least_s <= report["elapsed_s"] < least_s + 0.5


@pytest.mark.parametrize(("code", "least_s"), [(3, 0), (0, 3)])
def test_a_client_does_not_start_if_its_server_ends_before_it_listens(
    tmp_path: Path, code: int, least_s: float
) -> None:
    """A server that went to the background has three seconds."""
    fake, log = fake_kernel(tmp_path / "kernel", f"ends={code}"), tmp_path / "log"
    report = ran(fake, ["true"], log, server="serve")
    assert report["server_end"] == {"code": code, "before_client": True}
    assert report["returncode"] is None
    assert least_s <= report["elapsed_s"] < least_s + 0.5
    said = f"the server ended with exit code {code}\n" if code else ""
    assert log.read_text() == f"{said}the server ended before it listened\n"


def test_a_kernel_of_another_version_needs_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rtolab's additions to a kernel are compiled again, and the error names the compiler."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = kernel.cache() / "6.12"
    folder.mkdir(parents=True)
    known = {"release": "6.12.4", "hz": 1000, "source": "a test"}
    (folder / "kernel.json").write_text(json.dumps(known), encoding="utf-8")
    (folder / "programs.sha256").write_text("an earlier version\n", encoding="utf-8")
    with monkeypatch.context() as without:
        without.setattr("shutil.which", lambda _: None)
        with pytest.raises(Error, match=r"another version of rtolab: .*`apt install gcc`"):
            kernel.find()
    assert (kernel.find().folder / "root" / "init").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lacks"], "`true` cannot be run on `near`: No such file or directory"),
        (["waits"], "nothing moved for a day of virtual time: true and what it talks to"),
        (["panics"], "exited early .* Kernel panic - not syncing: a test"),
        (["spins"], "`near` computed for 20 s without sleeping"),
    ],
)
def test_errors_inside_a_guest_are_reported(words: list[str], message: str, tmp_path: Path) -> None:
    """The message says what would be right, or quotes the last lines of the kernel."""
    fake = fake_kernel(tmp_path / "kernel", *words)
    with pytest.raises(EmulationError) as raised:
        ran(fake, ["true"], tmp_path / "log", patience_s=20 if words == ["spins"] else 60)
    assert message.split(" .* ", maxsplit=1)[0] in str(raised.value)
    assert message.rsplit(" .* ", maxsplit=1)[-1] in str(raised.value)


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `rtolab` with these arguments."""
    return subprocess.run(
        [sys.executable, "-m", "rtolab.cli", *words],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_invalid_input_is_reported_before_a_kernel_starts(tmp_path: Path) -> None:
    """Exit status 2, and no traceback."""
    nowhere = {"XDG_CACHE_HOME": str(tmp_path)}
    for words, message in [
        (["emulate", "hold", "--virtual", "--", "true"], "`rtolab kernel build --version 6.12`"),
        (["emulate", "hold", "--server", "serve"], "--server goes with a client"),
        (["conform", "--virtual", "--", "true"], "a client needs a server"),
    ]:
        done = command(*words, **nowhere)
        assert done.returncode == 2, done.stderr
        assert message in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr


def virtual(*words: str, server: str | None = None, **more: str) -> tuple[int, str, str]:
    """The status and the output of a program in a guest."""
    require_kernel()
    served = ["--server", server] if server else []
    done = command("emulate", "hold", "--virtual", "--json", *served, "--", *words, **more)
    return done.returncode, done.stdout, done.stderr


def test_a_program_finds_its_folder_its_environment_and_its_user() -> None:
    """Those of the host; its output and its status come back."""
    script = 'pwd; id -u; echo "$NAME $RTOLAB_PEER"; echo wrong >&2; exit 7'
    status, _, said = virtual("sh", "-c", script, NAME="a name")
    assert status == 1
    assert said == f"{Path.cwd()}\n{os.getuid()}\na name 10.83.0.2\nwrong\n"
    assert '"returncode": 7' in virtual("sh", "-c", "exit 7")[1]


@pytest.mark.parametrize(
    ("server", "status", "end"),
    [
        ("exit 3", 1, {"code": 3, "before_client": True}),
        (f"{SERVE} & sleep 2; exit 4", 1, {"code": 4, "before_client": False}),
        (f"{SERVE} & sleep 2; kill -9 $$", 1, {"code": 137, "before_client": False}),
        (f"(sleep 1; exec {SERVE}) &", 0, {"code": 0, "before_client": False}),
        (SERVE, 0, None),
    ],
)
def test_a_server_that_fails_in_a_guest_fails_the_command(
    server: str, status: int, end: object
) -> None:
    found, text, said = virtual("sh", "-c", "echo the client ran; sleep 4", server=server)
    document = json.loads(text)
    assert (found, document["server_end"]) == (status, end), said
    assert document["good"] is (status == 0)
    started = document["returncode"] is not None
    assert started == ("the client ran" in said) == (server != "exit 3")
    assert ("the server ended before it listened" in said) != started


def test_captures_hold_the_datagrams_of_programs(tmp_path: Path) -> None:
    require_kernel()
    answers = (
        "import socket\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.bind(('0.0.0.0', 4433))\n"
        "while True:\n"
        "    said, peer = s.recvfrom(2000)\n"
        "    s.sendto(said * 2, peer)\n"
    )
    asks = (
        "import socket, sys\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.connect((sys.argv[1], 4433))\n"
        "s.send(b'hello' * 100)\n"
        "assert len(s.recv(2000)) == 1000\n"
    )
    (tmp_path / "serve.py").write_text(answers)
    server = f"exec {sys.executable} {tmp_path / 'serve.py'}"
    words = ["emulate", "hold", "--virtual", "--server", server, "--out", str(tmp_path / "out")]
    done = command(*words, "--", sys.executable, "-c", asks, "{peer}")
    assert done.returncode == 0, done.stderr
    for place in ("sender", "receiver"):
        (file,) = (tmp_path / "out").glob(f"*-{place}.pcapng")
        heads = packets(file.read_bytes())
        assert [len(head) for head in heads] == [120, 120]
        assert all(head[28:33] == b"hello" for head in heads)


def test_a_client_and_a_server_do_the_same_in_every_run(tmp_path: Path) -> None:
    """The same packets at the same times, and the same output."""
    require_kernel()
    folders = [tmp_path / name for name in ("one", "two")]
    said = []
    for folder in folders:
        words = ["emulate", "hold", "--virtual", "--server", SERVE, "--out", str(folder), "--"]
        done = command(*words, sys.executable, "-c", FETCH, "http://{peer}:8000/GPL-3")
        assert done.returncode == 0, done.stderr
        assert "GNU GENERAL PUBLIC LICENSE" in done.stdout
        said.append(done.stdout.replace(str(folder), "FOLDER"))
    assert said[0] == said[1]
    files = [sorted(path.name for path in folder.iterdir()) for folder in folders]
    assert files[0] == files[1]
    for name in files[0]:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name


WRITES = """
import os, sys
kept, home = sys.argv[1:]
for act in (
    lambda: open(kept, "w"),
    lambda: os.unlink(kept),
    lambda: os.chmod(kept, 0),
    lambda: os.rename(kept, kept + "2"),
    lambda: os.mkdir(home + "/folder"),
):
    try:
        act()
    except OSError as error:
        print(error.errno, end=" ")
with open("/tmp/written", "w") as file:
    file.write("inside")
print(open("/tmp/written").read())
"""


def test_nothing_is_written_to_the_hosts_files() -> None:
    """Files are read-only (30), except in /tmp, where writing changes nothing on the host."""
    # The checkout may be in /tmp, where guests may write.
    folder = Path(tempfile.mkdtemp(prefix=".rtolab-test-", dir=Path.home()))
    kept = folder / "kept"
    in_tmp = Path("/tmp/written")
    assert not in_tmp.exists()
    try:
        kept.write_text("host", encoding="utf-8")
        status, _, said = virtual(sys.executable, "-c", WRITES, str(kept), str(folder))
        assert (status, said) == (0, "30 30 30 30 30 inside\n")
        assert kept.read_text(encoding="utf-8") == "host"
    finally:
        kept.unlink()
        folder.rmdir()
    assert not in_tmp.exists()


REACHES = """
for path in /proc/sys/kernel/hostname /proc/net/dev; do cat $path; done
mount -t hostfs none /mnt -o / 2> /dev/null && echo mounted
mount -o remount,rw / 2> /dev/null && echo remounted
ls -d /proc/[0-9]* | wc -l
[ -e /proc/{pid} ] && grep -q pytest /proc/{pid}/cmdline && echo traceable
exit 0
"""


def test_a_program_reaches_neither_the_hosts_network_nor_its_processes() -> None:
    """Its network is the link's, its processes are the guest's, and it mounts nothing."""
    script = REACHES.replace("{pid}", str(os.getpid()))
    status, _, said = virtual("sh", "-c", script)
    assert status == 0, said
    assert said.startswith(f"{os.uname().nodename}\n")
    devices = {line.split(":")[0].strip() for line in said.splitlines() if ":" in line}
    assert devices == {"lo", "eth0"}
    assert not {"mounted", "remounted", "traceable"} & set(said.split())


def test_the_host_is_not_reached_by_its_address() -> None:
    """A server of the host at all its addresses, and a client inside that finds none."""
    import socket  # noqa: PLC0415

    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        code = (
            f"import socket; s = socket.socket(); s.settimeout(5); "
            f"print(s.connect_ex(('127.0.0.1', {port})))"
        )
        status, _, said = virtual(sys.executable, "-c", code)
        assert (status, said) == (0, "111\n"), "refused"
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_program_that_is_missing_inside_is_named() -> None:
    """The message says what is different inside; the exit status is 2."""
    require_kernel()
    script = Path("/run") / "rtolab-test-of-guests"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    script.chmod(0o755)
    try:
        status, _, said = virtual(str(script))
    finally:
        script.unlink()
    assert status == 2
    assert f"`{script}` cannot be run on `near`" in " ".join(said.split())
    assert "/run" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_program_leaves_nothing(number: int, tmp_path: Path) -> None:
    """Neither a process nor a file, whatever ends the controller; SIGKILL leaves sockets alone."""
    built = require_kernel()
    script = "echo started; while :; do sleep 1; done"
    words = [sys.executable, "-m", "rtolab.cli", "emulate", "hold", "--virtual", "--", "sh", "-c"]
    with adopted_orphans() as orphans:
        with subprocess.Popen(
            [*words, script],
            env=os.environ | {"TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout
            assert process.stdout.readline() == "started\n"
            process.send_signal(number)
            process.stdout.read()
        expected = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
        assert process.returncode == expected[signal.Signals(number)]
        until = time.monotonic() + 60
        while str(built.folder / "linux") in orphans():
            assert time.monotonic() < until, "a guest is left"
            time.sleep(0.05)
    if number != signal.SIGKILL:
        assert not list(tmp_path.iterdir())


def test_scores_of_programs_are_alike_in_every_run() -> None:
    """A client and a server on one scenario: recovered, as long as the stall at least."""
    built = require_kernel()
    client = (sys.executable, "-c", FETCH, "http://{server}:8000/{bytes}")
    server = f"exec {sys.executable} -m http.server 8000 --directory {{files}}"
    stack = Stack("urllib", {}, server, client, kernel=built)
    chosen = [one for one in suite() if one.id == "tail-2"]
    one, two = (conform(stack, chosen) for _ in range(2))
    assert one == two
    assert [score.ended for score in one] == ["recovered"]
    assert 0 < one[0].score < 100
