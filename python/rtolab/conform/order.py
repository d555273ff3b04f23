"""Parameters of a worker process."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Order:
    """The run of a worker.

    Attributes:
        scenario: the file of the scenario.
        seed: of the random processes of the link.
        server: a command line for `sh`.
        client: program and arguments.
        lead_s: the longest wait until the server listens, in seconds.
        limit_s: the longest run of the client, in seconds.
        evidence: the folder for captures; empty for none.
        set: keys and values that replace those of the scenario.
    """

    scenario: str
    seed: int
    server: str
    client: list[str]
    lead_s: float
    limit_s: float
    evidence: str
    set: list[tuple[str, str]]
