"""Workflows have no more rights than they need, and run what they name."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MORE = {
    ("pages", "deploy"): {"id-token": "write", "pages": "write"},
    ("release", "release"): {
        "attestations": "write",
        "contents": "write",
        "id-token": "write",
    },
}
"""The jobs that may do more than read, and what."""
FROM_STRANGERS = re.compile(r"\$\{\{[^}]*\b(event\.|head_ref|actor|ref_name)[^}]*\}\}")
"""Values of a pull request, which a shell would run as they are."""


def read(path: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def test_there_are_workflows() -> None:
    assert {path.stem for path in WORKFLOWS} >= {"ci", "release"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_only_reads(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job.get("permissions") == MORE.get((path.stem, name)), name
    # It would run a stranger's code with our secrets; YAML reads `on` as a truth value.
    assert "pull_request_target" not in workflow[True]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_named_by_their_commit_and_version(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if " uses: " in line]
    assert len(lines) == sum("uses" in step for step in steps(path))
    for line in lines:
        assert re.search(r" uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_step_keeps_the_token_or_runs_what_strangers_wrote(path: Path) -> None:
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        assert not FROM_STRANGERS.search(step.get("run", "")), step


def test_an_action_has_one_version_in_all_workflows() -> None:
    used = {step["uses"] for path in WORKFLOWS for step in steps(path) if "uses" in step}
    assert len(used) == len({one.partition("@")[0] for one in used})


def test_the_workflow_of_the_guide_is_as_careful(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "conform.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"(?ms)^```yaml[^\n]*workflows[^\n]*\n(.*?)^```$", text)
    path = tmp_path / "conform.yml"
    path.write_text(block, encoding="utf-8")
    test_a_workflow_only_reads(path)
    test_actions_are_named_by_their_commit_and_version(path)
    test_no_step_keeps_the_token_or_runs_what_strangers_wrote(path)
    # Its actions are those of our own workflows.
    ours = {step["uses"] for one in WORKFLOWS for step in steps(one) if "uses" in step}
    assert {step["uses"] for step in steps(path) if "uses" in step} <= ours


def test_releases_are_built_by_the_pinned_maturin() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    (pinned,) = [line.partition("==")[2] for line in pins if line.startswith("maturin==")]
    built = [step for step in steps(ROOT / ".github/workflows/release.yml") if "uses" in step]
    versions = [
        step["with"]["maturin-version"] for step in built if step["uses"].startswith("PyO3/")
    ]
    assert set(versions) == {f"v{pinned}"}
