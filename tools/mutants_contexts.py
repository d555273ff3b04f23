"""A plugin of pytest for tools/mutants: records which test runs which lines, and how long it takes.

Needs coverage, which `COVERAGE_PROCESS_START` has started. The context of a line is a test, or a
fixture that several tests share.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import coverage
import pytest

VARIABLE = "RTOLAB_TEST"
"""The variable that names the context to processes that a test starts."""
contexts = [""]
shared: dict[str, list[str]] = {}
"""The fixtures of a test, among which those that several tests share."""
taken_s: dict[str, float] = defaultdict(float)
"""The time of tests and of shared fixtures."""
passed: set[str] = set()


def enter(context: str) -> None:
    """Attribute lines to another context."""
    os.environ[VARIABLE] = context
    if one := coverage.Coverage.current():
        one.switch_context(context)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test begins."""
    shared[item.nodeid] = list(getattr(item, "fixturenames", ()))
    contexts.append(item.nodeid)
    enter(item.nodeid)
    try:
        return (yield)
    finally:
        contexts.pop()
        enter(contexts[-1])


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
    """A fixture that tests share begins."""
    if fixturedef.scope == "function":
        return (yield)
    context = f"{fixturedef.baseid} fixture {fixturedef.argname}"
    began = time.monotonic()
    contexts.append(context)
    enter(context)
    try:
        return (yield)
    finally:
        taken_s[context] += time.monotonic() - began
        contexts.pop()
        enter(contexts[-1])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test ended."""
    if report.when == "call":
        taken_s[report.nodeid] = report.duration
        if report.passed:
            passed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write what was recorded."""
    tests = {name: {"fixtures": shared[name], "taken_s": taken_s[name]} for name in sorted(passed)}
    fixtures = {name: taken for name, taken in taken_s.items() if " fixture " in name}
    found = {"tests": tests, "fixtures": fixtures}
    Path(os.environ["RTOLAB_TESTS"]).write_text(json.dumps(found), encoding="utf-8")
