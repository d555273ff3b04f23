"""The tool `diagnose` of `rtolab mcp`, on captures of every kind."""

import gzip
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from capture_changes import as_udp, changed, parts, written
from prerequisites import require_mcp
from rtolab import Error
from rtolab.diagnosis import diagnose as diagnosed
from rtolab.diagnosis import tables

if TYPE_CHECKING:
    from rtolab.mcp.answers import Diagnosis

TESTS = Path(__file__).parents[1]
LOG = TESTS / "qlogs" / "quic-go-reordering.server.sqlog.gz"
STALL = TESTS / "captures" / "stall-3s-sack-frto-off.sender.pcapng.gz"
STORED = sorted([*TESTS.glob("captures/**/*.pcap*"), *TESTS.glob("qlogs/*")])
SYN, RESET = 0x02, 0x14


def asked(file: Path) -> "Diagnosis":
    """The result of the tool, whose form its schema has checked."""
    require_mcp()
    from rtolab.mcp import diagnose  # noqa: PLC0415

    return diagnose(str(file), connections=5, rows=3)


def answer(file: Path) -> str:
    """The paragraph that the command prints."""
    return tables.paragraph(diagnosed(file).document["answer"]).plain


@pytest.mark.parametrize("file", STORED, ids=lambda file: file.name)
def test_every_stored_capture_has_the_answer_of_the_command(file: Path) -> None:
    found, document = asked(file), diagnosed(file).document
    assert found.answer == answer(file) != ""
    assert found.network == document["answer"]["network"]
    assert found.connections_in_all == document["summary"]["connections"]
    assert len(found.connections) + len(found.log_connections) == min(5, found.connections_in_all)


def test_a_capture_that_ends_during_an_episode_has_no_end_of_it(tmp_path: Path) -> None:
    head, packets = parts(gzip.decompress(STALL.read_bytes()))
    timeout = diagnosed(STALL).document["connections"][0]["timeouts"][0]
    file = tmp_path / "cut.pcapng"
    file.write_bytes(written(head, packets[: timeout["frame"]]))
    found = asked(file)
    assert [one.end for one in found.connections[0].episodes] == [None]
    assert found.answer == answer(file)


def segment(flags: int, ports: tuple[int, int], hosts: tuple[int, int]) -> bytes:
    tcp = struct.pack(">HHIIBBHHH", *ports, 1, 2, 0x50, flags, 1000, 0, 0)
    addresses = [bytes([10, 0, 0, host]) for host in hosts]
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, *addresses) + tcp


def test_refused_connections_are_named(tmp_path: Path) -> None:
    capture = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
    for number in range(7):
        for after, packet in (
            (0, segment(SYN, (5000 + number, 80), (1, 2))),
            (20, segment(RESET, (80, 5000 + number), (2, 1))),
        ):
            capture.append(struct.pack("<IIII", 1000 + number, after * 1000, 40, 40) + packet)
    file = tmp_path / "refused.pcap"
    file.write_bytes(b"".join(capture))
    found = asked(file)
    assert "refused 7 connections" in found.answer
    assert found.failures == {"refused": 7}
    for one in found.connections:
        assert one.failure is not None
        assert one.failure.kind == "refused"
        assert one.answer is not None
        assert "refused the connection" in one.answer


def test_a_capture_without_tcp_says_what_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "udp.pcapng"
    file.write_bytes(changed(gzip.decompress(STALL.read_bytes()), as_udp))
    found = asked(file)
    assert "holds no TCP" in found.answer
    assert "tunnels" in found.answer
    assert (found.network, found.connections) == ("no-tcp", [])


def test_a_log_has_its_losses_and_timeouts() -> None:
    found, document = asked(LOG), diagnosed(LOG).document
    [one], [full] = found.log_connections, document["connections"]
    assert found.verdicts is None
    assert found.connections == []
    assert found.losses is not None
    assert found.losses.spurious == document["summary"]["totals"]["spurious_losses"] > 0
    rows: list[dict[str, Any]] = full["losses"][:3]
    assert [loss.event for loss in one.losses] == [row["event"] for row in rows]


def test_what_if_of_a_log_says_that_it_is_one() -> None:
    require_mcp()
    from rtolab.mcp import what_if  # noqa: PLC0415

    with pytest.raises(Error, match="is a QUIC log; expected a capture"):
        what_if(str(LOG))
