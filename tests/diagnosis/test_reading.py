"""Captures as other programs write them, through the command."""

import gzip
import json
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import long_captures
import program
from peak_memory import peak
from prerequisites import require_tool
from program import execute

STALL = long_captures.capture("kernel-stall", ("kernel.frto", "0"), ("kernel.timestamps", "false"))


@pytest.fixture
def stall(tmp_path: Path) -> Path:
    """A transfer over a link that stalls; the sender performs go-back-N."""
    file = tmp_path / "stall.pcapng"
    file.write_bytes(STALL)
    return file


def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return program.run_here("diagnose", *arguments, given=given, text=False)


def found(*arguments: str, given: bytes = b"") -> dict[str, Any]:
    done = run(*arguments, "--json", given=given)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def verdicts(document: dict[str, Any]) -> list[tuple[int, str]]:
    rows = [one for c in document["connections"] for one in c["retransmissions"]]
    return [(one["seq"], one["verdict"]) for one in rows]


@pytest.mark.parametrize(
    "options",
    [
        ("-F", "pcap"),
        ("-F", "nsecpcap"),
        ("-F", "pcapng"),
        ("-F", "modpcap"),
        ("-F", "pcap", "-s", "80"),
        ("-F", "nsecpcap", "-s", "72"),
        ("-F", "pcap", "-t", "3600"),
    ],
)
def test_the_same_capture_in_every_format_says_the_same(
    stall: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    editcap = require_tool("editcap", "tshark")
    other = tmp_path / "other"
    execute(editcap, *options, stall, other, check=True)
    expected = verdicts(found(str(stall)))
    assert len(expected) > 20
    assert verdicts(found(str(other))) == expected


def test_packets_cut_to_40_bytes_miss_nothing_and_mislead_no_verdict(
    stall: Path, tmp_path: Path
) -> None:
    editcap, cut = require_tool("editcap", "tshark"), tmp_path / "cut.pcapng"
    execute(editcap, "-s", "40", stall, cut, check=True)
    reported, whole = verdicts(found(str(cut))), verdicts(found(str(stall)))
    assert [seq for seq, _ in reported] == [seq for seq, _ in whole]
    pairs = zip(reported, whole, strict=True)
    assert all(reported == known or reported[1] == "unknown" for reported, known in pairs)


def test_every_compression_gives_the_same_verdicts(stall: Path) -> None:
    expected = verdicts(found(str(stall)))
    zstd = require_tool("zstd", "zstd")
    packed = execute(zstd, "-c", stall, check=True, text=False).stdout
    for given in (STALL, gzip.compress(STALL), packed):
        assert verdicts(found("-", given=given)) == expected


def test_a_connection_captured_on_two_interfaces_is_one_connection(
    stall: Path, tmp_path: Path
) -> None:
    mergecap, both = require_tool("mergecap", "tshark"), tmp_path / "both.pcapng"
    merge = [mergecap, "-a", "-I", "none", "-w", str(both), str(stall), str(stall)]
    execute(*merge, check=True)
    few = tmp_path / "few.pcapng"
    editcap = require_tool("editcap", "tshark")
    count = found(str(stall))["summary"]["packets"]
    assert count < 4096
    execute(editcap, both, few, check=True)
    document = found(str(few))
    assert document["summary"]["connections"] == 1
    assert document["connections"][0]["captured_twice"] == count
    assert verdicts(document) == verdicts(found(str(stall)))


def test_a_capture_that_begins_in_the_middle_has_the_same_verdicts(
    stall: Path, tmp_path: Path
) -> None:
    editcap, late = require_tool("editcap", "tshark"), tmp_path / "late.pcapng"
    execute(editcap, stall, late, "1-100", check=True)
    document = found(str(late))
    assert document["connections"][0]["options"] is None
    assert verdicts(document) == verdicts(found(str(stall)))


@pytest.mark.parametrize("direction", ["ip.src == 10.0.0.1", "ip.dst == 10.0.0.1"])
def test_a_capture_of_one_direction_gives_no_wrong_verdict(
    stall: Path, tmp_path: Path, direction: str
) -> None:
    tshark, half = require_tool("tshark", "tshark"), tmp_path / "half.pcapng"
    command = [tshark, "-n", "-r", str(stall), "-Y", direction, "-w", str(half)]
    execute(*command, check=True)
    document = found(str(half))
    assert document["connections"][0]["options"] is None
    seqs = {seq for seq, _ in verdicts(found(str(stall)))}
    reported = verdicts(document)
    assert {seq for seq, _ in reported} == (seqs if "src" in direction else set())
    # Every retransmission is unneeded, which one direction alone cannot show.
    assert {verdict for _, verdict in reported} <= {"unknown"}


def test_a_file_that_is_no_capture_gives_an_error_and_no_output(tmp_path: Path) -> None:
    text, page = tmp_path / "notes.txt", tmp_path / "page.html"
    text.write_text("no capture")
    for options in ((), ("--json",), ("--html", str(page))):
        done = run(str(text), *options)
        assert done.returncode == 2
        assert done.stdout == b""
        assert b"neither pcap, pcapng nor qlog" in done.stderr
    assert not page.exists()


def test_other_captures_are_diagnosed_beside_a_file_that_is_none(
    stall: Path, tmp_path: Path
) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no capture")
    done = run(str(text), str(stall))
    assert done.returncode == 2
    assert b"stall.pcapng" in done.stdout
    assert b"notes.txt" in done.stderr


def short(packets: int) -> Iterator[bytes]:
    """A capture with this many packets, of short connections."""
    one = long_captures.capture("kernel-stall", *long_captures.SHORT)
    return long_captures.repeated(one, packets)


@pytest.mark.slow
def test_memory_does_not_grow_with_closed_connections() -> None:
    few, many = peak(short(100_000)), peak(short(1_000_000))
    assert many - few < 100_000_000, (few, many)


@pytest.mark.slow
def test_a_highly_compressed_capture_takes_no_more_memory() -> None:
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    # Records of no length: 300 MB of them.
    empty = b"".join(gzip.compress(bytes(1 << 20)) for _ in range(300))
    plain, bomb = peak([header]), peak([gzip.compress(header), empty])
    assert len(empty) < 1_000_000
    assert bomb - plain < 20_000_000, (plain, bomb)
