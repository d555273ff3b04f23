"""A laboratory for TCP retransmission timeouts.

Was this timeout necessary, what did it cost, and what would another algorithm have done? On any
path, for any sender:

    >>> import rtolab
    >>> result = rtolab.run("scenario.toml", sender=["sack", "sack+frto"], runs=30)
    >>> result.connections      # a table: elapsed times, retransmissions needed and unneeded, ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtolab._rtolab import (
    DetectorError,
    EmulationError,
    Error,
    InternalError,
    PrototypeError,
    ScenarioError,
    SenderError,
    __version__,
    check,
    policies,
    schema,
)
from rtolab.prototype import (
    Blind,
    Detector,
    FrameAction,
    Hold,
    Response,
    ResponseAction,
    Stage,
    Verdict,
)
from rtolab.result import Result
from rtolab.run import run

if TYPE_CHECKING:
    from rtolab.plot import Plots


def _plots(result: Result) -> Plots:
    from rtolab.plot import Plots  # noqa: PLC0415  (figures take a while to import)

    return Plots(result)


def _html(result: Result) -> str:
    from rtolab import tables  # noqa: PLC0415  (only notebooks ask)
    from rtolab.notebook import html  # noqa: PLC0415

    return html(tables.runs(result))


Result._plots, Result._html = _plots, _html

__all__ = [
    "Blind",
    "Detector",
    "DetectorError",
    "EmulationError",
    "Error",
    "FrameAction",
    "Hold",
    "InternalError",
    "PrototypeError",
    "Response",
    "ResponseAction",
    "Result",
    "ScenarioError",
    "SenderError",
    "Stage",
    "Verdict",
    "__version__",
    "check",
    "policies",
    "run",
    "schema",
]
