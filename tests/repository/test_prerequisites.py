"""A test that lacks a tool says what to install; in CI it fails, and CI installs all of them."""

import os
import re
from pathlib import Path

import pytest

from prerequisites import lack, require_hosts, require_root, require_tool

TESTS = Path(__file__).parents[1]
CI = TESTS.parent / ".ci" / "run"
EVERYWHERE = {"cargo", "gcc", "util-linux"}
"""Packages that CI need not install: Rust brings the first and needs the second, and Debian has the
third."""


def test_a_missing_tool_skips_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "no-such-tool is missing; install it:  sudo apt-get install its-package"
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=said):
        require_tool("no-such-tool", "its-package")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=said):
        require_tool("no-such-tool", "its-package")
    with pytest.raises(pytest.skip.Exception, match="too large"):
        lack("too large", ci_has_it=False)


def test_without_root_the_message_says_how_to_become_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("CI", "true")
    for require in (require_root, require_hosts):
        with pytest.raises(pytest.fail.Exception, match="needs root; run the tests with sudo"):
            require()


def texts() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}


def test_ci_installs_every_package_that_tests_name() -> None:
    call = re.compile(r'require_tool\([^,]+, "([^"]+)"\)')
    named = {package for text in texts().values() for package in call.findall(text)}
    assert {"tshark", "chromium", "iproute2", "zstd"} <= named
    listed = re.findall(r"PACKAGES\+?=\(([^)]*)\)", CI.read_text())
    assert len(listed) == 2
    assert named - EVERYWHERE - {"its-package"} <= set(" ".join(listed).split())


def test_no_other_test_skips() -> None:
    """One exception asks for CI itself, the other expects known faults, strictly."""
    skips = re.compile(r"pytest\.(mark\.)?(skip|importorskip|xfail)\w*\(")
    found = {path.name for path, text in texts().items() if skips.search(text)}
    assert found == {"prerequisites.py", "test_pins.py", "test_recorded_diagnoses.py"}
