"""A BPF program that sets the minimum RTO and the delayed ACK of a cgroup's sockets.

The program is a few dozen instructions, which this module writes and loads by the system call
`bpf`: no compiler, no library, no file. It stays attached to the cgroup until it is removed. Its
name finds it again.
"""

from __future__ import annotations

import ctypes
import errno
import ipaddress
import os
import platform
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtolab._rtolab import Error

NAME = b"rtolab_tune"
CGROUPS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
"""Where cgroups of version 2 are mounted, of new and of older systems."""
SYSTEM_CALLS = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "s390x": 351, "ppc64le": 361}

LOAD, ATTACH, DETACH, FD_BY_ID, INFO, QUERY = 5, 8, 9, 13, 15, 16
"""Commands of `bpf` (include/uapi/linux/bpf.h)."""
SOCK_OPS, CGROUP_SOCK_OPS, ALLOW_MULTI = 13, 3, 2
MOST_PROGRAMS = 64
"""The kernel's limit for one cgroup (BPF_CGROUP_MAX_PROGS)."""

OP, REMOTE_IP4, REMOTE_IP6 = 0, 24, 32
"""Offsets of `struct bpf_sock_ops`."""
ACTIVE_ESTABLISHED, PASSIVE_ESTABLISHED = 4, 5
SOL_TCP, DELACK_MAX, RTO_MIN = 6, 1003, 1004
SETSOCKOPT = 49

R0, R1, R2, R3, R4, R5, R6, R10 = 0, 1, 2, 3, 4, 5, 6, 10
MOVE, MOVE_REGISTER, ADD = 0xB7, 0xBF, 0x07
LOAD_WORD, STORE_WORD, AND_WORD = 0x61, 0x62, 0x54
JUMP, JUMP_IF_NOT, JUMP_IF, CALL, EXIT = 0x05, 0x56, 0x16, 0x85, 0x95
WORD = 32

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Rule:
    """Settings for the sockets whose peer is in a network.

    Attributes:
        network: the peers; None for all.
        rto_min_us: the minimum RTO in microseconds; None leaves it.
        delack_max_us: the longest delay of an ACK in microseconds; None leaves it.
    """

    network: Network | None
    rto_min_us: int | None = None
    delack_max_us: int | None = None


def instruction(
    code: int, register: int = 0, source: int = 0, *, offset: int = 0, value: int = 0
) -> bytes:
    """An instruction of BPF in the byte order of this machine.

    Args:
        code: its operation code.
        register: the destination register.
        source: the source register.
        offset: the distance of a jump or of an access to memory.
        value: the constant, signed or unsigned 32 bits.
    """
    value = value - (1 << WORD) if value >= 1 << (WORD - 1) else value
    low, high = (register, source) if sys.byteorder == "little" else (source, register)
    return struct.pack("=BBhi", code, low | high << 4, offset, value)


def program(rules: Sequence[Rule]) -> bytes:
    """The instructions: at a new connection, the first rule whose network has the peer applies."""
    begin = [
        instruction(MOVE_REGISTER, R6, R1),
        instruction(LOAD_WORD, R1, R6, offset=OP),
        instruction(JUMP_IF, R1, offset=3, value=ACTIVE_ESTABLISHED),
        instruction(JUMP_IF, R1, offset=2, value=PASSIVE_ESTABLISHED),
        *_finish(),
    ]
    for rule in rules:
        begin += _of(rule)
        if rule.network is None:
            # The verifier refuses instructions that nothing reaches.
            return b"".join(begin)
    return b"".join([*begin, *_finish()])


def _finish() -> list[bytes]:
    return [instruction(MOVE, R0, value=1), instruction(EXIT)]


def _of(rule: Rule) -> list[bytes]:
    """The comparison, then the calls, which end the program."""
    calls = [
        *_set(RTO_MIN, rule.rto_min_us),
        *_set(DELACK_MAX, rule.delack_max_us),
        *_finish(),
    ]
    words = list(_words(rule.network))
    comparison: list[bytes] = []
    for number, (at, mask, word) in enumerate(words):
        skipped = 3 * (len(words) - number - 1) + len(calls)
        comparison += [
            instruction(LOAD_WORD, R1, R6, offset=at),
            instruction(AND_WORD, R1, value=mask),
            instruction(JUMP_IF_NOT, R1, offset=skipped, value=word),
        ]
    return comparison + calls


def _words(network: Network | None) -> Iterator[tuple[int, int, int]]:
    """For each word of the peer's address: its offset, its mask and its value in the network."""
    if network is None:
        return
    start = REMOTE_IP4 if network.version == 4 else REMOTE_IP6
    mask, address = network.netmask.packed, network.network_address.packed
    for at in range(0, len(mask), 4):
        # The program loads a word in network order as one of this machine.
        kept = int.from_bytes(mask[at : at + 4], sys.byteorder)
        if kept:
            yield start + at, kept, int.from_bytes(address[at : at + 4], sys.byteorder)


def _set(option: int, value: int | None) -> list[bytes]:
    if value is None:
        return []
    return [
        instruction(STORE_WORD, R10, offset=-4, value=value),
        instruction(MOVE_REGISTER, R1, R6),
        instruction(MOVE, R2, value=SOL_TCP),
        instruction(MOVE, R3, value=option),
        instruction(MOVE_REGISTER, R4, R10),
        instruction(ADD, R4, value=-4),
        instruction(MOVE, R5, value=4),
        instruction(CALL, value=SETSOCKOPT),
    ]


def attach(cgroup: Path, rules: Sequence[Rule]) -> None:
    """Attach the program to a cgroup, in the place of one that was attached before.

    Raises:
        Error: the folder is no cgroup of version 2, or this process may not load programs.
    """
    code = program(rules)
    instructions, licence = ctypes.create_string_buffer(code, len(code)), b"GPL\0"
    held = ctypes.create_string_buffer(licence)
    attributes = struct.pack(
        "=IIQQIIQII16s",
        SOCK_OPS,
        len(code) // 8,
        ctypes.addressof(instructions),
        ctypes.addressof(held),
        *(0, 0, 0, 0, 0),
        NAME.ljust(16, b"\0"),
    )
    loaded = _call(LOAD, attributes, "loading the program")
    try:
        with _opened(cgroup) as folder:
            before = list(_attached(folder))
            attributes = struct.pack("=IIII", folder, loaded, CGROUP_SOCK_OPS, ALLOW_MULTI)
            _call(ATTACH, attributes, f"attaching to {cgroup}")
            _detach(folder, before)
    finally:
        os.close(loaded)


def detach(cgroup: Path) -> int:
    """Remove our programs from a cgroup. Sockets keep their settings.

    Returns:
        The number of programs removed.

    Raises:
        Error: the folder is no cgroup of version 2, or this process may not remove programs.
    """
    with _opened(cgroup) as folder:
        found = list(_attached(folder))
        _detach(folder, found)
    return len(found)


class _opened:  # noqa: N801  (a context manager, used as a function)
    """A cgroup's folder as a file descriptor."""

    def __init__(self, cgroup: Path) -> None:
        if not (cgroup / "cgroup.procs").exists():
            mounted = next((str(one) for one in CGROUPS if (one / "cgroup.procs").exists()), None)
            example = mounted or "none is mounted; `mount -t cgroup2 none /sys/fs/cgroup` does"
            raise Error(f"{cgroup}: no cgroup of version 2; the root of all: {example}")
        self._descriptor = os.open(cgroup, os.O_RDONLY | os.O_DIRECTORY)

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _attached(folder: int) -> Iterator[int]:
    """The descriptors of our programs on a cgroup."""
    numbers = (ctypes.c_uint32 * MOST_PROGRAMS)()
    attributes = bytearray(
        struct.pack(
            "=IIIIQII", folder, CGROUP_SOCK_OPS, 0, 0, ctypes.addressof(numbers), MOST_PROGRAMS, 0
        )
    )
    answer = _call_in(QUERY, attributes, "listing a cgroup's programs")[1]
    count = struct.unpack_from("=I", answer, 24)[0]
    for number in numbers[:count]:
        found = _call(FD_BY_ID, struct.pack("=III", number, 0, 0), "opening a program")
        if _name(found) == NAME:
            yield found
        else:
            os.close(found)


def _name(descriptor: int) -> bytes:
    """The name of a program (`struct bpf_prog_info`)."""
    info = ctypes.create_string_buffer(256)
    attributes = struct.pack("=IIQ", descriptor, len(info), ctypes.addressof(info))
    _call(INFO, attributes, "reading about a program")
    return info.raw[64:80].rstrip(b"\0")


def _detach(folder: int, programs: Sequence[int]) -> None:
    for descriptor in programs:
        attributes = struct.pack("=IIII", folder, descriptor, CGROUP_SOCK_OPS, 0)
        _call(DETACH, attributes, "removing a program")
        os.close(descriptor)


def _call(command: int, attributes: bytes, what: str) -> int:
    return _call_in(command, bytearray(attributes), what)[0]


def _call_in(command: int, attributes: bytearray, what: str) -> tuple[int, bytes]:
    """The system call: its result, and its attributes afterwards."""
    number = SYSTEM_CALLS.get(platform.machine())
    if sys.platform != "linux" or number is None:
        raise Error(f"{what}: BPF needs Linux on {', '.join(SYSTEM_CALLS)}")
    library = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(bytes(attributes), max(len(attributes), 128))
    result = library.syscall(number, command, buffer, len(buffer))
    if result >= 0:
        return result, buffer.raw
    failed = ctypes.get_errno()
    if failed in {errno.EPERM, errno.EACCES}:
        raise Error(f"{what}: not permitted; root, or CAP_BPF and CAP_NET_ADMIN, may")
    raise Error(f"{what}: {os.strerror(failed)}")
