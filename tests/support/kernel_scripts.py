"""packetdrill scripts of what a kernel sends and receives on a path of `kernel_differences`."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rtolab.emulation import Variant, emulate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rtolab.emulation import EmulationResult
    from rtolab.kernel import Kernel

SETTINGS = Path(__file__).parent.parent / "packetdrill" / "settings.sh"
SYSCTLS = (
    *("tcp_timestamps", "tcp_sack", "tcp_dsack", "tcp_ecn", "tcp_frto", "tcp_recovery"),
    *("tcp_early_retrans", "tcp_reordering", "tcp_slow_start_after_idle"),
    *("tcp_rmem", "tcp_wmem"),
)
"""The settings that a script takes from the kernel's run, as `settings.sh` has them."""
OFFERED = {"tcp_rmem": "4096 131072 6291456"}
"""The settings that a run has only at its receiver."""

PACKET = re.compile(r"(\S+) ([<>]) ([SFPREW.]+) (\d+):(\d+)\((\d+)\)(.*)")
ACK = re.compile(r" ack (\d+)")
ECHO = re.compile(r"TS val (\d+) ecr (\d+)")


@dataclass(frozen=True)
class Script:
    """A script and the folder of the settings that it needs.

    Attributes:
        text: the script.
        packets: the number of its packets.
    """

    text: str
    packets: int

    def write(self, path: Path) -> None:
        """Writes the script, and beside it `settings.sh`, which it runs."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text)
        shutil.copy(SETTINGS, path.parent)


def script(path: Path, seed: int, kernel: Kernel, about: Iterable[str] = ()) -> Script:
    """The script of a scenario's first flow on this kernel, as the sender sees it.

    Args:
        path: the scenario.
        seed: the seed of the run.
        kernel: the kernel of both hosts.
        about: lines for the script's first comment.
    """
    run = emulate(path, variants=[Variant()], seed=seed, runs=1, parallel=1, kernel=kernel)
    lines = run.packetdrill().splitlines()
    packets = list(_packets(lines, run))
    effective = next(iter(run.reports[0]["hosts"]))["effective"]
    comment = [*about, f"Written from what {kernel.title} sent and received, seed {seed}."]
    flags = (
        "sender=linux,sysctl=/proc/sys/net/ipv4,push=linux-without-tso"
        f",timer={'wheel-' + str(kernel.hz) if kernel.hz in (250, 1000) else 'exact'}"
    )
    congestion = effective["congctl"]
    text = [
        *(f"// {line}".rstrip() for line in comment),
        f"// --so_flags={flags}",
        "",
        f"`./settings.sh {' '.join(_changed(effective))}".rstrip(),
        "ip link set dev tun0 gso_max_segs 1`",
        "",
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
        f'0 setsockopt(3, SOL_TCP, TCP_CONGESTION, "{congestion}", {len(congestion)}) = 0',
        "0 fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)",
        "0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0",
        "0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)",
        *packets,
    ]
    return Script("\n".join(text) + "\n", sum(map(bool, map(PACKET.match, packets))))


def _changed(effective: dict[str, str]) -> Iterator[str]:
    """The settings of the run that are not those of `settings.sh`."""
    usual = dict(re.findall(r"\b(tcp_\w+)=([^\"\s\\]+(?: \d+)*)", SETTINGS.read_text()))
    for name in SYSCTLS:
        value = OFFERED.get(name, effective[name])
        if value != usual.get(name):
            yield f'"{name}={value}"' if " " in value else f"{name}={value}"


def _packets(lines: list[str], run: EmulationResult) -> Iterator[str]:
    """The packets, and what the application calls before the first data.

    A guest's application writes all at once, and a last segment that is not full waits for the FIN.
    The script ends with the ACK of all data, as a comparison does.
    """
    sent = run.segments.filter(
        (pl.col("flow") == run.segments["flow"][0])
        & (pl.col("event") == "sent")
        & (pl.col("place") == "sender")
        & (pl.col("flags") != "")
    )
    pushed = (sent["flags"].str.contains("P")).to_list()
    found = [match for line in lines if (match := PACKET.match(line))]
    size = max(int(one[5]) - 1 for one in found if one[2] == ">" and int(one[6]))
    origin = {">": _first_timestamp(found, ">"), "<": _first_timestamp(found, "<")}
    has_written, number = False, 0
    for at, direction, named, start, end, length, rest in (one.groups() for one in found):
        flags = named
        if direction == ">":
            if int(length) and not has_written:
                has_written = True
                yield f"{at} send(3, ..., {size}, MSG_MORE) = {size}"
                yield f"{at} shutdown(3, SHUT_WR) = 0"
            flags = named.replace("P", "").replace(".", "P." if pushed[number] else ".")
            number += 1
        peer = "<" if direction == ">" else ">"
        options = _with_small_timestamps(rest, origin[direction], origin[peer])
        yield f"{at} {direction} {flags} {start}:{end}({length}){options}"
        if direction == "<" and (ack := ACK.search(rest)) and int(ack[1]) > size:
            return


def _first_timestamp(found: list[re.Match[str]], direction: str) -> int:
    first = next(one[7] for one in found if one[2] == direction)
    return int(echo[1]) if (echo := ECHO.search(first)) else 0


def _with_small_timestamps(options: str, own: int, other: int) -> str:
    """The options with timestamps that begin at 1000: kernels begin at random numbers."""

    def small(match: re.Match[str]) -> str:
        value, echo = int(match[1]), int(match[2])
        return f"TS val {(value - own) % 2**32 + 1000} ecr {echo and (echo - other) % 2**32 + 1000}"

    return ECHO.sub(small, options)
