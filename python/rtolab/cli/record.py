"""`rtolab record`: measure a path and write it as a scenario."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from rtolab._rtolab import Error
from rtolab.cli.terminal import announce, finite, name_files, progressing, stdout

DAY_S = 86_400


def record(  # noqa: PLR0913  (all but the first are options)
    host: Annotated[
        str | None,
        typer.Argument(
            help="The other end, HOST or HOST:PORT, where `rtolab record --serve` runs."
        ),
    ] = None,
    *,
    serve: Annotated[
        bool, typer.Option("--serve", help="Answer measurements until Ctrl-C, instead of HOST.")
    ] = False,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What both ends must know; by default --serve makes one and prints it.",
        ),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="ADDR:PORT",
            help="The address and UDP port of --serve; by default all addresses, port 9436.",
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="End --serve after one measurement.")
    ] = False,
    out: Annotated[
        Path, typer.Option(help="The scenario; its series are written beside it.")
    ] = Path("path.toml"),
    duration: Annotated[
        float,
        typer.Option(min=1, max=DAY_S, callback=finite, help="Seconds to measure."),
    ] = 30,
    interval: Annotated[
        float,
        typer.Option(
            min=0.001, max=10, callback=finite, help="Seconds between two single probes of 100 B."
        ),
    ] = 0.02,
    train: Annotated[
        int,
        typer.Option(
            min=0, max=100, help="Probes of 1200 B in a train, which shows the rate; 0 for none."
        ),
    ] = 16,
    train_every: Annotated[
        float, typer.Option(min=0.05, max=60, callback=finite, help="Seconds between two trains.")
    ] = 0.5,
    queue: Annotated[
        str | None,
        typer.Option(help="The limit of the scenario's queues, such as '100 packets'."),
    ] = None,
) -> None:
    """Measure the path between two hosts in both directions, and write it as a scenario.

    Run `rtolab record --serve` at one end and `rtolab record HOST` at the other. Single probes
    show the delays, losses and outages, trains the rate. Ctrl-C keeps what was measured so far.
    """
    if serve == (host is not None):
        found = "both" if serve else "neither"
        raise Error(f"HOST or --serve: found {found}; expected one of them")
    if serve:
        _serve(token, listen, once)
        return
    if listen is not None or once:
        raise Error(f"{'--listen' if listen else '--once'}: only with --serve")
    if token is None:
        raise Error("--token: found none; expected the one that `rtolab record --serve` printed")
    from rtolab.paths import Stated, write_scenario  # noqa: PLC0415
    from rtolab.paths.recording import Plan, measured_path  # noqa: PLC0415
    from rtolab.paths.recording import record as measure  # noqa: PLC0415

    # Nothing is measured that could not be written.
    if out.suffix != ".toml":
        raise Error(f"--out {out}: expected the name of a scenario, such as path.toml")
    if not out.parent.is_dir():
        raise Error(f"--out {out}: found no folder {out.parent}")
    plan = Plan(duration, interval, train_every, train)
    assert host is not None
    with progressing(f"measuring the path to {host}, in seconds") as progress:
        measurement = measure(host, token, plan, progress)
    path = measured_path(measurement)
    files = write_scenario(path, out, Stated(queue=queue))
    stdout().print("\n".join(path.origin), highlight=False, soft_wrap=True)
    name_files(files)


def _serve(token: str | None, listen: str | None, once: bool) -> None:
    from rtolab.paths.recording.server import listening, serve  # noqa: PLC0415

    token = secrets.token_hex(8) if token is None else token
    if not token:
        raise Error("--token: found an empty one; expected some text that strangers do not know")

    with listening(listen) as link:
        address, port = link.getsockname()[:2]
        where = "HOST" if address in {"::", "0.0.0.0"} else address  # noqa: S104
        place = f"[{where}]:{port}" if ":" in where else f"{where}:{port}"
        announce(f"answers on UDP port {port}; Ctrl-C ends it. At the other end:")
        announce(f"rtolab record {place} --token {token} --out path.toml")
        serve(link, token, report=announce, once=once)
