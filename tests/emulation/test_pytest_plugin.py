"""The pytest plugin for other projects. One test needs Linux, root and /dev/net/tun."""

import gzip
import importlib
import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from capture_changes import one_way, parts, written
from conform_results import measured, report, scored
from prerequisites import no_hosts, require_hosts
from program import execute
from rtolab.conform import suite
from rtolab.pytest_plugin import _with_arguments

ROOT = Path(__file__).parents[2]
UNNEEDED = Path(__file__).parents[1] / "captures" / "stall-3s-none-frto-off.sender.pcapng.gz"
DIAGNOSES = f"""
from pathlib import Path

def test_some(no_spurious_retransmissions):
    assert no_spurious_retransmissions(Path({str(UNNEEDED)!r}), most=100).count("unneeded") > 10

def test_none(no_spurious_retransmissions):
    no_spurious_retransmissions(Path({str(UNNEEDED)!r}))
"""
LOGS = Path(__file__).parents[1] / "qlogs"
EMPTY = """
from pathlib import Path

def test_no_packets(no_spurious_retransmissions):
    no_spurious_retransmissions(Path("empty.pcap"))
"""
SERVER, CLIENT = (str(LOGS / f"quic-go-reordering.{end}.sqlog.gz") for end in ("server", "client"))
QUIC = f"""
from pathlib import Path

def test_some(no_spurious_retransmissions):
    found = no_spurious_retransmissions(Path({SERVER!r}), most=1000)
    assert found.count("spurious-losses") > 5

def test_none(no_spurious_retransmissions):
    no_spurious_retransmissions(Path({SERVER!r}))

def test_receiver(no_spurious_retransmissions):
    no_spurious_retransmissions(Path({CLIENT!r}))
"""
NO_BASELINE = """
from pathlib import Path
from rtolab.conform import Stack

def test_stack(conform_stack):
    # A guest needs no root, and the baseline is missing before one starts.
    conform_stack(Stack("ours", kernel=object()), only=["tail-2"], baseline=Path("none.json"))
"""
REFUSED = """
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
import pytest
from rtolab.conform import Stack

# No guest starts.
OURS = Stack("ours", kernel=object())

def test_other_suite(conform_stack):
    conform_stack(OURS, suite="stalls", baseline=Path("stored.json"))

def test_partly(conform_stack):
    conform_stack(OURS, only=["tail-1", "tail-2"], baseline="stored.json")

def test_no_result(conform_stack):
    conform_stack(OURS, baseline=Path(__file__))

def test_seed(conform_stack):
    conform_stack(OURS, baseline=Path("seed.json"))

def test_suite(conform_stack):
    conform_stack(OURS, suite="stals")

@pytest.mark.parametrize("only", [["tail-1", "tial-2"], "tial-2", ["dc-tail-1"]])
def test_only(conform_stack, only):
    conform_stack(OURS, only=only)

@pytest.mark.parametrize("how", [{"margin": -5}, {"repeat": 0}, {"parallel": 0}, {"limit_s": 0}])
def test_numbers(conform_stack, how):
    conform_stack(OURS, **how)

PROGRAMS = [(None, ["x"]), ("", ["x"]), ("x", []), ("x", "y {bytes}"), ("x", ["{byte}"])]

@pytest.mark.parametrize(("server", "client"), PROGRAMS)
def test_programs(conform_stack, server, client):
    conform_stack(replace(OURS, server=server, client=client))

def test_command(conform_stack, monkeypatch):
    monkeypatch.setattr("rtolab.conform.conform", lambda *_, **__: [])
    kernel = SimpleNamespace(title="Linux")
    done = conform_stack(Stack("ours", {}, "serve", ["get", "a b"], kernel=kernel))
    # As the command has it, so that their results can be compared.
    assert done.command == {"server": "serve", "client": "get 'a b'"}
"""
REFUSALS = (
    "stored.json lacks stall-0.3s, stall-0.5s, stall-0.8s, stall-1s, stall-1.5s and ",
    "stored.json lacks tail-2; store it again with --rtolab-store",
    "test_project.py: found no result of `rtolab conform --json`",
    "seed.json is of seed 2 and this of 1: the scenarios differ; store it again with --rtolab-",
    "suite: found 'stals'; expected fifty, stalls, losses or today: did you mean \"stalls\"?",
    "only tial-2: found no such scenario; expected one of 50, such as ",
    "only dc-tail-1: not in the suite fifty; add suite=today",
    "margin: found -5; expected a number of points from 0",
    "repeat: found 0; expected a whole number from 1",
    "parallel: found 0; expected a whole number from 1 to 4096",
    "limit_s: found 0; expected a number of seconds from 1",
    "ours: found the server None; expected a command line",
    "ours: found a client without a server; expected both, or none for the kernel's TCP",
    "ours: found a server without a client; expected both, or none for the kernel's TCP",
    "ours: found the client 'y {bytes}'; expected a list of a program and its arguments",
    "the client: found {byte}; expected {bytes}",
)
SCORES = """
from pathlib import Path
from rtolab.conform import Stack

def test_stack(conform_stack):
    stored = Path(__file__).parent / "stored.json"
    conform_stack(Stack("kernel"), only=["tail-2"], baseline=stored)
"""


def ran(folder: Path, text: str, *words: str) -> tuple[int, str]:
    """The exit code and the output of pytest on a project's test."""
    (folder / "test_project.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "rtolab.pytest_plugin", *words]
    command += ["-p", "no:cacheprovider", "test_project.py"]
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = execute(*command, cwd=folder, env=alone, timeout=300)
    return done.returncode, done.stdout + done.stderr


def test_the_plugin_is_registered_with_pytest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    importlib.import_module(project["entry-points"]["pytest11"]["rtolab"])


def test_unneeded_retransmissions_of_a_capture_fail_a_test(tmp_path: Path) -> None:
    code, output = ran(tmp_path, DIAGNOSES)
    assert (code, "1 failed, 1 passed" in output) == (1, True), output
    assert "unneeded retransmissions; at most 0 allowed" in output
    assert "frame " in output


def test_spurious_losses_of_a_quic_log_fail_a_test(tmp_path: Path) -> None:
    code, output = ran(tmp_path, QUIC)
    assert (code, "2 failed, 1 passed" in output) == (1, True), output
    assert "spurious losses and probe timeouts; at most 0 allowed" in output
    assert "event 134: packet 4 (application_data) was declared lost, and arrived" in output
    assert "this log is of the end that receives; the log of the end that sends is needed" in output
    assert "KeyError" not in output


def test_a_capture_without_packets_fails_a_test(tmp_path: Path) -> None:
    header = bytes.fromhex("d4c3b2a1 02000400 00000000 00000000 ffff0000 01000000")
    (tmp_path / "empty.pcap").write_bytes(header)
    code, output = ran(tmp_path, EMPTY)
    assert code == 1
    assert "empty.pcap: found no packets of TCP or QUIC, so nothing is tested" in output


@pytest.mark.parametrize("of_client", [True, False])
def test_a_capture_of_one_direction_fails_a_test(of_client: bool, tmp_path: Path) -> None:
    capture = one_way(gzip.decompress(UNNEEDED.read_bytes()), of_client=of_client)
    (tmp_path / "one-way.pcap").write_bytes(capture)
    code, output = ran(tmp_path, EMPTY.replace("empty", "one-way"))
    assert code == 1
    expected = "one-way.pcap: found packets of one direction only; expected those of both"
    assert expected in output


def test_a_capture_without_data_fails_a_test(tmp_path: Path) -> None:
    head, packets = parts(gzip.decompress(UNNEEDED.read_bytes()))
    (tmp_path / "no-data.pcap").write_bytes(written(head, packets[:3]))  # The handshake.
    code, output = ran(tmp_path, EMPTY.replace("empty", "no-data"))
    assert code == 1
    assert "no-data.pcap: found no data, so nothing is tested" in output


def test_a_missing_baseline_names_the_option_that_stores_it(tmp_path: Path) -> None:
    code, output = ran(tmp_path, NO_BASELINE)
    assert code == 1
    assert "none.json: there is no such baseline; store one with --rtolab-store" in output
    assert "Traceback" not in output
    assert "FileNotFoundError" not in output


def test_bad_arguments_are_refused_before_anything_runs(tmp_path: Path) -> None:
    tail = next(one for one in suite() if one.id == "tail-1")
    stored = report(scored(measured(), tail)).document()
    (tmp_path / "stored.json").write_text(json.dumps(stored))
    (tmp_path / "seed.json").write_text(json.dumps(stored | {"seed": 2}))
    code, output = ran(tmp_path, REFUSED)
    assert code == 1, output
    assert "17 failed, 1 passed in" in output
    for refusal in REFUSALS:
        assert f"\n{refusal}" in output.replace(str(tmp_path / "test_"), "test_"), refusal
    assert "Traceback" not in output
    assert "Error" not in output


def test_a_missing_capture_is_named_once(tmp_path: Path) -> None:
    code, output = ran(tmp_path, EMPTY)
    assert code == 1
    assert "empty.pcap: No such file" in output
    assert "During handling" not in output
    assert "Traceback" not in output


def test_messages_name_arguments_in_place_of_options() -> None:
    said = "; the last line of client and server: --only"
    text = f"--set kernel.frot: found; (--limit): select others with --only{said}"
    expected = f"set kernel.frot: found; (limit_s): select others with only{said}"
    assert _with_arguments(text) == expected


@pytest.mark.slow
@pytest.mark.root
def test_a_stack_is_compared_with_its_stored_scores(tmp_path: Path) -> None:
    code, output = ran(tmp_path, SCORES, "--rtolab-store")
    if no_hosts():
        assert "1 skipped" in output
    require_hosts()
    assert code == 0, output
    stored = tmp_path / "stored.json"
    document = json.loads(stored.read_text())
    assert [one["id"] for one in document["scenarios"]] == ["tail-2"]
    document["scenarios"][0]["score"] = 99.0
    stored.write_text(json.dumps(document))
    code, output = ran(tmp_path, SCORES)
    fell = "kernel:\ntail-2 fell from 99 to " in output
    # On a busy machine a score that is doubted is neither better nor worse.
    assert (code, fell) in {(1, True), (0, False)}, output
    document["scenarios"][0]["score"] = 1.0
    stored.write_text(json.dumps(document))
    assert ran(tmp_path, SCORES)[0] == 0
