"""Captures that continue one another, such as those that `tcpdump -C` or `-G` rotates."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from rtolab.diagnosis import Diagnosis


def continued(found: Sequence[Diagnosis]) -> tuple[list[str], int]:
    """The captures that connections span, in their order, and the number of these connections.

    A connection goes on in another capture if that begins after the first one ends and has packets
    between the same addresses and ports, but no handshake.
    """
    captures = [one for one in found if not one.is_log]
    captures.sort(key=lambda one: one.document["summary"]["began"])
    names: dict[str, None] = {}
    ends: set[tuple[str, str]] = set()
    for before, after in pairwise(captures):
        if after.document["summary"]["began"] < before.document["summary"]["ended"]:
            continue
        known = {_ends(one) for one in before.document["connections"]}
        going_on = {
            _ends(one)
            for one in after.document["connections"]
            if one["options"] is None and known & {_ends(one), _ends(one)[::-1]}
        }
        if going_on:
            ends |= going_on
            names |= {str(one.document["capture"]): None for one in (before, after)}
    return list(names), len(ends)


def _ends(connection: dict[str, Any]) -> tuple[str, str]:
    """The addresses and ports of a connection, of which the end that sent first is the client."""
    return connection["client"], connection["server"]
