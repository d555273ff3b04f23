"""Initial values of the sliders: those of the scenario's text."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from rtolab.run import included_scenarios


def job(request: Mapping[str, Any]) -> bytes:
    """The text of the requested scenario, and the values of each link."""
    text = request["toml"]
    if text is None:
        text = included_scenarios()[request["scenario"]].read_text(encoding="utf-8")
    return json.dumps({"toml": text, **written(text)}).encode()


def written(text: str) -> dict[str, Any]:
    """The values in the text of a scenario; none if it is not TOML. The engine validates them."""
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
    """The values of a link, and the keys that set them."""
    keys = {name: _key(link, name) for name in ("rate", "delay", "loss", "stalls")}
    troubles = ("stalls", "outages", "spikes", "loss")
    return {
        "name": str(link.get("name", "")),
        "rate": _text(_at(link, *keys["rate"])),
        "delay": _text(_at(link, *keys["delay"])),
        "loss": _text(_at(link, *keys["loss"])),
        "stall": _stall(_at(link, *keys["stalls"])),
        "keys": {name: ".".join(key) for name, key in keys.items()},
        "troubled": any(_at(link, *_key(link, name)) for name in troubles),
    }


def _key(link: dict[str, Any], name: str) -> tuple[str, ...]:
    """The key of the data direction if it is there, since it overrides that of both directions."""
    return (name,) if _at(link, "forward", name) is None else ("forward", name)


def _stall(stalls: object) -> dict[str, str] | None:
    """The first scripted stall, if it has a time."""
    scripted = _list(_at(stalls, "scripted"))
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
