"""The entry of the command line, and the table of its commands."""

from __future__ import annotations

import gc
import signal
import sys
import traceback
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from importlib.util import find_spec
from inspect import getdoc
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rtolab import _rtolab
from rtolab._rtolab import DetectorError, Error, InternalError, PrototypeError, SenderError
from rtolab.cli.terminal import BAD_INPUT, DEFECT, check_streams, complain
from rtolab.machine import check_machine, out_of
from rtolab.process import end_at_second_interrupt, ends_silently_without_reader

EXTRAS = {"dask": "distributed", "mcp": "mcp"}
FIRST_STEPS = """\
rtolab shows which retransmission timeouts were unnecessary, what they cost, and what helps.

  rtolab diagnose trace.pcapng              say why a capture's connections were slow
  rtolab run stall -s sack -s sack+frto     compare senders on a path that stalls
  rtolab serve --open                       explore a run in the browser
  rtolab demo                               measure a paper's tables, in seconds
  rtolab --help                             list all commands"""
HELP = "A laboratory for TCP retransmission timeouts."
SETTINGS = {"help_option_names": ["-h", "--help"]}

COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "demo": ("reproduce:demo", ("rtolab demo --out /tmp/demo",)),
    "list": ("names:list_", ("rtolab list senders",)),
    "explain": ("names:explain_", ("rtolab explain link.stalls",)),
    "run": (
        "run:run",
        ("rtolab run stall --sender sack --sender sack+frto --set link.radio.delay='400 ms'",),
    ),
    "import": (
        "importing:import_",
        ("rtolab import mahimahi cellular.up cellular.down --delay '20 ms' --out cellular.toml",),
    ),
    "record": (
        "record:record",
        (
            "rtolab record --serve",
            "rtolab record 192.0.2.1 --token 7e5b2c9a01d4f386 --out path.toml",
        ),
    ),
    "reproduce": (
        "reproduce:reproduce",
        ("rtolab reproduce frto2002/table1 --runs 30 --assume link.wireless.spikes.holds=service",),
    ),
    "emulate": (
        "emulate:emulate",
        (
            "rtolab emulate kernel-stall --set kernel.frto=0",
            "rtolab emulate hold -- ping -c 8 -i 0.5 {peer}",
        ),
    ),
    "compare": ("compare:compare", ("rtolab compare kernel-stall --runs 3",)),
    "kernel": ("kernel:kernel", ("rtolab kernel build --version 6.12", "rtolab kernel list")),
    "gateway": (
        "gateway:gateway",
        (
            "rtolab gateway --netns phone --route 0.0.0.0/0 -s sack+frto",
            "ip netns exec phone curl http://192.0.2.1/",
        ),
    ),
    "diagnose": (
        "diagnose:diagnose",
        ("tcpdump -c 100000 -w - tcp | rtolab diagnose - --html page.html",),
    ),
    "watch": (
        "watch:watch",
        ("rtolab watch eth0", "rtolab watch eth0 --port 443 --metrics 127.0.0.1:9435"),
    ),
    "tune": (
        "tune:tune",
        (
            "rtolab tune trace.pcapng",
            "rtolab tune --interface eth0 --duration 600 --apply --cgroup /sys/fs/cgroup/web",
        ),
    ),
    "wireshark": ("wireshark:wireshark", ("rtolab wireshark --install",)),
    "conform": ("conform:conform", ("rtolab conform --set kernel.frto=0 --out out/conform",)),
    "sweep": ("sweep:sweep", ("rtolab sweep delays.toml --out out/delays",)),
    "rare": (
        "rare:rare",
        ("rtolab rare frto2002-loss -s sack --at-least 5",),
    ),
    "plot": (
        "plot:plot",
        (
            "rtolab plot out/delays --column acm --out delays.pdf",
            "rtolab plot out/run --sender sack --sender sack+frto --between 20 40 --out trace.pdf",
        ),
    ),
    "serve": ("serve:serve", ("rtolab serve --open --browse out/delays",)),
    "mcp": ("mcp:mcp", ("rtolab mcp",)),
    "schema": ("names:schema", ("rtolab schema > scenario.schema.json",)),
}
"""For each command its module and function, and examples."""


class _Commands(MutableMapping[str, Any]):
    """The commands by name. Each is imported at its first use: imports take most of the start."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            place, examples = COMMANDS[name]
            self._loaded[name] = _command(name, place, examples)
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _command(name: str, place: str, examples: tuple[str, ...]) -> Any:
    """Import a command."""
    module, function = place.split(":")
    callback = getattr(import_module(f"rtolab.cli.{module}"), function)
    # A help text is as wide as the terminal, not as the source.
    paragraphs = (getdoc(callback) or "").split("\n\n")
    shown = ", ".join(f"[bold]{example}[/bold]" for example in examples)
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich", context_settings=SETTINGS)
    alone.command(
        name,
        help="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs),
        epilog=f"Example: {shown}",
    )(callback)
    return typer.main.get_command(alone)


class _Group(TyperGroup):
    """`rtolab`, whose commands are imported when they are used."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": {}})
        self.commands = _Commands()


app = typer.Typer(
    name="rtolab",
    help=HELP,
    cls=_Group,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings=SETTINGS,
    invoke_without_command=True,
)


def _print_version(wanted: bool) -> None:
    """Print the version, and stop."""
    if wanted:
        commit = f" (commit {_rtolab.__commit__})" if _rtolab.__commit__ else ""
        extras = [extra for extra, module in EXTRAS.items() if find_spec(module)]
        typer.echo(f"rtolab {_rtolab.__version__}{commit}")
        typer.echo(f"extras: {', '.join(extras) or 'none'} (of {', '.join(EXTRAS)})")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Version, commit and extras."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(FIRST_STEPS)


def main() -> None:
    """Run the command line and exit."""
    # Loaded modules stay. Collecting garbage among them, for the last time at exit, takes a third
    # as long as loading them.
    gc.freeze()
    check_streams()
    end_at_second_interrupt()
    try:
        with ends_silently_without_reader():
            check_machine()
            app()
    except BaseException as error:
        _explain(error)
        raise


def _explain(error: BaseException) -> None:
    """Print a message and exit, unless the error is an unexpected defect of ours."""
    match error:
        case InternalError():
            complain(str(error), DEFECT)
        case PrototypeError():
            if error.__cause__:
                # An error in the user's program: the traceback shows where.
                sys.stderr.write("".join(traceback.format_exception(error.__cause__)))
            complain(str(error), BAD_INPUT)
        case SenderError():
            what = "detectors" if isinstance(error, DetectorError) else "senders"
            complain(f"{error}\n`rtolab list {what}` explains them", BAD_INPUT)
        case Error():
            complain(str(error), BAD_INPUT)
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            is_file = isinstance(error, FileExistsError)
            why = "found a file; expected a folder" if is_file else error.strerror or error
            complain(f"{place}{why}", BAD_INPUT)
        case UnicodeEncodeError():
            complain(f"{error.object!a}: this is no text in UTF-8", BAD_INPUT)
        case KeyboardInterrupt():
            sys.exit(128 + signal.SIGINT)
    resource = out_of(error)
    if resource:
        complain(resource, BAD_INPUT)
