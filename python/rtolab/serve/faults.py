"""Errors in requests, in parts, so that the page can show them at their place."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass

from rtolab._rtolab import Error, ScenarioError, SenderError
from rtolab.machine import out_of

FILE = "scenario.toml"
"""The file name of the scenario in a worker."""
IN_FILE = re.compile(rf"{re.escape(FILE)}(?::(?P<line>\d+))?: (?P<rest>.*)", re.DOTALL)
IN_SET = re.compile(r"--set (?P<key>[^\s:]+): (?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True)
class Fault:
    """An error and its place.

    Attributes:
        where: `scenario` (its text), `set` (a set value), `sender` or `request`.
        message: what was found, and what would be right.
        line: in the text of the scenario, from 1.
        key: of the set value.
    """

    where: str
    message: str
    line: int | None = None
    key: str | None = None

    @classmethod
    def of(cls, error: Error) -> Fault:
        """Splits a message of the engine."""
        text = str(error)
        if isinstance(error, SenderError):
            return cls("sender", text)
        if isinstance(error, ScenarioError):
            if found := IN_SET.fullmatch(text):
                return cls("set", found["rest"], key=found["key"])
            if found := IN_FILE.fullmatch(text):
                line = int(found["line"]) if found["line"] else None
                return cls("scenario", found["rest"], line)
            return cls("scenario", text)
        return cls("request", text)

    @classmethod
    def of_machine(cls, error: Exception) -> Fault | None:
        """The resource that is exhausted, if this is the cause."""
        shortage = out_of(error)
        return (
            None
            if shortage is None
            else cls("request", f"this machine cannot do that now: {shortage}")
        )

    def encoded(self) -> bytes:
        """The JSON of the error."""
        return json.dumps({"error": asdict(self)}).encode()
