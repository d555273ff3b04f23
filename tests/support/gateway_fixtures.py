"""Fixtures for tests of the gateway: a client and a server, each in a namespace."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prerequisites import require_hosts
from program import PROGRAM, execute

ENDS = [sys.executable, str(Path(__file__).with_name("gateway_ends.py"))]
V4, V6 = "10.20.0.1", "fd00:20::1"
"""The server's addresses."""


@dataclass
class Lab:
    """A client's namespace with the device in it, a server's with the gateway and its sockets."""

    client: str
    server: str
    gateway: subprocess.Popen[str]
    serving: subprocess.Popen[str]
    counts: dict[str, Any] = field(default_factory=dict)
    reported: str = ""

    def run(self, *arguments: str, timeout: float = 60) -> str:
        """What a client prints."""
        client = ("ip", "netns", "exec", self.client, *ENDS, *arguments)
        return str(execute(*client, check=True, timeout=timeout).stdout.strip())

    def end(self, number: int = signal.SIGINT) -> None:
        """Ends the gateway, and reads its counts and what the server printed."""
        self.gateway.send_signal(number)
        out, err = self.gateway.communicate(timeout=600)
        assert "Traceback" not in err, err
        self.counts = json.loads(out) if out else {}
        self.serving.kill()
        self.reported = self.serving.communicate(timeout=600)[0]


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@contextmanager
def lab(*options: str) -> Iterator[Lab]:
    """A gateway with these options, on a machine that can emulate hosts."""
    require_hosts()
    client, server = (f"rtogate-{os.getpid()}-{end}" for end in ("client", "server"))
    ip("netns", "add", client)
    ip("netns", "add", server)
    started: list[subprocess.Popen[str]] = []

    def start(*command: str) -> subprocess.Popen[str]:
        one = subprocess.Popen(
            ["ip", "netns", "exec", server, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(one)
        return one

    try:
        for address in (f"{V4}/32", f"{V6}/128"):
            ip("-n", server, "address", "add", address, "dev", "lo")
        ip("-n", server, "link", "set", "lo", "up")
        serving = start(*ENDS, "serve")
        assert serving.stdout
        assert serving.stdout.readline() == "listening\n"
        routes = ("--route", "10.20.0.0/16", "--route", "fd00:20::/64")
        gateway = start(*PROGRAM, "gateway", "--json", "--netns", client, *routes, *options)
        assert gateway.stderr
        line = gateway.stderr.readline()
        assert "gateway on rto0" in line, line + gateway.stderr.read()
        yield Lab(client, server, gateway, serving)
    finally:
        for one in started:
            one.kill()
            one.communicate()
        ip("netns", "delete", client)
        ip("netns", "delete", server)


@contextmanager
def far_client(one: Lab, mtu: int) -> Iterator[str]:
    """The namespace of another client. The first one is its router, whose link to it has this MTU.

    The client does not know the MTU.
    """
    far = f"{one.client}-far"
    ip("netns", "add", far)
    try:
        ip("-n", one.client, "link", "add", "down0", "type", "veth", "peer", "up0", "netns", far)
        for netns, device, end in ((one.client, "down0", 1), (far, "up0", 2)):
            ip("-n", netns, "address", "add", f"10.21.0.{end}/24", "dev", device)
            ip("-n", netns, "address", "add", f"fd00:21::{end}/64", "dev", device, "nodad")
            ip("-n", netns, "link", "set", device, "up")
        ip("-n", one.client, "link", "set", "down0", "mtu", str(mtu))
        ip("-n", far, "route", "add", "default", "via", "10.21.0.1")
        ip("-n", far, "route", "add", "default", "via", "fd00:21::1")
        forward = ("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        ip("netns", "exec", one.client, "sysctl", "-qw", *forward)
        yield far
    finally:
        ip("netns", "delete", far)
