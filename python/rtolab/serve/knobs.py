"""What the sliders begin with: the values that a scenario writes for what they move."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from rtolab.run import shipped_scenarios

if TYPE_CHECKING:
    from collections.abc import Mapping


def job(asked: Mapping[str, Any]) -> bytes:
    """The text of the scenario asked for, and what it says of each link."""
    text = asked["toml"]
    if text is None:
        text = shipped_scenarios()[asked["scenario"]].read_text(encoding="utf-8")
    return json.dumps({"toml": text, **written(text)}).encode()


def written(text: str) -> dict[str, Any]:
    """What a scenario's text says; nothing of one that is no TOML.

    Whether it is right, the engine says.
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        return {"links": [], "rto_min": None, "duration": None, "sender": None}
    links = document.get("link")
    return {
        "links": [_link(one) for one in _list(links) if isinstance(one, dict)],
        "rto_min": _text(_at(document, "tcp", "rto", "min")),
        "duration": _text(document.get("duration")),
        "sender": _text(_at(document, "tcp", "sender")),
    }


def _link(link: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": str(link.get("name", "")),
        "rate": _text(_either(link, "rate")),
        "delay": _text(_either(link, "delay")),
        "loss": _text(_either(link, "loss")),
        "stall": _stall(link),
        "troubled": any(_either(link, key) for key in ("stalls", "outages", "spikes", "loss")),
    }


def _either(link: dict[str, Any], key: str) -> object:
    """As it is for both directions, else for data's."""
    both = link.get(key)
    return both if both is not None else _at(link, "forward", key)


def _stall(link: dict[str, Any]) -> dict[str, str] | None:
    """The first stall that is written, if it has a time."""
    scripted = _list(_at(_dict(_either(link, "stalls")), "scripted"))
    first = _dict(scripted[0]) if scripted else {}
    if not {"at", "for"} <= set(first):
        return None
    return {"at": str(first["at"]), "for": str(first["for"])}


def _at(table: object, *keys: str) -> object:
    for key in keys:
        table = _dict(table).get(key)
    return table


def _dict(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


def _text(found: object) -> str | None:
    return str(found) if isinstance(found, str | int | float) else None
