"""Placeholders in the commands of a client and a server."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from rtolab._rtolab import Error

if TYPE_CHECKING:
    from rtolab.conform.run import Stack

KNOWN = ("server", "client", "peer", "bytes", "files", "logs")
"""The placeholders in the commands of a stack."""
_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_]+)\}")
_ALIKE = 0.7
"""How alike a misspelt name and the right one are; braces have other uses in shell and awk."""


def check_placeholders(stack: Stack) -> None:
    """Checks the commands of a stack.

    Raises:
        Error: a command has a name in braces that is nearly that of a placeholder.
    """
    check("--server", [stack.server], KNOWN)
    check("the client", stack.client, KNOWN)


def check(what: str, words: Iterable[str], known: Iterable[str]) -> None:
    """Checks the words of a command.

    Args:
        what: the command, as messages name it.
        words: its words.
        known: the names of placeholders.

    Raises:
        Error: a name in braces is nearly one of these.
    """
    names = list(known)
    for word in words:
        for found in _PLACEHOLDER.findall(word):
            near = [] if found in names else get_close_matches(found, names, 1, _ALIKE)
            if near:
                raise Error(f"{what}: found {{{found}}}; expected {{{near[0]}}}")
