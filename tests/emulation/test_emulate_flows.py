"""A scenario's own flows on real kernels. Most tests need Linux, root, /dev/net/tun and ip."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

import kernel_runs
import program
import rtolab
from prerequisites import require_tool
from program import execute, wait_for
from rtolab.emulation import Variant, emulate

SHORT = kernel_runs.SHORT
pytestmark = pytest.mark.usefixtures("hosts")


@pytest.fixture
def hosts(hosts: None) -> None:  # noqa: ARG001
    """Begins the long runs, too."""
    kernel_runs.stalls()


def start_emulation(*arguments: str) -> subprocess.Popen[str]:
    return program.start("emulate", *arguments)


def test_a_run_reports_the_settings_and_counters_of_its_kernels() -> None:
    variants = [Variant(), Variant("old", kernel_runs.RENO)]
    result = emulate("kernel-stall", set=SHORT, variants=variants)
    assert result.connections["sender"].to_list() == ["linux", "old"]
    assert result.connections["flow_sender"].to_list() == ["linux cubic", "linux reno"]
    assert result.connections["bytes"].to_list() == [100_000, 100_000]
    for report, on in zip(result.reports, ("1", "0"), strict=True):
        near, far = report["hosts"]
        assert (near["name"], near["address"]) == ("near", "10.83.0.1")
        assert (far["name"], far["address"]) == ("far", "10.83.0.2")
        for host in (near, far):
            effective = host["effective"]
            assert effective["tcp_sack"] == effective["tcp_timestamps"] == on
            assert (effective["mtu"], effective["gso_max_segs"]) == ("1500", "1")
            assert effective["rto_min"] == "200ms"
        assert far["effective"]["window"] == "65535"
        connection = report["connections"]["transfer"]
        assert connection["sack"] == connection["timestamps"] == ("true" if on == "1" else "false")
        assert connection["mss"] == ("1448" if on == "1" else "1460")
        assert near["counted"]["TcpActiveOpens"] == far["counted"]["TcpPassiveOpens"] == 1
        assert near["counters_after"]["TcpOutSegs"] == near["counted"]["TcpOutSegs"]
        # 30 ms each way.
        assert report["round_trip_s"] == pytest.approx(0.06)
        assert report["lateness"]["allowed_s"] == pytest.approx(0.003)
    # Every packet is seen once where it leaves and once where it arrives.
    segments = result.segments.filter(pl.col("run") == 0)
    assert segments["fate"].unique().to_list() == ["delivered"]
    counts = dict(segments.group_by("place", "event").len().select("event", "len").iter_rows())
    assert counts["sent"] > 70
    assert segments.filter(pl.col("event") == "sent").height * 2 == segments.height
    announced = segments.filter((pl.col("place") == "receiver") & (pl.col("event") == "sent"))
    assert max(announced["window"].to_list()) == 65_535
    windows = result.windows.filter(pl.col("run") == 0)
    # No queue is longer than the window, which takes 0.26 s to send.
    assert 0.06 < min(windows["srtt_s"].drop_nulls().to_list()) < 0.2
    assert max(windows["srtt_s"].drop_nulls().to_list()) < 0.5
    assert max(windows["cwnd"].to_list()) > 10 * 1448


def test_captures_of_both_sides_hold_the_same_connection(tmp_path: Path) -> None:
    tshark = require_tool("tshark", "tshark")
    files = emulate("kernel-stall", set=SHORT).write(tmp_path)
    captures = [path for path in files if path.suffix == ".pcapng"]
    assert len(captures) == 2
    for path in captures:
        fields = ["-T", "fields", "-e", "tcp.len", "-e", "tcp.flags"]
        shown = execute(tshark, "-r", path, *fields, check=True)
        rows = [[int(cell, 0) for cell in line.split()] for line in shown.stdout.splitlines()]
        assert sum(length for length, _ in rows) == 100_000
        # Every answer follows what it answers: SYN, SYN-ACK, ACK.
        assert [flags & 0x12 for _, flags in rows[:3]] == [0x02, 0x12, 0x10]
        # The kernel's own header: MSS, SACK permitted and timestamps first, as Linux has them.
        first = ["-c", "1", "-T", "fields", "-e", "tcp.options"]
        shown = execute(tshark, "-r", path, *first, check=True)
        options = shown.stdout
        assert re.fullmatch(r"020405b40402080a[0-9a-f]{16}010303[0-9a-f]{2}\n", options)


WORKLOADS = """
title = "Every workload at once"
duration = "4 s"
[[link]]
name = "wire"
between = ["server", "router"]
delay = "5 ms"
[[link]]
name = "radio"
between = ["router", "client"]
rate = "5 Mbit/s"
delay = "10 ms"
[[flow]]
name = "pages"
from = "server"
to = "client"
pages = { bytes = "30 kB", every = "1 s", count = 3 }
[[flow]]
name = "questions"
from = "server"
to = "client"
requests = { request = "200 B", response = "10 kB", think = { constant = "0.5 s" }, count = 4 }
[[flow]]
name = "telnet"
from = "client"
to = "server"
on_off = { on = { constant = "1 s" }, off = { constant = "1 s" }, rate = "200 kbit/s" }
[[flow]]
name = "voice"
from = "server"
to = "client"
datagrams = { rate = "64 kbit/s", packet = "200 B" }
[flow.access]
delay = "20 ms"
"""


def test_every_workload_is_played(tmp_path: Path) -> None:
    path = tmp_path / "workloads.toml"
    path.write_text(WORKLOADS)
    result = emulate(path)
    rows = {row["flow"]: row for row in result.connections.iter_rows(named=True)}
    assert rows["pages"]["bytes"] == 90_000
    assert rows["pages"]["completed"]
    assert rows["questions"]["bytes"] == 40_000
    assert rows["questions"]["completed"]
    # 200 kbit/s in two of four seconds.
    assert rows["telnet"]["bytes"] == pytest.approx(50_000, rel=0.1)
    assert rows["voice"]["flow_sender"] == "udp"
    assert rows["voice"]["segments"] == pytest.approx(160, abs=3)
    assert rows["voice"]["delay_mean_s"] == pytest.approx(0.036, abs=0.01)
    tasks = result.tasks.group_by("flow").agg(pl.len(), pl.col("end_s").null_count().alias("open"))
    assert sorted(tasks.iter_rows()) == [("pages", 3, 0), ("questions", 4, 0)]
    links = {(row["link"], row["direction"]) for row in result.links.iter_rows(named=True)}
    assert ("voice access", "forward") in links
    assert len(links) == 6


def test_json_has_the_whole_report() -> None:
    set_ = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
    with start_emulation("kernel-stall", "--json", "--seed", "5", *set_) as process:
        output, errors = process.communicate(timeout=600)
    document = json.loads(output)
    assert errors == ""
    assert process.returncode == (0 if document["good"] else 1)
    (connection,) = document["connections"]
    assert (connection["seed"], connection["bytes"], connection["unneeded"]) == (5, 100_000, 0)
    assert document["timeouts"] == []
    (emulation,) = document["emulations"]
    assert (emulation["seed"], emulation["good"]) == (5, document["good"])
    assert emulation["lateness"]["packets"] > 100


def test_a_setting_that_the_kernel_refuses_ends_the_run() -> None:
    refused = 'kernel.congestion: found "nosuch", which this kernel lacks; expected '
    with pytest.raises(rtolab.EmulationError, match=re.escape(refused)):
        emulate("kernel-stall", set={"kernel.congestion": "nosuch"})
    with start_emulation("kernel-stall", "--set", "kernel.congestion=nosuch") as process:
        output, errors = process.communicate(timeout=600)
    assert (process.returncode, output) == (2, "")
    assert errors.startswith(f"rtolab: {refused}")


@pytest.mark.slow
def test_a_run_killed_at_any_moment_leaves_nothing() -> None:
    # Half of them run a command, whose namespaces and children must go as well.
    marks = [f"98765{number:02}" for number in range(20)]
    processes = []
    for number, mark in enumerate(marks):
        command = ["--", "sleep", mark] if number % 2 else []
        processes.append(start_emulation("kernel-stall", *command))
        time.sleep(0.15)
    for number, process in enumerate(processes):
        # The oldest is 3 s old, the youngest has hardly begun.
        process.send_signal(signal.SIGKILL if number % 4 < 2 else signal.SIGTERM)
    for process in processes:
        process.communicate(timeout=20)
    assert gone_soon(processes, marks) == []


def gone_soon(processes: list[subprocess.Popen[str]], marks: list[str]) -> list[str]:
    """What is left of these runs after ten seconds, if anything is."""
    deadline = time.monotonic() + 10
    while (left := leftovers(processes, marks)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return left


def leftovers(processes: list[subprocess.Popen[str]], marks: list[str]) -> list[str]:
    """Namespaces of these processes, and processes that have their marks."""
    names = [path.name for path in Path("/run/netns").glob("rtolab-*")]
    found = [name for name in names for one in processes if name.startswith(f"rtolab-{one.pid}-")]
    mine = [f"rtolab-{one.pid}-near" for one in processes]
    ours = {*marks, *mine}
    return found + [" ".join(words) for words in command_lines().values() if ours & set(words)]


def test_clean_removes_what_a_killed_guardian_left() -> None:
    marks = [f"98766{number:02}" for number in range(4)]
    processes = [start_emulation("kernel-stall", "--", "sleep", mark) for mark in marks]
    wait_for(lambda: len(marks_of_processes(marks)) == len(marks))
    for process in processes:
        for guardian in guardians(process.pid):
            os.kill(guardian, signal.SIGKILL)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=20)
    # Another run that begins meanwhile cleans as well.
    with start_emulation("--clean") as process:
        process.communicate(timeout=600)
    assert process.returncode == 0
    assert gone_soon(processes, marks) == []


def marks_of_processes(marks: list[str]) -> set[str]:
    """The marks that processes have."""
    return {mark for words in command_lines().values() for mark in marks if mark in words}


def guardians(pid: int) -> list[int]:
    """The processes that clean up after this one."""
    name = f"rtolab-{pid}-near"
    lines = command_lines().items()
    return [one for one, words in lines if "rtolab-guardian" in words and name in words]


def command_lines() -> dict[int, list[str]]:
    """By process, of all that run."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found[int(path.parent.name)] = path.read_text(errors="replace").split("\0")
        except OSError:
            continue
    return found


def test_clean_removes_what_other_runs_left() -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    name = f"rtolab-{gone.pid}-near"
    subprocess.run(["ip", "netns", "add", name], check=True)
    with start_emulation("--clean") as process:
        output, _ = process.communicate(timeout=600)
    # Another run that begins meanwhile cleans as well.
    assert output.startswith("removed: ")
    assert name in output or "nothing" in output
    assert not Path("/run/netns", name).exists()


def test_kernels_retransmit_as_much_unneeded_data_as_recorded() -> None:
    # Counted in captures of Linux 6.18 with these settings, on other hosts and another link.
    result = kernel_runs.stalls().result(timeout=120)
    unneeded = dict(result.connections.select("sender", "unneeded").iter_rows())
    assert unneeded["default"] == pytest.approx(3, abs=2)
    assert unneeded["of old"] == pytest.approx(46, abs=2)
    assert unneeded["reno"] == pytest.approx(45, abs=2)
    assert unneeded["slow"] == pytest.approx(1, abs=2)
    assert result.connections["needed"].to_list() == [0] * 4
    assert result.connections["completed"].all()
    assert result.connections["bytes"].to_list() == [1_000_000] * 3 + [100_000]
    slow = result.connections.row(3, named=True)
    # 28.8 kbit/s: 187 packets of 576 B and a last one take 29.9 s, the stall 8 s.
    assert slow["elapsed_s"] == pytest.approx(38.65, abs=0.5)


def test_the_timeouts_of_a_stall_are_spurious_and_some_kernels_see_it() -> None:
    result = kernel_runs.stalls().result(timeout=120)
    timeouts = result.timeouts.filter(pl.col("kind") == "timeout")
    assert set(timeouts["truth"]) == {"spurious"}
    assert set(timeouts["needed"]) == {False}
    counts = result.connections.select("sender", "timeouts", "spurious_timeouts")
    assert all(timed == spurious > 0 for _, timed, spurious in counts.iter_rows())
    for run, report in enumerate(result.reports):
        mine = timeouts.filter(pl.col("run") == run)
        assert mine.height == report["hosts"][0]["counted"]["TcpExtTCPTimeouts"]
    undone = timeouts.filter(pl.col("verdict") == "spurious").group_by("sender").len()
    assert "default" in undone["sender"].to_list()
    assert "reno" not in undone["sender"].to_list()
    holds = result.disturbances.filter((pl.col("run") == 0) & (pl.col("kind") == "stall"))
    assert sorted(holds["from_s"].to_list()) == [5.0, 5.0]
