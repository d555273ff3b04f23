"""`rtolab kernel`: kernels that run as guests on a virtual clock."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rtolab._rtolab import Error
from rtolab.cli.options import AsJson
from rtolab.cli.terminal import print_json, stdout
from rtolab.process import ends_in_order
from rtolab.run import MOST_JOBS

kernel = typer.Typer(
    name="kernel",
    help="Build, list and remove the kernels of --virtual.",
    no_args_is_help=True,
)


@kernel.command(epilog="Example: [bold]rtolab kernel build --version 6.12[/bold]")
def build(
    *,
    source: Annotated[
        Path | None, typer.Option(help="A tree of Linux's sources; it stays as it is.")
    ] = None,
    version: Annotated[
        str | None, typer.Option(help="The version of Debian's linux-source package: 6.12.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Its name here; by default the version or the tree's name.")
    ] = None,
    hz: Annotated[int, typer.Option(min=100, max=1000, help="Timer interrupts a second.")] = 1000,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=MOST_JOBS, help="Compilers at a time.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build a kernel as a program, in the cache folder: some minutes, once."""
    from rtolab import kernel as guests  # noqa: PLC0415

    if source and version:
        raise Error("--source and --version are two ways to name a kernel, of which one is needed")
    with ends_in_order():
        made = guests.build(
            source=source,
            version=version or "6.12",
            name=name,
            hz=hz,
            jobs=jobs,
            say=lambda text: typer.echo(text, err=True),
        )
    if as_json:
        print_json(asdict(made) | {"folder": str(made.folder)})
    else:
        stdout().print(f"built {made.name}: {made.title}", highlight=False)


@kernel.command("list", epilog="Example: [bold]rtolab kernel list[/bold]")
def list_(*, as_json: AsJson = False) -> None:
    """List the kernels that were built."""
    from rtolab import kernel as guests  # noqa: PLC0415

    found = guests.kernels()
    if as_json:
        print_json([asdict(one) | {"folder": str(one.folder)} for one in found])
        return
    for one in found:
        size = f"{one.bytes / 1e6:.0f} MB"
        stdout().print(f"{one.name}  {one.title}  from {one.source}  {size}", highlight=False)
    if not found:
        stdout().print("none; `rtolab kernel build` builds one", highlight=False)


@kernel.command(epilog="Example: [bold]rtolab kernel remove 6.12[/bold]")
def remove(name: Annotated[str, typer.Argument(help="As `rtolab kernel list` shows it.")]) -> None:
    """Remove a kernel."""
    from rtolab import kernel as guests  # noqa: PLC0415

    stdout().print(f"removed {guests.remove(name).folder}", highlight=False)
