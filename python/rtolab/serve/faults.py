"""What is wrong with a request, in parts: so that the page can show it at its place."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass

from rtolab._rtolab import Error, ScenarioError, SenderError
from rtolab.machine import out_of

FILE = "scenario.toml"
"""What a worker calls the scenario."""
IN_FILE = re.compile(rf"{re.escape(FILE)}(?::(?P<line>\d+))?: (?P<rest>.*)", re.DOTALL)
IN_SET = re.compile(r"--set (?P<key>[^\s:]+): (?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True)
class Fault:
    """What is wrong, and where.

    Attributes:
        where: `scenario` (its text), `set` (a value that replaces one), `sender` or `request`.
        message: what was found and what would be right.
        line: of the scenario's text, from 1.
        key: of what is set.
    """

    where: str
    message: str
    line: int | None = None
    key: str | None = None

    @classmethod
    def of(cls, error: Error) -> Fault:
        """The parts of the engine's message."""
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
        """What the machine is out of, if that is what is wrong."""
        told = out_of(error)
        return None if told is None else cls("request", f"this machine cannot do that now: {told}")

    def encoded(self) -> bytes:
        """As JSON."""
        return json.dumps({"error": asdict(self)}).encode()
