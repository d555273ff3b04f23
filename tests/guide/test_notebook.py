"""How results are displayed in notebooks, and the three notebooks of the guide."""

import importlib
from pathlib import Path

import nbformat
import pytest
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

import rtolab
from rtolab import sweep
from rtolab.diagnosis import diagnose
from rtolab.judging import confusions
from rtolab.notebook import html

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
CAPTURE = ROOT / "tests" / "captures" / "stall-3s-none-frto-off.sender.pcapng.gz"


def test_terminal_output_becomes_html() -> None:
    table = Table(title="A title")
    table.add_column("name")
    table.add_column("s", justify="right")
    table.add_row(Text("a < b", "bold"), "1.5")
    shown = html(Group(Text.assemble(("so", "bold"), " it is"), Padding(table, (0, 0, 0, 2))))
    assert "<b>so</b> it is" in shown
    assert "<b>a &lt; b</b>" in shown
    assert "text-align:right" in shown
    assert "A title" in shown


def test_results_are_displayed_without_colours_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text('scenario = "frto2002-delays"\nruns = 1\n')
    done = sweep.run(sweep.load(tmp_path / "sweep.toml"), tmp_path / "out", sweep.Threads(1))
    result = rtolab.run("frto2002-delays", sender=["sack", "sack+frto"], judge="eifel")
    shown = {
        "sack+frto": result._repr_html_(),
        "eifel": confusions(result)._repr_html_(),
        "10.0.0.": diagnose(CAPTURE)._repr_html_(),
        "1 chunks are finished": done._repr_html_(),
    }
    for word, page in shown.items():
        assert word in page
        assert "color:inherit" in page
        assert "#" not in page.replace("&#", "").replace(">#", ""), "a colour of our own"
    assert repr(result) == "<Result of frto2002-delays: 2 runs>"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert {"markdown", "code"} == {cell.cell_type for cell in notebook.cells}
    assert not any(cell.get("outputs") for cell in notebook.cells)


def test_there_are_three_notebooks() -> None:
    # They are executed where the site is built: a cell that raises ends that (test_site.py).
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["compare-senders", "diagnose-a-capture", "write-a-detector"]


def test_a_kernel_says_nothing_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools" / "guide")
    executed = importlib.import_module("notebooks").executed
    notebook = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    late = "import atexit, os\natexit.register(os.write, 2, b'late')\n1 + 1"
    notebook.cells = [nbformat.v4.new_code_cell(late)]  # type: ignore[no-untyped-call]
    nbformat.write(notebook, tmp_path / "late.ipynb")  # type: ignore[no-untyped-call]
    (cell,) = executed(tmp_path / "late.ipynb").cells
    assert cell.outputs[0].data["text/plain"] == "2"
    assert capfd.readouterr() == ("", "")
