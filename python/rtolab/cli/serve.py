"""The command `rtolab serve`."""

from __future__ import annotations

import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from rtolab._rtolab import Error
from rtolab.cli.terminal import finite
from rtolab.run import MOST_JOBS

if TYPE_CHECKING:
    from rtolab.serve.limits import Limits

ADDRESS = "127.0.0.1"
NEEDED = ("starlette", "uvicorn")


def serve(
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 for any free one.")
    ] = 8642,
    open_: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
    browse: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="A folder with results of sweeps or of reproduce; repeatable."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=MOST_JOBS, help="Runs at a time; by default 2.")
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(min=0.1, max=3600, callback=finite, help="The time limit of a run, in s."),
    ] = 20.0,
) -> None:
    """Serve the explorer: scenarios, senders and captures in the browser of this machine."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        names = " and ".join(missing)
        raise Error(
            f"{names} {'is' if len(missing) == 1 else 'are'} missing; install what the explorer "
            f"needs:  {sys.executable} -m pip install {' '.join(NEEDED)}"
        )
    from rtolab.serve.limits import Limits  # noqa: PLC0415

    limits = Limits(at_once=jobs or Limits.at_once, run_s=time_limit)
    with _listening(port) as listener:
        _run(listener, limits, browse or [], opens=open_)


def _listening(port: int) -> socket.socket:
    """A socket at that port, which only this machine reaches.

    Raises:
        Error: the port is in use, or not permitted.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
    except OSError as error:
        listener.close()
        raise Error(
            f"port {port} cannot be used ({error.strerror}); choose another one with --port, or "
            "any free one with --port 0"
        ) from None
    return listener


def _run(listener: socket.socket, limits: Limits, browse: list[Path], *, opens: bool) -> None:
    import uvicorn  # noqa: PLC0415

    from rtolab.serve.app import Explorer  # noqa: PLC0415

    address = f"http://{ADDRESS}:{listener.getsockname()[1]}/"

    class Server(uvicorn.Server):
        """Prints its address once it listens, and ends immediately at the second signal."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if self.should_exit:
                os._exit(128 + sig)  # The second time: at once.
            super().handle_exit(sig, frame)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if explorer.unable:
                self.should_exit = True
            elif self.started:
                try:
                    sys.stdout.write(f"The explorer is at {address}  (Ctrl-C ends it)\n")
                    sys.stdout.flush()
                except BrokenPipeError:
                    self.should_exit = True  # Nobody learns the address.
                if opens:
                    import webbrowser  # noqa: PLC0415

                    webbrowser.open(address)

    explorer = Explorer(limits, browse)
    config = uvicorn.Config(
        explorer.app(),
        # Not what happens to be installed: h11 limits headers, and we speak no WebSocket.
        http="h11",
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    Server(config).run(sockets=[listener])
    if explorer.unable:
        raise explorer.unable
