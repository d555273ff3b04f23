"""Requests of clients, validated."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.result import PLACES
from rtolab.run import LARGEST_SEED, included_scenarios

if TYPE_CHECKING:
    from rtolab.serve.limits import Limits

MOST_KEYS = 64
LONGEST_NAME = 200
LONGEST_VALUE = 4000
MOST_TEXT = 100_000


class RefusedError(Error):
    """A request that our page never sends."""


@dataclass(frozen=True)
class RunRequest:
    """A request for a run.

    Attributes:
        scenario: the name of an included scenario.
        toml: the text of an edited scenario; None for the shipped one.
        set: values that replace those of the scenario, by dotted key.
        senders: sender specifications; none for the scenario's own.
        seed: of the run.
        flow: the flow to show; None for the first.
        place: "sender" or "receiver", the host at which packets are captured.
        between: begin and end of the packets to show, in seconds; None for all.
    """

    scenario: str
    toml: str | None = None
    set: dict[str, str] = field(default_factory=dict)
    senders: tuple[str, ...] = ()
    seed: int = 1
    flow: str | None = None
    place: str = "sender"
    between: tuple[float, float] | None = None

    @classmethod
    def read(cls, given: object, limits: Limits) -> RunRequest:
        """Reads the JSON of a client.

        Raises:
            RefusedError: it has another form, or is too large.
        """
        if not isinstance(given, dict):
            raise RefusedError("a request is a JSON object")
        unknown = sorted(set(given) - set(cls.__dataclass_fields__))
        if unknown:
            raise RefusedError(f"no field {unknown[0]!r}; there are {_fields()}")
        return cls(
            scenario=_scenario(given.get("scenario")),
            toml=_text(given.get("toml"), "toml", MOST_TEXT),
            set=_set(given.get("set", {})),
            senders=_senders(given.get("senders", []), limits),
            seed=_seed(given.get("seed", 1)),
            flow=_text(given.get("flow"), "flow", LONGEST_NAME),
            place=_place(given.get("place", "sender")),
            between=_between(given.get("between")),
        )

    def document(self, limits: Limits) -> dict[str, Any]:
        """The parameters for a worker."""
        return asdict(self) | {"packets": limits.packets, "timeouts": limits.timeouts}


def read_what_if(given: object, limits: Limits) -> dict[str, Any]:
    """Reads a request for the counterfactuals of a timeout with other senders.

    Raises:
        RefusedError: it has another form.
    """
    if not isinstance(given, dict):
        raise RefusedError("a request is a JSON object")
    rest = {key: value for key, value in given.items() if key not in ("at_s", "seq", "others")}
    request = RunRequest.read(rest, limits)
    if len(request.senders) != 1:
        raise RefusedError("senders: expected the one whose timeout it is")
    at, seq = given.get("at_s"), given.get("seq")
    if not is_time(at) or isinstance(seq, bool) or not isinstance(seq, int) or abs(seq) > 2**62:
        raise RefusedError("expected the timeout's at_s, in seconds, and its seq")
    others = _senders(given.get("others", []), limits)
    return request.document(limits) | {
        "at_s": at,
        "seq": seq,
        "others": others,
    }


def _fields() -> str:
    return ", ".join(RunRequest.__dataclass_fields__)


def _scenario(given: object) -> str:
    shipped = included_scenarios()
    if not isinstance(given, str) or given not in shipped:
        expected = _rtolab.suggest(_shown(given), [*shipped])
        raise RefusedError(f"scenario is {_shown(given)}: expected {expected}")
    return given


def _text(given: object, what: str, longest: int) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or len(given) > longest or not _is_unicode(given):
        raise RefusedError(f"{what} is {_shown(given)}: expected a text of at most {longest}")
    return given


def _set(given: object) -> dict[str, str]:
    if not isinstance(given, dict) or len(given) > MOST_KEYS:
        raise RefusedError(f"set is {_shown(given)}: expected at most {MOST_KEYS} keys")
    for key, value in given.items():
        _text(key, "a key of set", LONGEST_NAME)
        if value is None or _text(value, f"set.{key[:LONGEST_NAME]}", LONGEST_VALUE) is None:
            raise RefusedError(f"set.{key[:LONGEST_NAME]} is null: expected a text")
    return given


def _senders(given: object, limits: Limits) -> tuple[str, ...]:
    if not isinstance(given, list) or len(given) > limits.senders:
        raise RefusedError(f"senders is {_shown(given)}: expected at most {limits.senders}")
    for sender in given:
        if sender is None or _text(sender, "a sender", LONGEST_NAME) is None:
            raise RefusedError("a sender is null: expected a text such as sack+frto")
    return tuple(dict.fromkeys(given))


def _seed(given: object) -> int:
    """A number, or its digits, because a page's numbers end at 2^53."""
    if isinstance(given, str) and re.fullmatch("[0-9]{1,20}", given):
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= LARGEST_SEED:
        raise RefusedError(f"seed is {_shown(given)}: expected a number from 0 to 2^64 - 1")
    return given


def _place(given: object) -> str:
    if given not in PLACES:
        raise RefusedError(f"place is {_shown(given)}: expected sender or receiver")
    return str(given)


def _between(given: object) -> tuple[float, float] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != 2 or not all(map(is_time, given)):
        raise RefusedError(f"between is {_shown(given)}: expected two times in seconds")
    return (float(given[0]), float(given[1]))


def is_time(given: object) -> bool:
    """Is it a finite number of seconds?"""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return abs(given) < 1e12 and math.isfinite(given)


def printable(name: str) -> str:
    """A file name without control characters."""
    return "".join(letter for letter in name if letter.isprintable()) or "capture"


def _is_unicode(text: str) -> bool:
    """A lone surrogate is not valid Unicode and cannot be written to a file."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _shown(given: object) -> str:
    text = ascii(given)
    return text if len(text) <= 60 else f"{text[:60]}..."
