"""Reproduced experiments: the names of their checks by verdict, and what they assume."""

import tomllib
from typing import Any

from rtolab.experiments.base import Experiment
from rtolab.experiments.measured import ExperimentRuns
from rtolab.experiments.reproduce import Reproduction, reproduce
from rtolab.experiments.trace import Trace
from rtolab.run import included_scenarios


def with_verdict(done: Reproduction, verdict: str) -> set[str]:
    """The names of the checks that have this verdict."""
    return {check.name for check in done.checks if check.verdict == verdict}


def failed(done: Reproduction) -> set[str]:
    return with_verdict(done, "fail")


def medians(done: Reproduction, metric: str) -> dict[str, float]:
    """The medians that were measured, by variant."""
    rows = [row for row in done.rows if row.metric.name == metric and row.measured]
    return {row.variant.key: row.measured.median for row in rows if row.measured}


def with_traces_swapped(experiment: Experiment) -> set[str]:
    """The verdicts of the checks if each sender's trace is that of the opposite one."""
    done = reproduce(experiment, runs=1, seed=1)
    traces = [Trace.of(runs.result, runs.first) for runs in done.of.values()]
    swapped = dict(zip(done.of, reversed(traces), strict=True))
    measured = ExperimentRuns(experiment, 1, done.of, swapped)
    return {check.judge(measured).verdict for check in experiment.checks}


def set_in(scenario: str, key: str) -> Any:
    """The value that an included scenario has for a dotted key, as in `link.wireless.delay`."""
    found: Any = tomllib.loads(included_scenarios()[scenario].read_text(encoding="utf-8"))
    for part in key.split("."):
        by_name = isinstance(found, list)
        found = next(one for one in found if one["name"] == part) if by_name else found[part]
    return found
