"""The scenarios of a suite, each with a reference run."""

from __future__ import annotations

from dataclasses import replace

from rtolab.conform.fifty import fifty
from rtolab.conform.scenario import Scenario
from rtolab.conform.today import today
from rtolab.suites import Suite

SUITE_SCENARIOS = {Suite.FIFTY: fifty, Suite.TODAY: today}
"""What makes the scenarios of a suite from a seed."""


def suite(which: Suite = Suite.FIFTY, seed: int = 1) -> list[Scenario]:
    """The scenarios of a suite or of a part, with random values drawn from the seed."""
    made = SUITE_SCENARIOS[which.whole](seed)
    seeded = [replace(one, seed=seed * 1000 + number) for number, one in enumerate(made)]
    return [one for one in seeded if which in (which.whole, one.suite)]


def suite_of(name: str) -> Suite | None:
    """The whole suite that has a scenario of this id."""
    return next(
        (which for which in SUITE_SCENARIOS if name in {one.id for one in suite(which)}), None
    )
