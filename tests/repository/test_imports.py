"""Few modules are imported at the start, so that commands start quickly."""

import ast
import os
import sys
from collections.abc import Container, Iterator
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

import rtolab
from program import execute

SLOW = {"altair", "asyncio", "distributed", "numpy", "polars", "starlette", "vl_convert"}
"""Modules that take longer to import than everything else."""
LOADED = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


@pytest.mark.parametrize(
    ("what", "also"),
    [
        ("import rtolab", {"rich", "typer"}),
        ("import rtolab.cli", set()),
        (("import sys; sys.argv = ['rtolab', '--help']\nimport rtolab.cli\n"
         "try: rtolab.cli.main()\nexcept SystemExit: pass"), set()),
        (("import sys; sys.argv = ['rtolab', '--version']\nimport rtolab.cli\n"
         "try: rtolab.cli.main()\nexcept SystemExit: pass"), {"pydantic", "rich"}),
    ],
    ids=["import", "command line", "help", "version"],
)  # fmt: skip
def test_no_slow_module_is_imported(what: str, also: set[str]) -> None:
    done = execute(sys.executable, "-c", f"{what}\n{LOADED}", check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "rtolab" in loaded
    assert not loaded & (SLOW | also)


@pytest.mark.parametrize("arguments", [("-c", "import rtolab"), ("-m", "rtolab.cli", "--help")])
def test_commands_start_quickly(arguments: tuple[str, ...]) -> None:
    # 40 and 200 ms of processor time, which a busy machine does not prolong much.
    times = [os.times().children_user]
    for _ in range(5):
        execute(sys.executable, *arguments, check=True)
        times.append(os.times().children_user)
    assert min(after - before for before, after in pairwise(times)) < 2.0


def test_no_modules_import_each_other_in_a_circle() -> None:
    package = Path(rtolab.__file__).parent
    modules = {"rtolab._rtolab": package / "_rtolab.pyi"}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        modules[".".join(parts).removesuffix(".__init__")] = path
    graph = {
        module: {name for name in imported(path, modules) if name in modules} - {module}
        for module, path in modules.items()
    }
    assert "rtolab.tables" in graph["rtolab.judging"], "imports within functions count"
    TopologicalSorter(graph).prepare()  # Raises CycleError, which names the circle.


def imported(path: Path, modules: Container[str]) -> Iterator[str]:
    """The modules of the package that a file imports anywhere, except those only for types."""
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        match todo.pop():
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=otherwise):
                todo += otherwise
            case ast.ImportFrom(module=str(source), names=names):
                each = (f"{source}.{name.name}" for name in names)
                yield from (name if name in modules else source for name in each)
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case node:
                todo += ast.iter_child_nodes(node)
