"""`rtolab tune` on the command line."""

import json
from pathlib import Path

import pytest

import program
from rtolab.tuning import bpf

CAPTURES = Path(__file__).parents[1] / "captures"
STALL = str(CAPTURES / "stall-3s-sack-frto-off.sender.pcapng.gz")


def test_output_begins_with_the_advice(tmp_path: Path) -> None:
    done = program.run_here("tune", STALL, "--plot", str(tmp_path / "picture"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No advice: too little data.")
    assert "Not used: 1 direction: captured at the receiver." in done.stdout
    assert {one.suffix for one in tmp_path.iterdir()} == {".svg"}


def test_json_has_each_minimum_with_its_intervals() -> None:
    done = program.run_here("tune", STALL, STALL, "--prefix", "8", "--prefix6", "32", "--json")
    document = json.loads(done.stdout)
    [one] = document["classes"]
    assert one["network"] == "10.0.0.0/8"
    assert (len(document["sources"]), len(one["minimums"])) == (2, 18)
    assert one["minimums"][0]["spurious_a_day"]["low"] > 0.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "a CAPTURE or --interface is needed, and not both"),
        ([STALL, "--interface", "lo"], "a CAPTURE or --interface is needed, and not both"),
        ([STALL, "--apply"], "--apply: --cgroup FOLDER is needed"),
        (["--undo"], "--undo: --cgroup FOLDER is needed"),
        ([STALL, "--undo", "--cgroup", "/tmp"], "--undo: no capture"),
        (["--undo", "--cgroup", "/tmp"], "/tmp: no cgroup of version 2"),
        (["/nowhere.pcap"], "/nowhere.pcap: "),
        (["--interface", "nowhere0", "--duration", "1", "--port", "80"], "nowhere0"),
    ],
)
def test_errors_say_what_would_be_right(arguments: list[str], said: str) -> None:
    done = program.run_here("tune", *arguments)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_quic_log_is_an_error() -> None:
    log = next((CAPTURES.parent / "qlogs").rglob("*log*"))
    done = program.run_here("tune", str(log))
    assert (done.returncode, "a capture is needed" in done.stderr) == (2, True), done.stderr


def test_apply_without_advice_changes_nothing() -> None:
    root = next((one for one in bpf.CGROUPS if (one / "cgroup.procs").exists()), Path("/sys"))
    done = program.run_here("tune", STALL, "--apply", "--cgroup", str(root))
    assert (done.returncode, done.stderr) == (1, "rtolab: --apply: there is nothing to set\n")
