"""Scores of any TCP or QUIC stack on fifty scenarios of a path with delays and losses."""

from rtolab.conform.run import Stack, conform
from rtolab.conform.score import Change, Score, changes, overall
from rtolab.conform.suite import Scenario, suite
from rtolab.suites import Suite

__all__ = [
    "Change",
    "Scenario",
    "Score",
    "Stack",
    "Suite",
    "changes",
    "conform",
    "overall",
    "suite",
]
