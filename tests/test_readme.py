"""What the README shows works as it stands there."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_the_example_in_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(example, names)
    assert "result" in names
    assert (tmp_path / "trace.html").stat().st_size > 10_000


def test_every_file_it_names_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text())
    assert len(links) > 5
    for link in links:
        assert (README.parent / link).exists(), link
