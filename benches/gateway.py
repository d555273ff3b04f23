#!/usr/bin/env python3
"""Measures the throughput of a gateway and of this machine's kernel over one emulated link.

    benches/gateway.py [TIMES [BYTES]]

The link takes 1 ms each way, loses nothing and has no rate limit. Either the server's kernel
terminates the client's connections, or the gateway does, on a device in the server's namespace.
They take turns: routing rules towards the gateway come and go between transfers. Needs Linux and
root.
"""

import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from tempfile import NamedTemporaryFile

PORT = 7000
BLOCK = bytes(1 << 20)
SCENARIO = """
title = "A link that takes 1 ms each way"
duration = "600 s"
link = [{ name = "wire", between = ["client", "server"], delay = "1 ms" }]
flow = [{ name = "transfer", from = "client", to = "server", bytes = "1 MB" }]
"""
TABLE, DOWN, UP = "77", b"d", b"u"


def serve() -> None:
    """Serve until killed: send bytes, or receive bytes and answer one byte at their end."""
    with socket.create_server(("", PORT), backlog=8) as server:
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        while True:
            connection, _ = server.accept()
            threading.Thread(target=_serve_one, args=(connection,), daemon=True).start()


def _serve_one(connection: socket.socket) -> None:
    with connection:
        what = _exactly(connection, 9)
        if what[:1] == DOWN:
            _send(connection, int.from_bytes(what[1:]))
        else:
            _until_end(connection)
            connection.sendall(b".")


def _exactly(connection: socket.socket, count: int) -> bytes:
    return connection.recv(count, socket.MSG_WAITALL)


def _send(connection: socket.socket, count: int) -> None:
    whole, rest = divmod(count, len(BLOCK))
    for _ in range(whole):
        connection.sendall(BLOCK)
    connection.sendall(BLOCK[:rest])


def _until_end(connection: socket.socket) -> int:
    room, count = bytearray(1 << 20), 0
    while got := connection.recv_into(room):
        count += got
    return count


def mbit_s(host: str, way: bytes, count: int) -> float:
    """The throughput of one transfer, from its first segment to the last byte at its receiver."""
    began = time.monotonic()
    with socket.create_connection((host, PORT)) as client:
        client.sendall(way + count.to_bytes(8))
        if way == UP:
            _send(client, count)
            client.shutdown(socket.SHUT_WR)
        assert _until_end(client) == (count if way == DOWN else 1)
    return 8e-6 * count / (time.monotonic() - began)


def inside(host: str, times: int, count: int) -> None:
    """Transfers through the gateway and through the kernel, in turn, inside the emulation."""
    there = ["ip", "netns", "exec", os.environ["RTOLAB_PEER_NETNS"]]
    rule = ["ip", "rule", "{}", "pref", "10", "iif", "link0", "lookup", TABLE]

    def far(*command: str) -> None:
        subprocess.run([*there, *command], check=True)

    serving = subprocess.Popen([*there, sys.executable, __file__, "serve"], stdout=subprocess.PIPE)
    command = [*there, sys.executable, "-m", "rtolab.cli", "gateway", "--device", "rto0"]
    gateway = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout
        serving.stdout.readline()
        assert gateway.stderr
        assert "gateway on rto0" in (line := gateway.stderr.readline()), line
        for key in ("ip_forward=1", "conf.rto0.accept_local=1", "conf.rto0.rp_filter=0"):
            far("sysctl", "-qw", f"net.ipv4.{key}")
        far("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0")
        far("ip", "route", "add", "default", "dev", "rto0", "table", TABLE)
        far("ip", "rule", "add", "pref", "20", "lookup", "local")
        far("ip", "rule", "del", "pref", "0")
        reached: dict[tuple[str, bytes], list[float]] = {}
        for _ in range(times):
            for who, verb in (("kernel", ""), ("gateway", "add")):
                if verb:
                    far(*(word.format(verb) for word in rule))
                for way in (DOWN, UP):
                    reached.setdefault((who, way), []).append(mbit_s(host, way, count))
                if verb:
                    far(*(word.format("del") for word in rule))
        for (who, way), rates in sorted(reached.items()):
            to = "to the client" if way == DOWN else "from it"
            sys.stderr.write(
                f"{who:8} {to:14} median {statistics.median(rates):6.0f} Mbit/s, "
                f"{min(rates):.0f} to {max(rates):.0f}\n"
            )
    finally:
        gateway.send_signal(signal.SIGINT)
        sys.stderr.write(gateway.communicate(timeout=30)[0])
        serving.kill()


def main() -> None:
    """Run this script again inside an emulated link, with both."""
    match sys.argv[1:]:
        case ["serve"]:
            serve()
        case ["inside", host, times, count]:
            inside(host, int(times), int(count))
        case given:
            times, count = [*given, *("7", "100000000")[len(given) :]]
            with NamedTemporaryFile("w", suffix=".toml") as scenario:
                scenario.write(SCENARIO)
                scenario.flush()
                command = [sys.executable, "-m", "rtolab.cli", "emulate", scenario.name, "--"]
                command += [sys.executable, __file__, "inside", "{peer}", times, count]
                sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()
