"""The names of the suites of `rtolab conform`, apart from what they need to run."""

from enum import StrEnum


class Suite(StrEnum):
    """Which scenarios."""

    STALLS = "stalls"
    LOSSES = "losses"
    ALL = "all"
