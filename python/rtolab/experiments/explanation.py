"""Explanations of checks that fail, and the commands that demonstrate them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Demonstration:
    """A command that shows the cause of a failed check, or what was tried to find it.

    Attributes:
        command: a command line, of which the first word is `rtolab`.
        finding: what it prints about the cause, rounded.
        is_cause: does it show the cause? If not, the cause is not known: the command finds no
            setting that gives the printed result, or only one that the system did not have.
    """

    command: str
    finding: str
    is_cause: bool = True


@dataclass(frozen=True)
class Explanation:
    """Why a check fails, or cannot be reproduced as printed.

    Attributes:
        text: what was tried, and the likely cause.
        shown_by: a demonstration of the cause, or of what was tried; `None` if the cause is
            reasoned, not demonstrated.
    """

    text: str
    shown_by: Demonstration | None


def demonstrated(text: str, command: str, finding: str) -> Explanation:
    """A cause that a command shows; see `Demonstration`."""
    return Explanation(text, Demonstration(command, finding))


def unknown(text: str, command: str, finding: str) -> Explanation:
    """What was tried, by a command that repeats it, where the cause is not known."""
    return Explanation(text, Demonstration(command, finding, is_cause=False))


def reasoned(text: str) -> Explanation:
    """A likely cause that no command shows."""
    return Explanation(text, None)
