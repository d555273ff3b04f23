"""`rtolab import`: recorded series as scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rtolab.cli.terminal import name_files


def import_(
    form: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="mahimahi.",
        ),
    ],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="The recorded series; mahimahi: UP DOWN."),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The scenario; its series are written beside it.")],
    rate: Annotated[
        str | None, typer.Option(help="The rate, if the series has none, such as '20 Mbit/s'.")
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(help="The delay of each direction, if the series has none, such as '20 ms'."),
    ] = None,
    queue: Annotated[
        str | None, typer.Option(help="The limit of the queues, such as '100 packets'.")
    ] = None,
) -> None:
    """Turn the recorded series of another program into a scenario.

    The scenario has one link, `path`, between `server` and `client`, and a download.
    """
    from rtolab.paths import Stated, read_path, write_scenario  # noqa: PLC0415

    path = read_path(form, files)
    name_files(write_scenario(path, out, Stated(rate=rate, delay=delay, queue=queue)))
