"""The notebooks of the guide, executed and converted to pages."""

import base64
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
TIMEOUT_S = 120
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def executed(path: Path) -> Any:
    """Execute a notebook in a folder of its own, and return it with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raises.
    """
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=TIMEOUT_S, resources=resources)
        client.extra_arguments = ["--IPKernelApp.log_level=ERROR"]
        # Asked to shut down, a kernel now and then writes through a socket it has closed.
        client.shutdown_kernel = "immediate"
        client.execute()
    return notebook


@cache
def _all() -> dict[str, Any]:
    return {path.stem: executed(path) for path in sorted(FOLDER.glob("*.ipynb"))}


def pages() -> dict[str, str]:
    """All notebooks as Markdown, by path in the guide."""
    return {
        f"notebooks/{name}.md": "\n".join(_page(name, notebook)) + "\n"
        for name, notebook in _all().items()
    }


def pictures() -> dict[str, str | bytes]:
    """Their figures, by path."""
    return {
        f"notebooks/{_picture(name, place, kind)}": content
        for name, notebook in _all().items()
        for place, data in _outputs(notebook)
        for kind, content in _images(data)
    }


def _page(name: str, notebook: Any) -> Iterator[str]:
    below = f"*The notebook itself: [{name}.ipynb]({name}.ipynb).*"
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            yield cell.source
        elif cell.cell_type == "code":
            yield f"```python\n{cell.source}\n```"
            for place, data in _cell_outputs(number, cell):
                yield from _shown(name, place, data)
        yield ""
        if number == 0:
            yield f"{below}\n"


def _outputs(notebook: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            yield from _cell_outputs(number, cell)


def _cell_outputs(number: int, cell: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for index, output in enumerate(cell.outputs):
        place = f"{number}-{index}"
        if output.output_type == "stream":
            yield place, {"text/plain": output.text}
        else:
            yield place, output.data


def _shown(name: str, place: str, data: dict[str, Any]) -> Iterator[str]:
    images = list(_images(data))
    if images:
        yield f"\n![The output of the cell above]({_picture(name, place, images[0][0])})"
    elif "text/html" in data:
        shown = re.sub(r"\n\s*\n", "\n", data["text/html"]).strip()
        yield f'\n<div class="output">\n{shown}\n</div>'
    else:
        text = ESCAPE.sub("", data["text/plain"]).rstrip("\n")
        yield f"\n```text\n{text}\n```"


def _images(data: dict[str, Any]) -> Iterator[tuple[str, str | bytes]]:
    if "image/svg+xml" in data:
        yield "svg", data["image/svg+xml"]
    elif "image/png" in data:
        yield "png", base64.b64decode(data["image/png"])


def _picture(name: str, place: str, kind: str) -> str:
    return f"{name}-{place}.{kind}"
