"""Placeholders in the commands of a client and a server."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from rtolab._rtolab import Error

_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_]+)\}")
_ALIKE = 0.7
"""How alike a misspelt name and the right one are; braces have other uses in shell and awk."""


def check_placeholders(what: str, words: Iterable[str], known: Iterable[str]) -> None:
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
