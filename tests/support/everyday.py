"""Captures of simulated transfers, and what the diagnosis says of them."""

import struct
from dataclasses import replace
from functools import cache
from pathlib import Path

from capture_changes import Packet, changed
from rtolab.diagnosis import Diagnosis, diagnose
from rtolab.result import Result
from rtolab.run import run as simulated


@cache
def stalled() -> Result:
    """Linux over a link that stalls for 3 s."""
    return simulated("kernel-stall", sender="linux", seed=1)


def numbered(packet: Packet) -> Packet:
    """The packet with an IP identification that counts from 1, because 0 carries no information."""
    number = int.from_bytes(packet.body[4:6], "big") + 1
    return replace(packet, body=packet.body[:4] + struct.pack(">H", number) + packet.body[6:])


def ends(result: Result) -> tuple[bytes, bytes]:
    """The captures at the sender and at the receiver of the first run."""
    at_sender, at_receiver = result.pcapng(0, "sender"), result.pcapng(0, "receiver")
    return changed(at_sender, numbered), changed(at_receiver, numbered)


def read(tmp_path: Path, capture: bytes) -> Diagnosis:
    """The diagnosis of a capture."""
    file = tmp_path / "capture.pcapng"
    file.write_bytes(capture)
    return diagnose(file)


def said(found: Diagnosis) -> str:
    """The sentences of the answer."""
    return " ".join(one["text"] for one in found.document["answer"]["sentences"])
