"""A client and a server at the ends of a scenario's first link."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

GONE = "the server ended with exit code"
"""The line about a server that ends by itself with another status than 0."""
LEAD_S = 10.0
"""How long a server may take until it listens, in seconds."""

_LISTENS = """
left={looks}
until
    grep -qs " 0A " /proc/net/tcp /proc/net/tcp6 || grep -qs " 07 " /proc/net/udp /proc/net/udp6 ||
    grep -qs " 10  " /proc/net/sctp/eps ||
    grep -qs 1 /sys/class/net/stack0/carrier || [ "$left" -le 0 ]
do
    left=$((left - 1))
    sleep 0.1
done
sleep 0.2
"""
"""Waits for a listening socket of TCP or SCTP, a datagram socket that is not connected (as those to
name servers are), or a program on a TUN device."""
_SCRIPT = """
{{
    ip netns exec "$RTOLAB_PEER_NETNS" sh -c {server}
    code=$?
    # A signal ends what is left at the end.
    [ "$code" = 0 ] || [ "$code" -ge 128 ] || echo "{gone} $code" >&2
}} &
ip netns exec "$RTOLAB_PEER_NETNS" sh -c {listens}
exec {client}
"""


def in_namespaces(
    client: Sequence[str],
    server: str,
    *,
    lead_s: float = LEAD_S,
    limit_s: float | None = None,
) -> list[str]:
    """The command for the client's host that runs both in namespaces, in real time.

    Args:
        client: program and arguments.
        server: a command line for `sh` at the other end.
        lead_s: the longest wait until the server listens, in seconds.
        limit_s: the longest run of the client, in seconds.
    """
    limited = [] if limit_s is None else ["timeout", "-k", "1", f"{limit_s:g}"]
    script = _SCRIPT.format(
        server=shlex.quote(server),
        gone=GONE,
        listens=shlex.quote(_LISTENS.format(looks=round(lead_s * 10))),
        client=shlex.join([*limited, *client]),
    )
    return ["sh", "-c", script]
