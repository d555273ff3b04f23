"""Checks of the arguments of `conform` before anything runs.

Messages name the options of the command; those about an argument without an option its name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rtolab._rtolab import Error, suggest
from rtolab.conform.scenario import Scenario
from rtolab.conform.suite import suite, suite_of
from rtolab.run import MOST_JOBS
from rtolab.suites import Suite

if TYPE_CHECKING:
    from rtolab.conform.run import Stack


def suite_named(name: str) -> Suite:
    """The suite, or the part of one, of this name.

    Raises:
        Error: there is none.
    """
    if name not in set(Suite):
        expected = suggest(str(name), [one.value for one in Suite])
        raise Error(f"suite: found {name!r}; expected {expected}")
    return Suite(name)


def chosen(which: Suite, seed: int, only: Sequence[str]) -> list[Scenario]:
    """The scenarios of a suite with these ids; all of them without ids.

    Raises:
        Error: the suite has no scenario of an id.
    """
    scenarios = suite(which, seed)
    known = {one.id: one for one in scenarios}
    for one in only:
        if one not in known:
            other = suite_of(one)
            if other:
                raise Error(f"--only {one}: not in the suite {which}; add --suite {other}")
            near = f"expected {suggest(one, [*known])}; `rtolab conform --list` has all"
            raise Error(f"--only {one}: found no such scenario; {near}")
    return [one for one in scenarios if not only or one.id in only]


def check_stack(stack: Stack) -> None:
    """Checks the programs of a stack.

    Raises:
        Error: one is no command, or there is a client without a server or the reverse.
    """
    server: object = stack.server
    client: object = stack.client
    if not isinstance(server, str):
        raise Error(f"{stack.name}: found the server {server!r}; expected a command line")
    if isinstance(client, str) or not isinstance(client, Sequence):
        found = f"{stack.name}: found the client {client!r}"
        raise Error(f"{found}; expected a list of a program and its arguments")
    if bool(client) != bool(server):
        lacking = "a client without a server" if client else "a server without a client"
        raise Error(f"{stack.name}: found {lacking}; expected both, or none for the kernel's TCP")


def check_numbers(*, repeat: object, parallel: object, limit_s: float) -> None:
    """Checks how scenarios are to run.

    Raises:
        Error: a number is out of range.
    """
    for name, count, most in (("repeat", repeat, math.inf), ("parallel", parallel, MOST_JOBS)):
        if not isinstance(count, int) or not 1 <= count <= most:
            up_to = f"from 1 to {most}" if most < math.inf else "from 1"
            raise Error(f"{name}: found {count!r}; expected a whole number {up_to}")
    if not 1 <= limit_s < math.inf:
        raise Error(f"limit_s: found {limit_s!r}; expected a number of seconds from 1")


def check_margin(margin: float) -> None:
    """Checks the margin of scores.

    Raises:
        Error: it is negative or not finite.
    """
    if not 0 <= margin < math.inf:
        raise Error(f"margin: found {margin!r}; expected a number of points from 0")
