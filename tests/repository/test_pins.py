"""constraints.txt pins all of Python's packages that `make` installs."""

import os
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

PINS = Path(__file__).parents[2] / "constraints.txt"
LEFT_OUT = {"rtolab", "pip", "setuptools"}
"""Packages that are built here or are part of Python."""


def normal(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> dict[str, str]:
    lines = (line for line in PINS.read_text().splitlines() if not line.startswith("#"))
    pairs = (line.split("==") for line in lines)
    return {normal(name): version for name, version in pairs}


def installed() -> dict[str, str]:
    """The installed versions of rtolab's dependencies, direct and indirect, with all extras."""
    found: dict[str, str] = {}
    ahead = ["rtolab"]
    while ahead:
        name = normal(ahead.pop())
        if name in found:
            continue
        try:
            there = distribution(name)
        except PackageNotFoundError:
            continue  # It is for another platform or an extra that is not installed.
        found[name] = there.version
        wanted = (re.match(r"[\w.-]+", line) for line in there.requires or ())
        ahead += [match[0] for match in wanted if match]
    return {name: found[name] for name in found.keys() - LEFT_OUT}


@pytest.mark.skipif("CI" not in os.environ, reason="elsewhere other versions may be meant")
def test_the_installed_versions_are_the_pinned_ones() -> None:
    pins, there = pinned(), installed()
    assert len(there) > 50
    assert {name: pins.get(name) for name in there} == there
