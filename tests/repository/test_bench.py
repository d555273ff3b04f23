import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import counted
from counted import misses, totals
from parts import Part, read_parts, said_of_parts
from prerequisites import lack, require_tool
from program import execute

BENCHES = Path(__file__).parents[2] / "benches"
RUN_FIGURES = {"set_up_s", "run_s", "packets", "packets_per_s", "memory_mb", "events"}


def bench(*options: str, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess[str]:
    return execute(BENCHES / "run", "--quick", "--json", *options, env={**os.environ, "PATH": path})


def document_of(ran: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    # In one round on a busy machine rtolab may be slower, which is no defect.
    assert ran.returncode in (0, 1), ran.stderr
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def write_program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    return document_of(bench())


@pytest.fixture(scope="module")
def compared() -> dict[str, Any]:
    return document_of(bench("--peers"))


@pytest.fixture
def no_peers(tmp_path: Path) -> Path:
    """A folder with the programs that build and start rtolab, and no others."""
    for program in ("sh", "dirname", "cargo", "rustc"):
        found = shutil.which(program)
        assert found is not None
        (tmp_path / program).symlink_to(found)
    return tmp_path


@pytest.mark.slow
def test_every_case_is_measured(measured: dict[str, Any]) -> None:
    assert list(measured["cases"]) == ["a", "b"]
    for run in measured["cases"].values():
        assert set(run) == RUN_FIGURES
        assert run["packets_per_s"] == pytest.approx(run["packets"] / run["run_s"], rel=1e-4)
        assert 1 < run["memory_mb"] < 100
        assert 1 < run["events"] / run["packets"] < 5


@pytest.mark.slow
def test_the_event_queue_is_measured_alone_with_as_many_events(measured: dict[str, Any]) -> None:
    fifty = measured["cases"]["b"]
    assert measured["queue"]["events"] == fifty["events"]
    assert measured["queues_a_run"] == pytest.approx(
        fifty["run_s"] / measured["queue"]["run_s"], rel=1e-2
    )


@pytest.mark.slow
def test_five_hundred_flows_through_red_have_a_goal(measured: dict[str, Any]) -> None:
    red = measured["red"]
    assert set(red) == RUN_FIGURES | {"goal_s"}
    # 60 s of a link that is busy most of the time.
    assert 500_000 < red["packets"] < 722_000
    assert red["goal_s"] == 1.0


@pytest.mark.slow
def test_the_tables_of_the_report_are_timed(measured: dict[str, Any]) -> None:
    tables = measured["tables"]
    assert tables["runs"] == 30
    assert set(tables["wall_s"]) == {"frto2002/table1", "frto2002/table2", "frto2002/table3"}
    assert tables["together_s"] == pytest.approx(sum(tables["wall_s"].values()))
    assert all(wall > 0 for wall in tables["wall_s"].values())


def test_parts_are_read_from_the_files_of_criterion(tmp_path: Path) -> None:
    left = tmp_path / "tcp" / "a window of segments" / "new"
    left.mkdir(parents=True)
    benchmark = {"full_id": "tcp/a window of segments", "throughput": {"Elements": 64}}
    interval = {"confidence_level": 0.95, "lower_bound": 6400.0, "upper_bound": 12800.0}
    median = {"confidence_interval": interval, "point_estimate": 9600.0}
    (left / "benchmark.json").write_text(json.dumps(benchmark))
    (left / "estimates.json").write_text(json.dumps({"median": median}))

    assert read_parts(tmp_path) == [Part("tcp/a window of segments", 150, 100, 200)]
    assert "150.0   100.0 to 200.0" in said_of_parts(read_parts(tmp_path))


def test_instructions_and_misses_are_read_from_the_file_of_callgrind() -> None:
    counts = totals("events: Ir D1mr D1mw DLmr DLmw\nfn=(1)\n7 1 2\nsummary: 900 30 4 2 1\n")
    assert counts["Ir"] == 900
    assert (misses(counts, "1"), misses(counts, "L")) == (34, 3)


@pytest.mark.slow
def test_ns2_delivers_as_many_packets_as_rtolab(compared: dict[str, Any]) -> None:
    require_tool("ns", "ns2")
    assert [case["case"] for case in compared["cases"]] == ["a", "b"]
    for case in compared["cases"]:
        for scheduler in ("Calendar", "Splay"):
            ns2 = case["peers"][f"ns-2, {scheduler}"]
            assert set(ns2) == RUN_FIGURES | {"ratio", "seconds"}
            assert case["rtolab"]["packets"] == pytest.approx(ns2["packets"], rel=0.02)
            rates = case["rtolab"]["packets_per_s"] / ns2["packets_per_s"]
            assert ns2["ratio"] == pytest.approx(rates, rel=1e-2)


@pytest.mark.slow
def test_ns3_delivers_the_packets_that_its_shorter_time_allows(compared: dict[str, Any]) -> None:
    if "ns-3" not in compared["cases"][0]["peers"]:
        # It is too large for CI to install.
        lack("ns-3 is missing; install it:  sudo apt-get install libns3-dev", ci_has_it=False)
    for case, rate, seconds in zip(compared["cases"], (1202, 12019), (6.0, 1.0), strict=True):
        ns3 = case["peers"]["ns-3"]
        assert ns3["seconds"] == seconds
        # The link's rate, less what slow start leaves unused.
        assert 0.75 * rate * seconds < ns3["packets"] < rate * seconds


@pytest.mark.slow
def test_without_peers_only_rtolab_runs_and_their_packages_are_named(no_peers: Path) -> None:
    ran = bench("--peers", path=str(no_peers))
    assert ran.returncode == 0
    assert "sudo apt-get install ns2\n" in ran.stderr
    assert "sudo apt-get install g++ libns3-dev\n" in ran.stderr
    for case in json.loads(ran.stdout)["cases"]:
        assert case["peers"] == {}
        assert case["rtolab"]["packets"] > 200_000


@pytest.mark.slow
def test_without_its_headers_ns3_is_named_alone(no_peers: Path) -> None:
    write_program(no_peers / "c++", "exit 1")
    write_program(no_peers / "ns", "echo 0.01 1000 239000 14000")
    ran = bench("--peers", path=str(no_peers))
    assert "sudo apt-get install libns3-dev\n" in ran.stderr
    assert "ns-2" not in ran.stderr
    for case in json.loads(ran.stdout)["cases"]:
        assert set(case["peers"]) == {"ns-2, Calendar", "ns-2, Splay"}


@pytest.mark.slow
def test_ns3_simulates_as_long_as_asked_and_never_longer(no_peers: Path) -> None:
    # A compiler whose programs print the duration of the simulation as their packets.
    write_program(
        no_peers / "ns-3",
        "for word; do case $word in --seconds=*) seconds=${word#*=}; esac; done\n"
        "echo 0.1 2.5 ${seconds%.*} 9000",
    )
    write_program(
        no_peers / "c++",
        'while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done\n'
        f'[ -z "$out" ] || /bin/cp {no_peers}/ns-3 "$out"',
    )
    for reported, simulated in ((100.0, [100, 60]), (7.0, [7, 7])):
        ran = bench("--peers", "--ns3-seconds", str(reported), path=str(no_peers))
        cases = json.loads(ran.stdout)["cases"]
        assert [case["peers"]["ns-3"]["packets"] for case in cases] == simulated
        assert [case["peers"]["ns-3"]["seconds"] for case in cases] == simulated
        assert [case["peers"]["ns-3"]["run_s"] for case in cases] == [2.5, 2.5]


@pytest.mark.slow
def test_a_faster_ns2_fails_the_comparison(no_peers: Path) -> None:
    write_program(no_peers / "ns", "echo 0.01 0.000001 239000 14000")
    ran = bench("--peers", path=str(no_peers))
    assert ran.returncode == 1
    assert "(a) ns-2 is faster" in ran.stderr
    assert "(b) ns-2 is faster" in ran.stderr


@pytest.mark.slow
def test_a_peer_that_prints_nonsense_is_quoted(no_peers: Path) -> None:
    write_program(no_peers / "ns", "echo sorry")
    ran = bench("--peers", path=str(no_peers))
    assert ran.returncode == 2
    assert "`sorry` is not what a run prints" in ran.stderr


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, int]:
    """The counts of a check, which begin as the recorded ones: 100,000 for each case."""
    same = dict.fromkeys((*counted.CASES, counted.DIAGNOSE), 100_000)
    recorded = tmp_path / "instructions.json"
    machine = {"rustc": "1.85.0", "instructions": same}
    recorded.write_text(json.dumps({platform.machine(): machine}))
    monkeypatch.setattr(counted, "COUNTS", recorded)
    taken = dict(same)
    monkeypatch.setattr(counted, "count_all", lambda: taken)
    monkeypatch.setattr(counted, "rustc", lambda: "1.85.0")
    return taken


@pytest.mark.parametrize("case", [*counted.CASES, counted.DIAGNOSE])
@pytest.mark.parametrize("growth", [-0.5, 0.019, 0.021])
def test_more_than_two_percent_more_instructions_fail(
    counts: dict[str, int], capsys: pytest.CaptureFixture[str], case: str, growth: float
) -> None:
    status = 1 if growth > 0.02 else 0
    counts[case] = round(100_000 * (1 + growth))
    assert counted.check(record=False) == status
    printed = capsys.readouterr()
    assert f"({case}) {counts[case]:,} instructions per packet, {growth:+.1%} of 100,000" in (
        printed.out.splitlines()
    )
    failure = f"more than 2% above the recorded count: {case}\n"
    assert printed.err == (failure if status else "")


def test_another_compiler_is_named_where_counts_grow(
    counts: dict[str, int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(counted, "rustc", lambda: "1.99.0")
    assert counted.check(record=False) == 0
    assert capsys.readouterr().err == ""
    counts["d"] = 120_000
    assert counted.check(record=False) == 1
    assert "recorded with rustc 1.85.0, this is 1.99.0" in capsys.readouterr().err


def test_recorded_counts_are_kept_by_architecture(
    counts: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    counts["a"] = 70_000
    assert counted.check(record=False) == 0  # nothing to compare with
    assert counted.check(record=True) == 0
    recorded = json.loads(counted.COUNTS.read_text())
    assert recorded["riscv64"]["instructions"]["a"] == 70_000
    assert len(recorded) == 2
    counts["a"] = 72_000
    assert counted.check(record=False) == 1


def test_every_case_has_a_recorded_count() -> None:
    for machine in json.loads(counted.COUNTS.read_text()).values():
        assert set(machine["instructions"]) == {*counted.CASES, counted.DIAGNOSE}
