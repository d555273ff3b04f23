"""Scores of any TCP or QUIC stack on suites of paths with delays and losses."""

from rtolab.conform.run import Stack, conform
from rtolab.conform.scenario import Path, Scenario
from rtolab.conform.score import Change, Score, changes, overall
from rtolab.conform.suite import suite
from rtolab.suites import Suite

__all__ = [
    "Change",
    "Path",
    "Scenario",
    "Score",
    "Stack",
    "Suite",
    "changes",
    "conform",
    "overall",
    "suite",
]
