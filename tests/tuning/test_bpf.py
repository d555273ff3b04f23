"""The BPF program of `rtolab tune --apply`, on a cgroup of the test's own."""

import ipaddress
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from prerequisites import lack, require_root
from rtolab._rtolab import Error
from rtolab.tuning import bpf

EXCHANGES = """
import socket, struct, sys
found = []
for address in sys.argv[1:]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = socket.socket(family)
    server.bind((address, 0))
    server.listen()
    client = socket.create_connection(server.getsockname()[:2])
    peer = server.accept()[0]
    for _ in range(40):
        client.send(b"x"), peer.recv(1), peer.send(b"y"), client.recv(1)
    found.append(struct.unpack_from("=I", client.getsockopt(6, 11, 104), 8)[0])
print(*found)
"""
"""Prints the RTO of a connection to each address in microseconds (`tcp_info.tcpi_rto`)."""


@pytest.fixture
def cgroup() -> Iterator[Path]:
    """A cgroup of version 2 without processes."""
    root = next((one for one in bpf.CGROUPS if (one / "cgroup.procs").exists()), None)
    require_root()
    if root is None:
        lack("needs a cgroup of version 2", ci_has_it=False)
    folder = root / f"rtolab-test-{os.getpid()}"
    folder.mkdir()
    try:
        bpf.attach(folder, [bpf.Rule(None, 200_000)])
        bpf.detach(folder)
    except Error as error:
        folder.rmdir()
        lack(f"needs BPF: {error}", ci_has_it=False)
    yield folder
    folder.rmdir()


def timeouts(cgroup: Path, *addresses: str) -> list[int]:
    """The RTOs of a process in the cgroup."""

    def enter() -> None:
        (cgroup / "cgroup.procs").write_text(str(os.getpid()))

    command = [sys.executable, "-c", EXCHANGES, *addresses]
    done = subprocess.run(command, preexec_fn=enter, check=True, stdout=subprocess.PIPE)
    return [int(word) for word in done.stdout.split()]


def test_the_first_rule_of_a_peer_applies_until_it_is_removed(cgroup: Path) -> None:
    before = timeouts(cgroup, "127.0.0.1", "::1")
    rules = [
        bpf.Rule(ipaddress.ip_network("127.0.0.0/8"), 48_000),
        bpf.Rule(ipaddress.ip_network("10.0.0.0/8"), 8_000),
        bpf.Rule(ipaddress.ip_network("::1/128"), 100_000, 40_000),
        bpf.Rule(ipaddress.ip_network("fe80::/10"), 8_000),
    ]
    bpf.attach(cgroup, rules)
    # A loaded program takes the place of an earlier one.
    bpf.attach(cgroup, rules)
    first, second = timeouts(cgroup, "127.0.0.1", "::1")
    assert (first < 60_000, 100_000 <= second < 120_000) == (True, True), (first, second)
    assert bpf.detach(cgroup) == 1
    assert bpf.detach(cgroup) == 0
    assert timeouts(cgroup, "127.0.0.1", "::1") == before


def test_a_rule_for_all_peers_ends_the_program(cgroup: Path) -> None:
    bpf.attach(cgroup, [bpf.Rule(None, 60_000), bpf.Rule(None, 8_000)])
    [found] = timeouts(cgroup, "127.0.0.1")
    bpf.detach(cgroup)
    assert 60_000 <= found < 80_000


def test_a_folder_that_is_no_cgroup_is_named(tmp_path: Path) -> None:
    for act in (bpf.detach, lambda folder: bpf.attach(folder, [bpf.Rule(None, 60_000)])):
        with pytest.raises(Error, match=r"no cgroup of version 2|not permitted"):
            act(tmp_path)


def test_instructions_are_those_of_the_format() -> None:
    """`r0 = 1; exit`, as clang writes it on a little-endian machine."""
    if sys.byteorder == "little":
        assert bpf.program([])[-16:].hex() == "b7000000010000009500000000000000"
    # Four instructions begin, two end; each rule compares one word and sets one option.
    one = bpf.Rule(ipaddress.ip_network("127.0.0.0/8"), 48_000)
    assert len(bpf.program([one])) // 8 == 4 + 2 + 3 + 8 + 2 + 2
    code = bpf.program([bpf.Rule(ipaddress.ip_network("::/0"), 48_000)])
    assert struct.unpack_from("=B", code)[0] == bpf.MOVE_REGISTER


def test_without_cgroups_the_command_that_mounts_them_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bpf, "CGROUPS", (tmp_path / "none",))
    with pytest.raises(Error) as raised:
        bpf.detach(tmp_path)
    assert str(raised.value) == (
        f"{tmp_path}: no cgroup of version 2; the root of all: none is mounted; "
        "`mount -t cgroup2 none /sys/fs/cgroup` does"
    )
