"""Replay of a captured connection with other senders on its inferred path."""

import json
from typing import Any

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.diagnosis import Diagnosis


def what_if(found: Diagnosis, capture: str | None = None) -> dict[str, Any]:
    """Replays the worst connection with other senders.

    Args:
        found: the diagnosis.
        capture: the path of the capture, if `found.capture` is not its path.

    Returns:
        `what_if` of `rtolab diagnose --what-if --json`: `connection` (its number; null without one)
        with `scenario` (path and transfer as TOML), `captured`, `nearest`, `agrees`, `advice` (the
        conclusion), `senders` and `linux`, or with `error` (why the capture does not determine the
        path).
    """
    if found.is_log:
        return {"connection": None, "error": f"{found.capture} is a QUIC log; expected a capture"}
    if not found.worst:
        return {"connection": None, "error": "the capture has no TCP connection"}
    number = found.worst[0]["number"]
    try:
        answer = json.loads(_rtolab.what_if(capture or found.capture, number))
    except Error as error:
        answer = {"error": str(error)}
    return {"connection": number, **answer}
