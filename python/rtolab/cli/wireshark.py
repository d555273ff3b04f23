"""The command `rtolab wireshark`."""

from pathlib import Path
from typing import Annotated

import typer

from rtolab.cli.terminal import BAD_INPUT, complain, name_files, stdout


def wireshark(
    *,
    install: Annotated[
        bool, typer.Option("--install", help="Install the plugin and the profile `rtolab`.")
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="With --install: a configuration folder of Wireshark, instead of your own.",
        ),
    ] = None,
) -> None:
    """Show the findings of `rtolab diagnose --annotate` as fields and colours of Wireshark.

    Without --install it prints the path of the plugin, for tshark -X lua_script:PATH.
    """
    from rtolab import wireshark as plugin  # noqa: PLC0415

    if not install:
        if to:
            complain("--to: only with --install", BAD_INPUT)
        stdout().print(str(plugin.PLUGIN), highlight=False, soft_wrap=True)
        return
    written, kept = plugin.install(to)
    name_files(written)
    for path in kept:
        stdout().print(f"kept {path}: Wireshark has changed it", highlight=False, soft_wrap=True)
