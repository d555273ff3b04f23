"""`rtolab import`: recorded series as scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rtolab.cli.terminal import finite, name_files


def import_(
    form: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="mahimahi (UP DOWN, or one TRACE for both), cellreplay "
            "(UP-TRAINS DOWN-TRAINS UP DOWN, as mm-cellular takes them), ping (its output, best of "
            "`ping -D`), "
            "irtt (RESULT.json), or hypatia (networkx_rtt_A_to_B.txt, also with networkx_path).",
        ),
    ],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="The recorded series."),
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
    interval: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            callback=finite,
            help="Seconds between two requests of ping without -D; default: 1.",
        ),
    ] = None,
) -> None:
    """Turn the recorded series of another program into a scenario.

    The scenario has one link, `path`, between `server` and `client`, and a download.
    """
    from rtolab.paths import Stated, read_path, write_scenario  # noqa: PLC0415

    path = read_path(form, files, interval)
    stated = Stated(rate=rate, delay=delay, queue=queue)
    name_files(write_scenario(path, out, stated, inputs=files))
