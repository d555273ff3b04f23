"""Explanations of checks that fail, and the commands that demonstrate them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Demonstration:
    """A command that shows the cause of a failed check.

    Attributes:
        command: a command line, of which the first word is `rtolab`.
        finding: what it prints about the cause, rounded.
    """

    command: str
    finding: str


@dataclass(frozen=True)
class Explanation:
    """Why a check fails, or cannot be reproduced as printed.

    Attributes:
        text: what was tried, and the likely cause.
        shown_by: a demonstration of the cause; `None` if it is reasoned, not demonstrated.
    """

    text: str
    shown_by: Demonstration | None


def demonstrated(text: str, command: str, finding: str) -> Explanation:
    """A cause that a command shows; see `Demonstration`."""
    return Explanation(text, Demonstration(command, finding))


def reasoned(text: str) -> Explanation:
    """A likely cause that no command shows."""
    return Explanation(text, None)
