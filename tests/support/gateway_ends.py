"""Servers and clients on the two sides of a gateway.

Run inside network namespaces as `python gateway_ends.py WHAT ARGUMENT...`. Clients print what they
saw. The first byte of a connection selects what the server does.
"""

import hashlib
import os
import random
import socket
import struct
import sys
import threading
import time
from multiprocessing.pool import ThreadPool

PORT, REFUSING = 7000, 7001
"""The ports on which the server listens and does not listen."""
BLOCK = random.Random(1).randbytes(1 << 20)
"""The same bytes in every process."""
RESET = struct.pack("ii", 1, 0)
CHUNK = 1 << 16


def stream(length: int) -> bytes:
    """The bytes that a server sends and a client expects."""
    return (BLOCK * (length // len(BLOCK) + 1))[:length]


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# Servers.


def serve() -> None:
    """Serve connections until killed; says when it listens."""
    with socket.create_server(
        ("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1000
    ) as server:
        say("listening")
        while True:
            connection, _ = server.accept()
            threading.Thread(target=_serve_one, args=(connection,), daemon=True).start()


def _serve_one(connection: socket.socket) -> None:
    with connection:
        try:
            _obey(connection)
        except OSError as error:
            say(f"broken: {error.strerror}")


def _obey(connection: socket.socket) -> None:
    what = connection.recv(1)
    if what == b"d":  # download: the number of bytes
        connection.sendall(stream(int.from_bytes(_exactly(connection, 8))))
    elif what == b"u":  # upload: answers with the digest
        connection.sendall(digest(read_to_end(connection)).encode())
    elif what == b"e":  # echo
        while part := connection.recv(CHUNK):
            connection.sendall(part)
    elif what == b"h":  # half-close: ends at once, and prints the digest of what follows
        connection.shutdown(socket.SHUT_WR)
        say(f"got {digest(read_to_end(connection))}")
    elif what == b"r":  # reset
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    elif what == b"s":  # sleep: reads nothing for a while
        time.sleep(6)


def _exactly(connection: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        got += connection.recv(count - len(got)) or b"\0" * count
    return got


def read_to_end(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(CHUNK):
        parts.append(part)
    return b"".join(parts)


# Clients.


def connect(host: str, what: bytes) -> socket.socket:
    connection = socket.create_connection((host, PORT), timeout=30)
    connection.sendall(what)
    return connection


def wanted(length: int) -> bytes:
    return b"d" + length.to_bytes(8)


def download(host: str, length: str) -> None:
    with connect(host, wanted(int(length))) as connection:
        got = read_to_end(connection)
    say("equal" if got == stream(int(length)) else f"different: {len(got)} bytes")


def upload(host: str, length: str) -> None:
    with connect(host, b"u") as connection:
        connection.sendall(stream(int(length)))
        connection.shutdown(socket.SHUT_WR)
        say("equal" if read_to_end(connection) == digest(stream(int(length))).encode() else "no")


def late_upload(host: str, length: str) -> None:
    """The server closes first; what is sent then still arrives."""
    with connect(host, b"h") as connection:
        assert connection.recv(1) == b""
        connection.sendall(stream(int(length)))
    say(digest(stream(int(length))))


def refused(host: str) -> None:
    try:
        with socket.create_connection((host, REFUSING), timeout=10) as connection:
            connection.recv(1)
    except OSError as error:
        say(type(error).__name__)


def is_reset(host: str) -> None:
    with connect(host, b"r") as connection:
        try:
            say(f"read {connection.recv(1)!r}")
        except OSError as error:
            say(type(error).__name__)


def resets(host: str) -> None:
    connection = connect(host, b"e")
    time.sleep(0.3)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    connection.close()


def waits(host: str) -> None:
    connection = _echo(host)
    try:
        say(f"read {connection.recv(1)!r}")
    except OSError as error:
        say(type(error).__name__)


def slow_reader(host: str, length: str) -> None:
    """Reads nothing for a while, then everything."""
    with _small(host, wanted(int(length))) as connection:
        time.sleep(2)
        got = read_to_end(connection)
    say("equal" if got == stream(int(length)) else f"different: {len(got)} bytes")


def crowd(host: str, count: str) -> None:
    """Clients that read a byte now and then, and a download among them."""
    slow = [_small(host, wanted(5_000_000)) for _ in range(int(count))]
    for _ in range(3):
        time.sleep(0.5)
        got = sum(len(connection.recv(1)) for connection in slow)
    download(host, "2000000")
    say(got)


def _small(host: str, what: bytes) -> socket.socket:
    """A connection of a client with a small receive buffer."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(30)
    connection.connect((host, PORT))
    connection.sendall(what)
    return connection


def vanishing_reader(host: str) -> None:
    """Reads nothing, then vanishes: its host no longer answers."""
    with connect(host, wanted(1 << 22)) as connection:
        connection.settimeout(60)
        time.sleep(1)
        os.system("ip link set rto0 down")
        time.sleep(1)


def pushes(host: str) -> None:
    """Sends more than the server reads, and prints how much was sent."""
    with connect(host, b"s") as connection:
        connection.settimeout(2)
        sent, block = 0, stream(1 << 16)
        try:
            while sent < 1 << 27:
                sent += connection.send(block)
        except TimeoutError:
            pass
        say(sent)


def reuse_ports(host: str, clients: str, count: str) -> None:
    """Clients whose connections have the same port each. Prints the number of retransmitted SYNs.

    With several clients the gateway finds the last ACK and the next SYN in its queue together.
    """
    ports = range(20000, 20000 + int(clients))
    with ThreadPool(len(ports)) as pool:
        say(sum(pool.map(lambda port: _reuse(host, port, int(count)), ports)))


def _reuse(host: str, port: int, count: int) -> int:
    slow = 0
    for _ in range(count):
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            connection.settimeout(30)
            connection.bind(("", port))
            began = time.monotonic()
            connection.connect((host, PORT))
            # The kernel retransmits a SYN after a second.
            slow += time.monotonic() - began > 0.9
            connection.sendall(b"e.")
            connection.shutdown(socket.SHUT_WR)
            assert read_to_end(connection) == b"."
    return slow


def many(host: str, count: str, length: str) -> None:
    """Connections that are all open before the first one is served."""
    open_ones = [connect(host, b"") for _ in range(int(count))]
    for connection in open_ones:
        connection.sendall(wanted(int(length)))
    good = sum(read_to_end(connection) == stream(int(length)) for connection in open_ones)
    for connection in open_ones:
        connection.close()
    say(good)


def limited(host: str, count: str) -> None:
    """Prints how many connections are accepted, and whether closing one makes room."""
    held: list[socket.socket] = []
    try:
        while len(held) < int(count):
            held.append(_echo(host))
    except OSError as error:
        say(len(held), type(error).__name__)
    held.pop().close()
    time.sleep(0.5)
    _echo(host).close()
    say("again")


def patient(host: str, count: str) -> None:
    """One connection too many, which is not answered until another one closes."""
    held = [_echo(host) for _ in range(int(count))]
    threading.Timer(0.3, held.pop().close).start()
    began = time.monotonic()
    _echo(host).close()
    say("in" if time.monotonic() - began > 0.3 else "too soon")


def _echo(host: str) -> socket.socket:
    connection = connect(host, b"e.")
    assert connection.recv(1) == b"."
    return connection


def flooded(host: str, count: str) -> None:
    """An echo that continues while forged SYNs arrive, and a download that begins among them."""
    connection = _echo(host)
    flood = threading.Thread(target=_flood, args=(host, int(count)))
    flood.start()
    good = 0
    while flood.is_alive():
        connection.sendall(b"ping")
        good += _exactly(connection, 4) == b"ping"
    download(host, "100000")
    connection.close()
    say("echoed", "always" if good > 0 else "never")


def _flood(host: str, count: int) -> None:
    packets = [_syn(number, host) for number in range(count)]
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    with raw:
        for number, packet in enumerate(packets):
            raw.sendto(packet, (host, 0))
            if number % 50 == 0:
                time.sleep(0.01)


def _syn(number: int, host: str) -> bytes:
    """A SYN from an unused address."""
    source = bytes((10, 77, number >> 8 & 255, number & 255))
    addresses = source + socket.inet_aton(host)
    tcp = struct.pack("!HHIIHHHH", 1024 + number % 60000, PORT, number, 0, 0x5002, 65535, 0, 0)
    checksum = _checksum(addresses + struct.pack("!HH", 6, len(tcp)) + tcp)
    tcp = tcp[:16] + struct.pack("!H", checksum) + tcp[18:]
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + addresses
    return header + tcp


def _checksum(content: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(content) // 2}H", content))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
