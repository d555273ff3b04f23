"""Scripts and pages name targets of cargo that exist, and `make dist` packages what it can."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import parts
from prerequisites import require_tool
from program import execute

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    ROOT / "Makefile",
    ROOT / ".ci" / "run",
    *(path for path in ROOT.glob("tools/**/*") if path.is_file() and path.suffix != ".pyc"),
    *(path for path in ROOT.glob("benches/*") if path.suffix in {"", ".py"} and path.is_file()),
]
PAGES = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("crates/*/README.md"), *ROOT.glob("*.md")]
COMMAND = re.compile(r"\bcargo (?:\+\S+ )?(?:build|run|bench|test)\b(.*)")
PACKAGE = re.compile(r"(?:-p|--package)[ =]([\w-]+)")
TARGET = re.compile(r"--(example|bench|bin)[ =]([\w-]+)")

Target = tuple[str | None, str, str]
"""The package, if a command names it, the kind and the name."""


def targets(text: str) -> Iterator[Target]:
    """The targets that commands of cargo name, in a shell, in Python or in prose."""
    text = re.sub(r"\\\n\s*", " ", text)  # A command continues on the next line.
    text = re.sub(r"""["',]""", "", text)  # In Python it is a list of strings.
    for arguments in COMMAND.findall(text):
        package = PACKAGE.search(arguments)
        for kind, name in TARGET.findall(arguments.partition(" -- ")[0]):
            yield package[1] if package else None, kind, name


@pytest.fixture(scope="module")
def packages() -> list[dict[str, Any]]:
    """The packages of the workspace, as cargo describes them."""
    cargo = require_tool("cargo", "cargo")
    command = (cargo, "metadata", "--no-deps", "--offline", "--format-version", "1")
    found: list[dict[str, Any]] = json.loads(execute(*command, cwd=ROOT).stdout)["packages"]
    return found


@pytest.fixture(scope="module")
def existing(packages: list[dict[str, Any]]) -> set[Target]:
    """The targets of the workspace: each with its package, and without."""
    return {
        (package, kind, target["name"])
        for one in packages
        for target in one["targets"]
        for kind in target["kind"]
        for package in (one["name"], None)
    }


def test_a_command_is_found_in_each_kind_of_file() -> None:
    shell = 'cargo run --quiet \\\n    -p rtolab-sim --example results "$@" -- --bin no $files'
    python = 'command = ["cargo", "bench", "-p", "rtolab-py", "--bench", "cases", "--no-run"]'
    prose = "More in `examples/`: `cargo run --example outage`."
    assert [*targets(shell)] == [("rtolab-sim", "example", "results")]
    assert [*targets(python)] == [("rtolab-py", "bench", "cases")]
    assert [*targets(prose)] == [(None, "example", "outage")]


@pytest.mark.parametrize("files", [SCRIPTS, PAGES], ids=["scripts", "pages"])
def test_every_named_target_exists(files: list[Path], existing: set[Target]) -> None:
    named = {
        (str(file.relative_to(ROOT)), target)
        for file in files
        for target in targets(file.read_text(encoding="utf-8"))
    }
    assert named
    assert [one for one in sorted(named, key=str) if one[1] not in existing] == []


def test_every_benchmark_of_parts_exists(existing: set[Target]) -> None:
    assert {(package, "bench", name) for package, name in parts.BENCHES.items()} <= existing


def test_make_dist_packages_no_crate_that_needs_an_unpublished_one(
    packages: list[dict[str, Any]],
) -> None:
    private = re.search(r"^PRIVATE := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert private is not None
    kept = {f"rtolab-{name}" for name in private[1].split()}
    names = {one["name"] for one in packages}
    assert kept <= names
    for one in packages:
        needs = [
            dependency["name"]
            for dependency in one["dependencies"]
            if dependency.get("path") and dependency["req"] == "*" and dependency["kind"] != "dev"
        ]
        assert one["name"] in kept or not needs, f"{one['name']} needs {needs}"
