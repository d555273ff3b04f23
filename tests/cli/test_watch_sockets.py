"""`rtolab watch --without-packets`: what it reads; `tests/emulation` runs it."""

import struct
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

import program
from rtolab._rtolab import WatchError
from rtolab.watching import sockets
from rtolab.watching.sockets import Flow, SocketWatcher, TcpInfo, parse_event, parse_reply

LINE = (
    b"  python-12 [000] ..s1. 12.3: tcp_retransmit_skb: skbaddr=0000 skaddr=0000 family=AF_INET "
    b"sport=40000 dport=443 saddr=10.0.0.1 daddr=10.0.0.2 saddrv6=::ffff:10.0.0.1 "
    b"daddrv6=::ffff:10.0.0.2 state=TCP_ESTABLISHED err=0"
)


def test_an_event_names_the_connection() -> None:
    flow = Flow(ip_address("10.0.0.1"), 40000, ip_address("10.0.0.2"), 443)
    assert parse_event(LINE) == flow
    older = LINE.replace(b" family=AF_INET", b"").replace(b" err=0", b"")
    assert parse_event(older) == flow
    v6 = LINE.replace(b"::ffff:10.0.0.1", b"fd00::1").replace(b"::ffff:10.0.0.2", b"fd00::2")
    assert parse_event(v6) == Flow(ip_address("fd00::1"), 40000, ip_address("fd00::2"), 443)
    assert parse_event(b"CPU:0 [LOST 17 EVENTS]") is None


def answer(info: bytes) -> bytes:
    message = bytes([2, 1, 0, 0]) + bytes(68)
    other = struct.pack("=HH", 5, 8) + b"\x01\0\0\0"  # Its length is padded.
    body = message + other + struct.pack("=HH", 4 + len(info), 2) + info
    return struct.pack("=IHHII", 16 + len(body), 20, 0, 0, 0) + body


def test_the_state_of_a_socket_is_read_from_any_kernel() -> None:
    info = bytearray(248)
    info[0], info[1], info[2] = 1, 4, 2
    struct.pack_into("=I", info, 76, 10)
    struct.pack_into("=I", info, 216, 3)
    assert parse_reply(answer(bytes(info))) == TcpInfo(1, 4, 2, 10, 3)
    # Older kernels have a shorter `tcp_info`.
    assert parse_reply(answer(bytes(info[:192]))) == TcpInfo(1, 4, 2, 10, 0)
    error = struct.pack("=IHHIIi", 20, 2, 0, 0, 0, -2)
    assert parse_reply(error) is None


def test_without_tracefs_the_message_says_how_to_mount_it(tmp_path: Path) -> None:
    with pytest.raises(WatchError, match="mount -t tracefs nodev /sys/kernel/tracing"):
        SocketWatcher(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("eth0",), "interface: found eth0; with --without-packets expected any"),
        (("any", "--port", "80"), "--host and --port: not with --without-packets"),
    ],
)
def test_a_watch_of_sockets_covers_all_interfaces(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(sockets, "SocketWatcher", None)
    assert program.call(monkeypatch, "watch", "--without-packets", *arguments) == 2
    assert said in " ".join(capsys.readouterr().err.split())
