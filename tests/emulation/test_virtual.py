"""Guest kernels on a virtual clock: a fake one, and one that was built."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from rich.console import Console

import program
from guests import adopted_orphans, fake_kernel, require_kernel
from rtolab import kernel
from rtolab._rtolab import EmulationError, Error
from rtolab.cli.conform import titles
from rtolab.emulation import Engine, emulate
from rtolab.tables import emulated

if TYPE_CHECKING:
    from rtolab._rtolab import EmulationReport


def test_a_fake_kernel_is_set_up_and_refuses_a_setting(tmp_path: Path) -> None:
    """Clock, card, queues, requests and answers work: the refusal of a setting comes through."""
    fake = fake_kernel(tmp_path / "kernel", "refuses")
    with pytest.raises(EmulationError, match=r"ipv4\.tcp_frto of near cannot be set to 2"):
        emulate("kernel-stall", kernel=fake)


def test_a_congestion_control_that_a_guest_lacks_is_named(tmp_path: Path) -> None:
    """The guest's own list says what there is."""
    fake = fake_kernel(tmp_path / "kernel")
    with pytest.raises(EmulationError, match=r'found "bbr".*expected.*cubic'):
        emulate("kernel-stall", kernel=fake, set={"kernel.congestion": "bbr"})


def test_a_guest_that_is_killed_within_a_message_is_named(tmp_path: Path) -> None:
    """Its card's socket is reset before the process has ended."""
    fake = fake_kernel(tmp_path / "kernel", "killed")
    with pytest.raises(EmulationError, match=r"exited early \(signal: 9 \(SIGKILL\)\)"):
        emulate("kernel-stall", kernel=fake)


def test_a_kernel_gets_the_arguments_of_its_folder(tmp_path: Path) -> None:
    fake = fake_kernel(tmp_path / "kernel")
    (fake.folder / "arguments").write_text("killed\n")
    with pytest.raises(EmulationError, match="SIGKILL"):
        emulate("kernel-stall", kernel=fake)


@pytest.mark.parametrize(
    ("source", "arguments"), [('__uml_setup("seccomp=", set,', "seccomp=auto\n"), ("", "")]
)
def test_system_calls_pass_a_filter_if_the_kernel_can(
    tmp_path: Path, source: str, arguments: str
) -> None:
    folder = tmp_path / "arch" / "um" / "os-Linux"
    folder.mkdir(parents=True)
    (folder / "start_up.c").write_text(source)
    assert kernel._arguments(tmp_path) == arguments


def test_kernels_of_the_same_release_have_their_names_in_results(tmp_path: Path) -> None:
    """A developer compares a tree before and after a change."""
    one = fake_kernel(tmp_path / "kernel")
    before, after = replace(one, name="before"), replace(one, name="after")
    other = replace(one, release="6.1")
    assert titles([None, one]) == [None, "Linux 0.0, HZ 1000"]
    assert titles([before, after, other]) == [
        "before: Linux 0.0, HZ 1000",
        "after: Linux 0.0, HZ 1000",
        "Linux 6.1, HZ 1000",
    ]


def test_a_guest_never_advances_beyond_what_is_due(tmp_path: Path) -> None:
    """The interrupt about its first frame is due when a request lets a guest read the clock."""
    fake = fake_kernel(tmp_path / "kernel", "direct")
    result = emulate("kernel-stall", kernel=fake)
    exchanges = [host["exchange"] for host in result.reports[0]["hosts"]]
    assert all(exchange and exchange["shared_memory"] for exchange in exchanges)


def test_without_a_kernel_the_command_that_builds_one_is_named(tmp_path: Path) -> None:
    """Exit status 2, and no traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "rtolab.cli", "emulate", "kernel-stall", "--virtual"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "rtolab kernel build --version 6.12" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_kernel_is_compared_with_the_known_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearest name is proposed; `remove` removes nothing else."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, release in (("6.1", "6.1.9"), ("6.12", "6.12.4")):
        folder = kernel.cache() / name
        folder.mkdir(parents=True)
        known = {"release": release, "hz": 1000, "source": "a test"}
        (folder / "kernel.json").write_text(json.dumps(known), encoding="utf-8")
    assert kernel.find().name == "6.12"
    with pytest.raises(Error, match=r"6\.21 is no kernel that was built; expected"):
        kernel.find("6.21")
    kernel.remove("6.12")
    assert [one.name for one in kernel.kernels()] == ["6.1"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"source": Path("/nowhere")}, "expected a tree of Linux's sources"),
        ({"version": "latest"}, "--version latest: expected two numbers"),
        ({"name": "../x"}, "../x: expected a name of letters"),
    ],
)
def test_a_kernel_that_cannot_be_built_is_reported_at_once(
    given: dict[str, object],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is left in the cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernel, "BUILD_PROGRAMS", {})
    monkeypatch.setattr(kernel, "DEBIAN_PROGRAMS", {})
    with pytest.raises(Error, match=message):
        kernel.build(**given)  # type: ignore[arg-type]
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("name", ["../other", "..", ".", "/etc", "", "a/../../other"])
def test_no_folder_outside_of_the_cache_is_removed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    known = '{"release": "6.12.1", "hz": 1000, "source": "x"}'
    for folder in (kernel.cache() / "good", tmp_path / "rtolab" / "other"):
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text(known, encoding="utf-8")
    with pytest.raises(Error, match="is no kernel that was built; expected good"):
        kernel.remove(name)
    assert (tmp_path / "rtolab" / "other" / "kernel.json").exists()
    kernel.remove("good")
    assert not kernel.kernels()


def test_missing_programs_are_named_with_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """One command installs them all."""
    monkeypatch.setattr(
        kernel, "BUILD_PROGRAMS", {"no-such-flex": "flex", "no-such-bison": "bison"}
    )
    monkeypatch.setattr(kernel, "DEBIAN_PROGRAMS", {})
    with pytest.raises(Error, match="needs bison, flex: `apt install bison flex`"):
        kernel.build(source=Path("/nowhere"))


def test_the_next_build_removes_the_files_of_a_killed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a build that goes on has made stays."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernel, "BUILD_PROGRAMS", {})
    with subprocess.Popen(["true"]) as ended:
        pass
    for process in (ended.pid, os.getpid()):
        (kernel.cache() / f".building-{process}-abc" / "objects").mkdir(parents=True)
    tree = tmp_path / "linux"
    (tree / "arch" / "um").mkdir(parents=True)
    (tree / "arch" / "um" / "Kconfig").touch()
    with pytest.raises(OSError, match="Kconfig"):
        kernel.build(source=tree)
    left = [path.name for path in kernel.cache().iterdir()]
    assert left == [f".building-{os.getpid()}-abc"]


def test_two_runs_of_a_guest_are_equal_and_exact() -> None:
    """A stall of 3 s: the kernel's timeouts are spurious, and every run has the same packets."""
    built = require_kernel()
    one, two = (emulate("kernel-stall", kernel=built) for _ in range(2))
    assert one.segments.equals(two.segments)
    assert one.windows.equals(two.windows)
    assert "spurious" in set(one.timeouts["truth"])
    assert not any(one.doubts)


def test_withholding_finds_the_truth_about_a_stall() -> None:
    """Each timeout is repeated without its retransmission; the packets' fates tell the same."""
    result = emulate("kernel-stall", kernel=require_kernel(), withhold=True)
    withheld = result.reports[0]["withheld"]
    assert [one["by_withholding"] for one in withheld] == list(result.timeouts["truth"])
    assert "spurious" in {one["by_withholding"] for one in withheld}
    assert all(one["by_withholding"] == one["by_fates"] for one in withheld)


INCAST = """
title = "Senders that answer at once through one queue"
duration = "20 s"

[[link]]
name = "switch"
between = ["switch", "client"]
rate = "10 Gbit/s"
delay = "25 us"
queue = "128 kB"
"""
SENDER = """
[[link]]
name = "rack{number}"
between = ["server{number}", "switch"]
rate = "10 Gbit/s"
delay = "25 us"

[[flow]]
name = "answer{number}"
from = "server{number}"
to = "client"
start = "1 s"
start_jitter = "{jitter}"
bytes = "32 kB"
"""


ANSWERS = """
[kernel]
rto_min = "200 ms"

[receiver]
delayed_ack = "40 ms"

[[flow]]
name = "answer"
from = "switch"
to = "client"
count = 8
start = "1 s"
start_jitter = "20 us"
bytes = "4 kB"
"""


def test_eight_guests_send_at_once(tmp_path: Path) -> None:
    """All transfers end, with the same packets in both runs."""
    path = tmp_path / "incast.toml"
    links = (SENDER.format(number=one, jitter=("0 s", "20 us")[one % 2]) for one in range(8))
    path.write_text(INCAST + "".join(links), encoding="utf-8")
    built = require_kernel()
    one, two = (emulate(path, kernel=built) for _ in range(2))
    assert one.connections["completed"].all()
    assert one.connections["bytes"].to_list() == [32_000] * 8
    assert one.segments.equals(two.segments)


def test_a_request_is_due_when_a_packet_arrives(tmp_path: Path) -> None:
    """The client closes a connection at the instant at which it receives for another."""
    path = tmp_path / "answers.toml"
    path.write_text(INCAST + ANSWERS, encoding="utf-8")
    result = emulate(path, kernel=require_kernel(), seed=5)
    assert result.connections["completed"].all()


def test_withholding_needs_guests() -> None:
    """In real time no run can be repeated."""
    with pytest.raises(Error, match="needs runs on a virtual clock"):
        emulate("kernel-stall", withhold=True)


def test_the_engine_is_a_host_beside_a_guest(tmp_path: Path) -> None:
    """Its packets take the links to the guest, at the times of the engine's timers."""
    fake = fake_kernel(tmp_path / "kernel")
    result = emulate("kernel-stall", kernel=fake, engine=Engine(["near"]), set={"duration": "12 s"})
    sent = result.segments.filter(pl.col("event") == "sent")
    assert set(sent["flags"]) == {"S"}, "the fake kernel answers no SYN"
    assert sent["at_s"].to_list() == [0, 1, 2, 3, 4, 5, 7, 11]
    assert [host["kernel"] for host in result.reports[0]["hosts"]] == [None, fake.title]


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        (["neer"], "host `neer` is not in the scenario; expected .*near"),
        (["near", "far"], "all hosts are the engine: `rtolab run`"),
    ],
)
def test_wrong_engine_hosts_are_named(hosts: list[str], message: str, tmp_path: Path) -> None:
    """Before a kernel starts."""
    fake = fake_kernel(tmp_path / "kernel")
    with pytest.raises(EmulationError, match=message):
        emulate("kernel-stall", kernel=fake, engine=Engine(hosts))


def test_each_host_can_have_its_own_kernel(tmp_path: Path) -> None:
    """The report names them, and an unknown host is refused before a kernel starts."""
    near, far = (fake_kernel(tmp_path / name) for name in ("near", "far"))
    far = replace(far, release="0.1")
    result = emulate("kernel-stall", kernel=near, kernels={"far": far}, set={"duration": "10 s"})
    assert [host["kernel"] for host in result.reports[0]["hosts"]] == [near.title, far.title]
    with pytest.raises(EmulationError, match=r"host `fra` is not in the scenario; expected .*far"):
        emulate("kernel-stall", kernel=near, kernels={"fra": far})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kernel", "far=6.12"), "--kernel names a guest, which needs --virtual"),
        (("--kernel", "a", "--kernel", "b", "--virtual"), "--kernel b: expected one kernel"),
    ],
)
def test_wrong_kernels_of_hosts_are_reported(words: tuple[str, ...], message: str) -> None:
    """Exit status 2."""
    done = program.run("emulate", "kernel-stall", *words)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize("words", [(), ("messages",)])
def test_a_guest_without_shared_memory_is_reported(words: tuple[str, ...], tmp_path: Path) -> None:
    """It runs at the times that it requests; the report says that it exchanges messages."""
    fake = fake_kernel(tmp_path / "kernel", *words)
    result = emulate("kernel-stall", kernel=fake, engine=Engine(["near"]), set={"duration": "9 s"})
    near, far = (host["exchange"] for host in result.reports[0]["hosts"])
    assert near is None
    assert far is not None
    assert not far["shared_memory"]
    assert far["messages"]
    assert "far without shared memory" in " ".join(text(result.reports[0]).split())


def text(report: "EmulationReport") -> str:
    """The printed report."""
    console = Console(width=200, file=io.StringIO())
    console.print(emulated.emulation(report))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_guests_exchange_by_shared_memory_if_their_kernel_can() -> None:
    """Every kernel that is built transfers all data, and none falls back without a word."""
    require_kernel()
    for built in kernel.kernels():
        result = emulate("kernel-stall", kernel=kernel.find(built.name))
        assert result.connections["completed"].all(), built.title
        can = tuple(map(int, built.release.split(".")[:2])) >= (6, 11)
        for host in result.reports[0]["hosts"]:
            exchange = host["exchange"]
            assert exchange is not None
            assert exchange["shared_memory"] == can, built.title
            assert (exchange["messages"] == 0) == can, built.title


@pytest.mark.parametrize("host", ["near", "far"])
def test_the_engine_and_a_kernel_transfer_all_data(host: str) -> None:
    """The kernel sends to the engine, and the other way; two runs are equal."""
    built = require_kernel()
    one, two = (
        emulate("kernel-stall", kernel=built, engine=Engine([host]), withhold=True)
        for _ in range(2)
    )
    assert one.segments.equals(two.segments)
    guests = emulate("kernel-stall", kernel=built)
    assert one.connections["bytes"].to_list() == guests.connections["bytes"].to_list()
    assert one.connections["end_s"][0] is not None
    assert "spurious" in set(one.timeouts["truth"])


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """Neither a process nor a file."""
    built = require_kernel()
    code = (
        "from rtolab import kernel; from rtolab.emulation import emulate; "
        "emulate('kernel-stall', kernel=kernel.find())"
    )
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with adopted_orphans() as orphans:
        subprocess.run([sys.executable, "-c", code], env=env, check=True)
        assert not list(tmp_path.iterdir())
        assert str(built.folder / "linux") not in orphans()


ENDLESS = """
title = "A transfer without end"
duration = "100000 s"
[[link]]
name = "link"
between = ["near", "far"]
rate = "10 Mbit/s"
[[flow]]
name = "transfer"
from = "near"
to = "far"
"""


def guests(parent: int) -> list[int]:
    """The processes of a process's guests."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in listed.stdout.split()]


TWO_WAYS = """
title = "Flows in both directions"
duration = "30 s"
[[link]]
name = "link"
between = ["near", "far"]
rate = "2 Mbit/s"
delay = "50 ms"
stalls = { scripted = [{ at = "1 s", for = "1500 ms" }] }
[[flow]]
name = "there"
from = "near"
to = "far"
bytes = "300 kB"
[[flow]]
name = "back"
from = "far"
to = "near"
bytes = "300 kB"
"""


def test_flows_of_guests_are_drawn(tmp_path: Path) -> None:
    """Both ends that send have the truth about their timeouts; each flow has a figure."""
    require_kernel()
    scenario = tmp_path / "both.toml"
    scenario.write_text(TWO_WAYS, encoding="utf-8")
    words = ("emulate", str(scenario), "--virtual", "--json", "--out", str(tmp_path / "out"))
    done = program.run(*words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [one["completed"] for one in document["connections"]] == [True, True]
    timeouts = pl.read_parquet(tmp_path / "out" / "timeouts.parquet")
    assert set(timeouts.filter(truth="spurious")["flow"]) == {"there", "back"}
    figures = {Path(name).name for name in document["files"] if name.endswith(".svg")}
    assert figures == {"there-sender.svg", "back-sender.svg"}


def runs(pid: int) -> bool:
    """Is it a process that has not ended? Nobody may have asked for its exit status yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """An emulation without end, once its guests run."""
    require_kernel()
    scenario = tmp_path / "endless.toml"
    scenario.write_text(ENDLESS, encoding="utf-8")
    words = [sys.executable, "-m", "rtolab.cli", "emulate", str(scenario), "--virtual"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and len(guests(process.pid)) < 2:
            time.sleep(0.05)
        yield process
        process.kill()


def test_a_guest_that_is_killed_is_named(running: subprocess.Popen[str]) -> None:
    """Exit status 2; the other guest ends, too."""
    both = guests(running.pid)
    os.kill(both[0], signal.SIGKILL)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 2, said
    assert "exited early (signal: 9 (SIGKILL))" in said
    assert not any(map(runs, both))


def test_guests_end_with_a_killed_controller(running: subprocess.Popen[str]) -> None:
    """SIGKILL lets the controller clean up nothing."""
    both = guests(running.pid)
    running.kill()
    running.wait(timeout=120)
    until = time.monotonic() + 60
    while any(map(runs, both)):
        assert time.monotonic() < until, "a guest is left"
        time.sleep(0.05)
