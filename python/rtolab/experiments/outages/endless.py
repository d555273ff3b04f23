"""An endless TCP transfer between guests: `serve OPTION...` and `read ADDRESS WINDOW`.

It imports nothing of rtolab, so that it starts fast. Options of the server:

- `user_timeout=MS` sets TCP_USER_TIMEOUT, and `thin=1` sets TCP_THIN_LINEAR_TIMEOUTS;
- `unreachable=AT+LENGTH,...` also sends what a router before a dead link would: ICMP host
  unreachable for a packet of these spans, which count in seconds from the client's SYN, at most
  once a second (RFC 792; the limit is that of Linux's icmp_ratelimit).
"""

import socket
import struct
import sys
import threading
import time

PORT = 4433
BLOCK = bytes(1 << 16)
THIN_LINEAR_TIMEOUTS = 16
"""TCP_THIN_LINEAR_TIMEOUTS, which Python does not name."""
ALL_PROTOCOLS, OUTGOING = 0x0003, 4
"""ETH_P_ALL and PACKET_OUTGOING."""
ETHERNET, IPV4, TCP = 14, 20, 6
"""Lengths of headers without options, in bytes; the number of TCP."""
HOST_UNREACHABLE = 3, 1
"""The type and the code of the message."""
LEAST_INTERVAL_S = 1.0


def checksum(data: bytes) -> int:
    """The checksum of RFC 1071, of an even number of bytes."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def unreachable(packet: bytes) -> bytes:
    """The message about an IPv4 packet: it has its header and the first eight bytes after it."""
    quoted = packet[: IPV4 + 8]
    head = struct.pack("!BBHI", *HOST_UNREACHABLE, 0, 0)
    return struct.pack("!BBHI", *HOST_UNREACHABLE, checksum(head + quoted), 0) + quoted


def report(spans: list[tuple[float, float]]) -> None:
    """Answer packets of these spans as a router would: begin and length in seconds."""
    seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    answers = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    begin = last = None
    while True:
        frame, (device, _, kind, *_) = seen.recvfrom(1 << 16)
        packet, now = frame[ETHERNET:], time.monotonic()
        if device == "lo" or len(packet) < IPV4 + 8 or packet[9] != TCP:
            continue
        begin = now if begin is None else begin
        is_dead = any(at <= now - begin < at + length for at, length in spans)
        may_send = last is None or now - last >= LEAST_INTERVAL_S
        if kind == OUTGOING and is_dead and may_send:
            answers.sendto(unreachable(packet), (socket.inet_ntoa(packet[12:16]), 0))
            last = now


def serve(options: dict[str, str]) -> None:
    """Send zeros to each client, until its connection breaks."""
    if spans := options.get("unreachable"):
        pairs = (span.split("+") for span in spans.split(","))
        parsed = [(float(at), float(length)) for at, length in pairs]
        threading.Thread(target=report, args=(parsed,), daemon=True).start()
    listener = socket.create_server(("0.0.0.0", PORT))  # noqa: S104  (the guest's own network)
    while True:
        connection, _ = listener.accept()
        if user_timeout := options.get("user_timeout"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(user_timeout))
        if options.get("thin"):
            connection.setsockopt(socket.IPPROTO_TCP, THIN_LINEAR_TIMEOUTS, 1)
        try:
            while True:
                connection.sendall(BLOCK)
        except OSError:
            connection.close()


def read(address: str, window: int) -> None:
    """Read from the server for ever, and advertise at most this window in bytes.

    The first segments may set the window clamp anew (`tcp_measure_rcv_mss`), so it comes later.
    """
    connection = socket.create_connection((address, PORT))
    left = len(BLOCK)
    while received := connection.recv(len(BLOCK)):
        left -= len(received)
        if left <= 0:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)
            left = sys.maxsize


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(dict(option.split("=") for option in sys.argv[2:]))
    read(sys.argv[2], int(sys.argv[3]))
