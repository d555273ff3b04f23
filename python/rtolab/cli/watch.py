"""`rtolab watch`: verdicts on the live traffic of an interface."""

from __future__ import annotations

import ipaddress
import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.cli.terminal import announce, finite, print_lines, stdout
from rtolab.process import on_end_signal

if TYPE_CHECKING:
    from rtolab.watching import VerdictSource, WatchState

MB = 1 << 20
LINES_EVERY_S, VIEW_EVERY_S = 0.25, 1.0
METRICS_PORT = 9435


def watch(  # noqa: PLR0913  (all but the first are options)
    interface: Annotated[str, typer.Argument(help="The interface, or `any` for all of them.")],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each verdict as a JSON object, one per line.")
    ] = False,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="ADDR:PORT",
            help="Serve metrics for Prometheus at this address, under /metrics.",
        ),
    ] = None,
    without_packets: Annotated[
        bool,
        typer.Option(
            "--without-packets",
            help="Ask the kernel about this host's own connections; INTERFACE must be `any`.",
        ),
    ] = False,
    host: Annotated[str | None, typer.Option(help="Only packets from or to this host.")] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Only packets from or to this port.")
    ] = None,
    duration: Annotated[
        float | None, typer.Option(min=0, callback=finite, help="Seconds until the watch ends.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Paths shown, the worst first.")] = 10,
    connections: Annotated[
        int,
        typer.Option(min=1, max=1 << 20, help="The largest number of connections watched at once."),
    ] = 1 << 14,
    memory: Annotated[
        int, typer.Option(min=1, max=1 << 20, help="The largest memory of all connections, in MiB.")
    ] = 512,
    ring: Annotated[
        int, typer.Option(min=1, max=1024, help="The ring shared with the kernel, in MiB.")
    ] = 32,
    idle: Annotated[
        float,
        typer.Option(
            min=1, callback=finite, help="Seconds until an idle connection counts as closed."
        ),
    ] = 600,
) -> None:
    """Diagnose each retransmission and timeout on an interface as soon as its verdict settles.

    The verdicts and their keys are those of `rtolab diagnose`. Runs until Ctrl-C, then prints a
    summary. Needs Linux and the capability CAP_NET_RAW, which root has.
    """
    from rtolab.watching import WatchState  # noqa: PLC0415

    interface.encode()  # The extension would not say what is wrong with it.
    served = None if metrics is None else _endpoint(metrics)
    address = None if host is None else _address(host)
    watcher: VerdictSource
    if without_packets:
        watcher = _of_sockets(interface, host, port)
    else:
        watcher = _rtolab.Watcher(
            interface,
            host=address,
            port=port,
            ring=ring * MB,
            connections=connections,
            memory=memory * MB,
            idle_s=idle,
        )
    watching = WatchState(watcher, interface)
    end = _End(None if duration is None else time.monotonic() + duration)
    with end.noticed(), _served(watching, served):
        if as_json:
            _print_lines(watching, end)
        else:
            _show(watching, end, top)
    if end.signals and end.signals[0] != signal.SIGINT:
        raise typer.Exit(128 + end.signals[0])


@dataclass
class _End:
    """When the watch ends: at a time, or after a signal, which interrupts no output."""

    until: float | None
    signals: list[int] = field(default_factory=list)

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Note signals, and go on."""

        def note(number: int, _: object) -> None:
            self.signals.append(number)

        before = signal.getsignal(signal.SIGINT)
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, note)
        try:
            with on_end_signal(note):
                yield
        finally:
            signal.signal(signal.SIGINT, before)

    def left(self, most: float) -> float:
        """The time until the next output, in seconds; 0 at the end."""
        if self.signals:
            return 0.0
        return most if self.until is None else max(0.0, min(most, self.until - time.monotonic()))


def _of_sockets(interface: str, host: str | None, port: int | None) -> VerdictSource:
    from rtolab.watching.sockets import SocketWatcher  # noqa: PLC0415

    if interface != "any":
        raise Error(f"interface: found {interface}; with --without-packets expected any")
    if host is not None or port is not None:
        raise Error("--host and --port: not with --without-packets")
    return SocketWatcher()


def _print_lines(watching: WatchState, end: _End) -> None:
    try:
        while (wait := end.left(LINES_EVERY_S)) > 0:
            print_lines(watching.poll(wait))
    except KeyboardInterrupt:
        pass
    finally:  # If the interface disappears, too.
        print_lines([*watching.finish(), json.dumps(watching.summary)])


def _show(watching: WatchState, end: _End, top: int) -> None:
    from rich.live import Live  # noqa: PLC0415

    from rtolab.watching.view import view  # noqa: PLC0415

    console = stdout()
    live = (
        Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
    )
    if live is None:
        announce(f"watching {watching.interface}; Ctrl-C ends it")
    try:
        with live or nullcontext():
            due = 0.0
            while (wait := end.left(LINES_EVERY_S)) > 0:
                watching.poll(wait)
                if live is not None and time.monotonic() >= due:
                    due = time.monotonic() + VIEW_EVERY_S
                    live.update(view(watching, top), refresh=True)
    except KeyboardInterrupt:
        pass
    finally:  # If the interface disappears, too.
        watching.finish()
        console.print(view(watching, top))


def _served(
    watching: WatchState, address: tuple[str, int] | None
) -> AbstractContextManager[object]:
    if address is None:
        return nullcontext()
    from rtolab.watching.metrics import families, serving  # noqa: PLC0415

    return serving(address, lambda: families(watching.totals, watching.interface))


def _endpoint(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or not int(port) < 1 << 16:
        raise Error(f"--metrics {text}: expected ADDR:PORT, such as 127.0.0.1:{METRICS_PORT}")
    return host, int(port)


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(text, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Error(f"--host {text}: no address of `{text}` is known ({error})") from None
    return str(found[0][4][0])
