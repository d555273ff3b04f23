"""A baseline for the scores of some scenarios."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rtolab._rtolab import Error
from rtolab.conform import report
from rtolab.conform.scenario import Scenario
from rtolab.suites import Suite


def read_baseline(
    path: Path, which: Suite, seed: int, scenarios: Sequence[Scenario]
) -> dict[str, Any]:
    """A baseline that can be compared with the scores of these scenarios.

    Raises:
        Error: the file is no result, or one of another suite, version or seed, or it has none of
            the scenarios.
        OSError: it cannot be read.
    """
    found = report.read(path)
    report.check_baseline(found, path, which, seed)
    lacking = missing(found, scenarios)
    if len(lacking) == len(scenarios):
        raise Error(
            f"{path}: found no scenario in common, so nothing would be compared: it lacks "
            f"{report.first(lacking)}"
        )
    return found


def missing(baseline: Mapping[str, Any], scenarios: Sequence[Scenario]) -> list[str]:
    """The ids of the scenarios that a baseline lacks."""
    stored = {one["id"] for one in baseline["scenarios"]}
    return [one.id for one in scenarios if one.id not in stored]
