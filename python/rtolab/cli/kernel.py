"""`rtolab kernel`: kernels that run as guests on a virtual clock."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rtolab._rtolab import Error
from rtolab.cli.options import AsJson
from rtolab.cli.terminal import print_json, stdout
from rtolab.process import ends_in_order
from rtolab.run import MOST_JOBS

if TYPE_CHECKING:
    from rtolab.kernel import Kernel


class Action(StrEnum):
    """What to do with kernels."""

    BUILD = "build"
    LIST = "list"
    REMOVE = "remove"


def kernel(
    action: Annotated[Action, typer.Argument(help="What to do.")],
    name: Annotated[
        str | None,
        typer.Argument(help="A name for the kernel; by default the version or the tree's name."),
    ] = None,
    *,
    source: Annotated[
        Path | None, typer.Option(help="A tree of Linux's sources to build; it is only read.")
    ] = None,
    version: Annotated[
        str | None, typer.Option(help="The version of Debian's linux-source package to build.")
    ] = None,
    hz: Annotated[
        int, typer.Option(min=100, max=1000, help="The kernel's timer interrupts per second.")
    ] = 1000,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=MOST_JOBS, help="Compilers at a time.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build a kernel for --virtual, list the built kernels, or remove one.

    A kernel is built once, in some minutes, as a program (User Mode Linux) in the cache folder.
    """
    from rtolab import kernel as guests  # noqa: PLC0415

    if action is not Action.BUILD and (source or version):
        raise Error("--source and --version say what to build")
    if action is Action.LIST:
        found = guests.kernels()
        if as_json:
            print_json([_document(one) for one in found])
            return
        for one in found:
            size = f"{one.bytes / 1e6:.0f} MB"
            stdout().print(f"{one.name}  {one.title}  from {one.source}  {size}", highlight=False)
        if not found:
            stdout().print("none; `rtolab kernel build` builds one", highlight=False)
        return
    if action is Action.REMOVE:
        if name is None:
            raise Error("`rtolab kernel remove` needs a name of `rtolab kernel list`")
        done = guests.remove(name)
    else:
        if source and version:
            raise Error("--source and --version are two ways to name a kernel; give one of them")
        with ends_in_order():
            done = guests.build(
                source=source,
                version=version or guests.VERSION,
                name=name,
                hz=hz,
                jobs=jobs,
                say=lambda text: typer.echo(text, err=True),
            )
    if as_json:
        print_json(_document(done))
    else:
        word = "built" if action is Action.BUILD else "removed"
        stdout().print(f"{word} {done.name}: {done.title}", highlight=False)


def _document(kernel: Kernel) -> dict[str, Any]:
    return asdict(kernel) | {"folder": str(kernel.folder)}
