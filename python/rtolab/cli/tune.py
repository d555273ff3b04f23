"""`rtolab tune`: the minimum RTO that the paths of a host allow."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.cli.options import AsJson
from rtolab.cli.terminal import (
    BAD_INPUT,
    SAYS_NO,
    complain,
    finite,
    name_files,
    print_json,
    progressing,
    stdout,
)
from rtolab.files import check_targets
from rtolab.process import notice_interrupts

if TYPE_CHECKING:
    from rtolab.tuning import Source, Tuning

POLL_S = 0.5
MB = 1 << 20


def tune(  # noqa: PLR0913  (all but the first are options)
    capture: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CAPTURE",
            help="pcap or pcapng, also compressed by gzip or zstd; - for stdin.",
        ),
    ] = None,
    *,
    interface: Annotated[
        str | None,
        typer.Option(help="Watch this interface, or `any`, instead of reading captures."),
    ] = None,
    duration: Annotated[
        float,
        typer.Option(min=1, callback=finite, help="Seconds to watch, with --interface."),
    ] = 60.0,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Only this port, with --interface."),
    ] = None,
    prefix: Annotated[
        int, typer.Option(min=0, max=32, help="Length of the IPv4 prefixes of path classes.")
    ] = 24,
    prefix6: Annotated[int, typer.Option(min=0, max=128, help="The same for IPv6.")] = 48,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="STEM", help="Write the picture of the first class as SVG."),
    ] = None,
    apply: Annotated[
        bool,
        typer.Option("--apply", help="Load the recommendation into the kernel, for a cgroup."),
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Remove what --apply loaded; needs no capture.")
    ] = False,
    cgroup: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The cgroup (version 2) of --apply and --undo."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recommend the minimum RTO of Linux, its maximum and its delayed ACKs for your paths.

    Replays the timers that other minimums would have had on the round trips of captures, or of an
    interface: how many timeouts would have been spurious, and how much earlier losses would have
    been repaired.

    Exit status: 1 if --apply finds nothing to set.
    """
    if undo:
        _undo(cgroup, given=bool(capture or interface or apply))
        return
    if bool(capture) == (interface is not None):
        complain("a CAPTURE or --interface is needed, and not both", BAD_INPUT)
    if apply and cgroup is None:
        complain("--apply: --cgroup FOLDER is needed, such as /sys/fs/cgroup/web", BAD_INPUT)
    if plot is not None:
        if not plot.name:
            raise Error(f"--plot {plot}: found a folder; expected a file, without its suffix .svg")
        check_targets([(f"--plot {plot}", plot.with_name(f"{plot.name}.svg"))], capture or [])
    from rtolab.tuning import tune as recommend  # noqa: PLC0415

    sources = [_watched(interface, port, duration)] if interface else _read(capture or [])
    found = recommend(sources, prefix=prefix, prefix6=prefix6)
    _show(found, plot, as_json=as_json)
    if apply and cgroup is not None:
        _apply(found, cgroup)


def _read(captures: list[str]) -> list[Source]:
    from rtolab.tuning import source  # noqa: PLC0415

    notice_interrupts()
    sources = []
    for name in captures:
        with progressing(f"reading {name}") as progress:
            rows = _rtolab.diagnose(name, progress=progress, timers=True)
        document = json.loads(rows.json())
        if document["error"]:
            raise Error(f"{name}: {document['error']}")
        sources.append(source(name, rows, document["summary"]))
    return sources


def _watched(interface: str, port: int | None, duration: float) -> Source:
    from rtolab.tuning import source  # noqa: PLC0415

    watcher = _rtolab.TimerWatcher(interface, port=port, ring=32 * MB)
    until = time.monotonic() + duration
    with suppress(KeyboardInterrupt), progressing(f"watching {interface}") as progress:
        while (left := until - time.monotonic()) > 0:
            watcher.poll(min(left, POLL_S))
            progress(round(duration - max(left, 0.0)), round(duration))
    rows, drops = watcher.finish()
    if drops:
        complain(f"{interface}: the kernel dropped {drops} packets; use --port", BAD_INPUT)
    return source(interface, rows, json.loads(rows.json())["summary"])


def _show(found: Tuning, plot: Path | None, *, as_json: bool) -> None:
    from rtolab.tuning import text  # noqa: PLC0415

    written: list[Path] = []
    if plot is not None:
        if not found.classes:
            raise Error(f"--plot {plot}: {text.answer(found)}")
        from rtolab.plot.style import save  # noqa: PLC0415
        from rtolab.tuning.picture import picture  # noqa: PLC0415

        written = [save(picture(found.classes[0]), plot)]
    if as_json:
        print_json(text.document(found))
    else:
        stdout().print(text.page(found), highlight=False)
        name_files(written)


def _apply(found: Tuning, cgroup: Path) -> None:
    from rtolab.tuning import bpf  # noqa: PLC0415
    from rtolab.tuning.commands import rules  # noqa: PLC0415

    made = rules(found)
    if not made:
        complain("--apply: there is nothing to set", SAYS_NO)
    bpf.attach(cgroup, made)
    stdout().print(
        f"loaded for new connections of {cgroup}; to remove it: rtolab tune --undo --cgroup "
        f"{cgroup}",
        highlight=False,
        soft_wrap=True,
    )


def _undo(cgroup: Path | None, *, given: bool) -> None:
    from rtolab.tuning import bpf  # noqa: PLC0415

    if given:
        complain("--undo: no capture, --interface or --apply beside it", BAD_INPUT)
    if cgroup is None:
        complain("--undo: --cgroup FOLDER is needed, as given to --apply", BAD_INPUT)
        return
    count = bpf.detach(cgroup)
    what = "1 program" if count == 1 else f"{count} programs"
    stdout().print(
        f"removed {what} from {cgroup}; open connections keep their settings",
        highlight=False,
        soft_wrap=True,
    )
