"""A client and a server at the ends of a scenario's first link."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

GONE = "the server ended with exit code"
"""The line about a server that ends by itself with another status than 0."""
EARLY = "early"
"""The line in the file of a server's end, after its exit code, if the client did not begin."""
LEAD_S = 10.0
"""How long a server may take until it listens, in seconds."""

_LISTENS = """
left={looks}
until
    grep -qs " 0A " /proc/net/tcp /proc/net/tcp6 || grep -qs " 07 " /proc/net/udp /proc/net/udp6 ||
    grep -qs " 10  " /proc/net/sctp/eps ||
    grep -qs 1 /sys/class/net/stack0/carrier || [ "$left" -le 0 ]
do
    if [ -s {end} ]
    then
        # A server that goes to the background ends with 0, and may listen a little later.
        read -r code < {end}
        [ "$code" = 0 ] || exit 1
        [ "$left" -le 30 ] || left=30
    fi
    left=$((left - 1))
    sleep 0.1
done
[ "$left" -gt 0 ] || [ ! -s {end} ] || exit 1
sleep 0.2
"""
"""Waits for a listening socket of TCP or SCTP, a datagram socket that is not connected (as those to
name servers are), or a program on a TUN device. Ends with 1 if the server ends before."""
_SCRIPT = """
{{
    ip netns exec "$RTOLAB_PEER_NETNS" sh -c {server}
    code=$?
    echo "$code" > {end}
    # A signal ends what is left at the end.
    [ "$code" = 0 ] || [ "$code" -ge 128 ] || echo "{gone} $code" >&2
}} &
ip netns exec "$RTOLAB_PEER_NETNS" sh -c {listens} || {{
    echo {early} >> {end}
    echo "the server ended before it listened" >&2
    exit 1
}}
exec {client}
"""


@dataclass(frozen=True)
class ServerEnd:
    """The end of a server, before the emulation ended it.

    Attributes:
        code: its exit code.
        before_client: did it end before the client began, which then did not begin?
    """

    code: int
    before_client: bool

    @classmethod
    def read(cls, file: Path) -> ServerEnd | None:
        """What the script has written; None if the server ran until the end."""
        lines = file.read_text(encoding="utf-8").split() if file.exists() else []
        if not lines:
            return None
        found = cls(int(lines[0]), EARLY in lines)
        # The emulation ends by a signal what is left when the client has ended.
        return None if found.code >= SIGNALLED and not found.before_client else found

    def __str__(self) -> str:
        before = " before it listened" if self.before_client else ""
        return f"{GONE} {self.code}{before}"

    @property
    def failed(self) -> bool:
        """Did it end too early, or with another code than 0?"""
        return self.before_client or self.code != 0


SIGNALLED = 128
"""The smallest exit code in a shell of a program that a signal ended."""


def in_namespaces(
    client: Sequence[str],
    server: str,
    *,
    lead_s: float = LEAD_S,
    limit_s: float | None = None,
    end: Path = Path(os.devnull),
) -> list[str]:
    """The command for the client's host that runs both in namespaces, in real time.

    Args:
        client: program and arguments.
        server: a command line for `sh` at the other end.
        lead_s: the longest wait until the server listens, in seconds.
        limit_s: the longest run of the client, in seconds.
        end: the file for `ServerEnd`. Without it the client also begins if the server has ended.
    """
    file = shlex.quote(str(end))
    limited = [] if limit_s is None else ["timeout", "-k", "1", f"{limit_s:g}"]
    script = _SCRIPT.format(
        server=shlex.quote(server),
        gone=GONE,
        end=file,
        early=EARLY,
        listens=shlex.quote(_LISTENS.format(looks=round(lead_s * 10), end=file)),
        client=shlex.join([*limited, *client]),
    )
    return ["sh", "-c", script]
