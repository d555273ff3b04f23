"""What other senders would have done: the path of a capture is inferred and simulated."""

import json
from typing import Any

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.diagnosis import Diagnosis


def what_if(found: Diagnosis, capture: str | None = None) -> dict[str, Any]:
    """What other senders would have made of the path of the worst connection.

    Args:
        found: the diagnosis.
        capture: the file, where `found` has another name for it.

    Returns:
        What `rtolab diagnose --what-if --json` prints as `what_if`: `connection`, its number, with
        `scenario`, the path and the transfer as TOML, `captured`, `nearest`, `agrees`, `senders`
        and `linux`; or with `error`, why the capture does not show it.
    """
    if not found.worst:
        return {"error": "there is no connection"}
    number = found.worst[0]["number"]
    try:
        answer = json.loads(_rtolab.what_if(capture or found.capture, number))
    except Error as error:
        answer = {"error": str(error)}
    return {"connection": number, **answer}
