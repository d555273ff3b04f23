"""A laboratory for TCP retransmission timeouts.

Was this timeout necessary, what did it cost, and what would another algorithm have done? On any
path, for any sender:

    >>> import rtolab
    >>> result = rtolab.run("scenario.toml", sender=["sack", "sack+frto"], runs=30)
    >>> result.connections      # a table: elapsed times, retransmissions needed and unneeded, ...
"""

from rtolab._rtolab import (
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
    Answer,
    Blind,
    Detector,
    Hold,
    Response,
    Stage,
    Treatment,
    Verdict,
)
from rtolab.result import Result
from rtolab.run import run

__all__ = [
    "Answer",
    "Blind",
    "Detector",
    "EmulationError",
    "Error",
    "Hold",
    "InternalError",
    "PrototypeError",
    "Response",
    "Result",
    "ScenarioError",
    "SenderError",
    "Stage",
    "Treatment",
    "Verdict",
    "__version__",
    "check",
    "policies",
    "run",
    "schema",
]
