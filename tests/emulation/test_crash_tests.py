"""The script that measures the tables of the crash tests."""

import json
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "crash-tests"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    loader = SourceFileLoader("crash_tests", str(TOOL))
    spec = spec_from_loader("crash_tests", loader)
    assert spec
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "crash_tests", module)
    loader.exec_module(module)
    return module


def result(title: str, *scenarios: tuple[str, float]) -> dict[str, Any]:
    usual = {
        "ended": "recovered",
        "excess_s": 2.0,
        "link_s": 0.5,
        "declared_losses": 4,
        "spurious_losses": 3,
        "resume_s": None,
    }
    return {
        "stack": title,
        "left_out": [],
        "scenarios": [{"id": name, "score": score, **usual} for name, score in scenarios],
    }


def written(folder: Path, name: str, *documents: dict[str, Any]) -> None:
    for seed, document in enumerate(documents, 1):
        (folder / f"{name}-{seed}.json").write_text(json.dumps(document))


def test_a_stack_is_a_column_and_a_path_that_it_cannot_complete_a_dash(
    tool: ModuleType, tmp_path: Path
) -> None:
    both = [("access-reordering-2ms", 10.0), ("dc-tail-1", 90.0)]
    written(tmp_path, "quic-go", result("quic-go 1", *both), result("quic-go 1", *both))
    written(tmp_path, "lwip", result("lwip 2", both[0]) | {"left_out": ["dc-tail-1"]})
    written(tmp_path, "noq", result("noq 1", both[0]))
    written(tmp_path, "linux", result("Linux 6", *both))
    text = tool.tables(tool.columns(tmp_path))
    titles = tool.read_tables(text)[0]
    assert [title.split()[0] for title in titles] == ["Linux", "lwip", "noq", "quic-go"]
    assert "| `dc-tail-1` | 90 | - |  | 90 |" in text
    assert "| **mean** | **50.0** | **10.0** of 1 | **10.0** of 1 | **50.0** |" in text
    assert "| seeds | 1 | 1 | 1 | 2 |" in text
    assert "| `access-reordering-2ms` | 1.50 (3/4) | 1.50 (3/4) | 1.50 (3/4) | 1.50 (6/8) |" in text


def test_stacks_without_new_results_keep_their_columns(tool: ModuleType, tmp_path: Path) -> None:
    page, folder = tmp_path / "page.md", tmp_path / "results"
    folder.mkdir()
    written(folder, "linux", result("Linux 6", ("tail-2", 60.0), ("stall-3s", 40.0)))
    written(folder, "quinn", result("quinn 0.11", ("tail-2", 50.0)))
    first = tool.tables(tool.columns(folder))
    page.write_text(f"before\n{tool.BEGIN}\n{first}\n{tool.END}after\n")
    before = page.read_text()
    tool.publish(first, page)
    assert page.read_text() == before
    for path in folder.iterdir():
        path.unlink()
    written(folder, "noq", result("noq 1.4", ("tail-2", 70.0)))
    written(folder, "quinn", result("quinn 0.12", ("tail-2", 51.0)))
    tool.publish(tool.tables(tool.columns(folder)), page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| path | Linux 6 | noq 1.4 | quinn 0.12 |\n|---|--:|--:|--:|\n" in text
    assert "| `tail-2` | 60 | 70 | 51 |\n| `stall-3s` | 40 |  |  |\n" in text
    assert "| **mean** | **50.0** | **70.0** | **51.0** |\n| seeds | 1 | 1 | 1 |\n" in text


def test_only_what_is_missing_is_measured(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[tuple[str, int]] = []

    def run(name: str, seed: int) -> dict[str, Any]:
        measured.append((name, seed))
        return result(name, ("tail-2", 1.0))

    monkeypatch.setattr(tool, "run", run)
    written(tmp_path, "quinn", result("quinn 0.11", ("tail-2", 50.0)))
    tool.measure(["linux", "quinn"], 2, tmp_path)
    assert measured == [("linux", 1), ("linux", 2), ("quinn", 2)]
    assert json.loads((tmp_path / "quinn-1.json").read_text())["stack"] == "quinn 0.11"


def test_the_page_has_the_stacks_side_by_side(tool: ModuleType) -> None:
    text = tool.PAGE.read_text()
    assert tool.BEGIN in text
    assert tool.END in text
    measured = text.partition(tool.BEGIN)[2].partition(tool.END)[0]
    assert len(tool.read_tables(measured)[0]) >= 8


def test_options_may_come_before_the_stacks(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(tool, "measure", lambda *given: asked.extend(given))
    for words in (["--seeds", "3", "linux", "quinn"], ["linux", "quinn", "--seeds", "3"]):
        monkeypatch.setattr("sys.argv", ["crash-tests", str(tmp_path), *words])
        tool.main()
    assert asked == [["linux", "quinn"], 3, tmp_path] * 2
