"""What a worker is told to run."""

from dataclasses import dataclass

GONE = "the server ended with exit code"
"""What the log has where the server ends by itself and not with 0."""


@dataclass(frozen=True)
class Order:
    """What is to be run.

    Attributes:
        scenario: the file.
        seed: of what is random in the link.
        server: a command line for `sh`.
        client: program and arguments.
        lead_s: how long the server may take to listen; the client begins when it does.
        limit_s: how long the client may take.
        set: keys and values that replace the scenario's.
    """

    scenario: str
    seed: int
    server: str
    client: list[str]
    lead_s: float
    limit_s: float
    set: list[tuple[str, str]]
