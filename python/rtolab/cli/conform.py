"""The command `rtolab conform`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.cli.emulate import guest_of
from rtolab.cli.options import AsJson, Virtual
from rtolab.cli.terminal import (
    SAYS_NO,
    announce,
    finite,
    name_files,
    pairs,
    print_json,
    progressing,
    stdout,
)
from rtolab.files import write_text
from rtolab.process import ends_in_order
from rtolab.run import LARGEST_SEED, MOST_JOBS
from rtolab.suites import Suite

if TYPE_CHECKING:
    from rtolab.conform import Scenario, Stack
    from rtolab.conform.report import Report
    from rtolab.kernel import Kernel


def conform(  # noqa: PLR0913  (all but the first are options)
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- CMD",
            help="The client: {server} is an address, {bytes} the size to fetch, {logs} a folder "
            "for qlogs. Without it the kernel's own TCP is scored.",
        ),
    ] = None,
    *,
    server: Annotated[
        str,
        typer.Option(
            metavar="CMD", help="The server; {files} is a folder of files named by their sizes."
        ),
    ] = "",
    stack: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|PATH",
            help="A stack with a recipe, instead of --server and CMD; linux is the kernel's own "
            "TCP. Again for more, side by side.",
        ),
    ] = None,
    which: Annotated[
        Suite, typer.Option("--suite", help="The scenarios: a suite, or a part of `fifty`.")
    ] = Suite.FIFTY,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this scenario of the suite; repeatable."),
    ] = None,
    lists: Annotated[
        bool, typer.Option("--list", help="List all suites and scenarios, and run none.")
    ] = False,
    name: Annotated[
        str, typer.Option(help="The stack's name in results.", show_default="kernel, or the client")
    ] = "",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="key=value for every scenario, such as kernel.frto=0; repeatable."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED // 2000, help="The seed.")] = 1,
    parallel: Annotated[
        int, typer.Option(min=1, max=MOST_JOBS, help="Scenarios at a time, each on its own hosts.")
    ] = 10,
    limit: Annotated[
        float,
        typer.Option(
            min=1, callback=finite, metavar="SECONDS", help="A longer transfer counts as hanging."
        ),
    ] = 60.0,
    lead: Annotated[
        float,
        typer.Option(
            min=0,
            callback=finite,
            metavar="SECONDS",
            help="How long the server may take to listen.",
        ),
    ] = 10.0,
    repeat: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Runs of each scenario on one seed; the median counts.",
            show_default="3 for a client in real time, else 1",
        ),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An earlier result to compare with.")
    ] = None,
    margin: Annotated[
        float,
        typer.Option(min=0, callback=finite, help="How far a score may fall below the baseline."),
    ] = 5.0,
    beside: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Another result to show beside this one; repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for conform.json, conform.xml and conform.html.")
    ] = None,
    virtual: Virtual = False,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A guest's kernel, with --virtual; repeat it to compare kernels.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score a stack on paths that delay and lose packets, in real time (Linux, root).

    With --virtual the hosts are guest kernels on a virtual clock: no root, and two runs are equal.

    Exits with 1 if a transfer does not end, or if a score falls below the baseline's.
    """
    from rtolab.conform import changes, recipes, report, run, suite  # noqa: PLC0415

    if lists:
        _list(as_json=as_json)
        return
    if bool(command) != bool(server):
        raise Error("a client needs a server and a server a client: --server CMD -- CMD")
    if stack and (command or name):
        raise Error("--stack has its own name, server and client; leave out --name, --server, CMD")
    names: list[str | None] = [*kernel] if kernel else [None]
    guests = [guest_of(one, virtual=virtual) for one in names]
    known = report.earlier(report.read(baseline), baseline, which, seed) if baseline else {}
    columns = [report.read(path) for path in beside or []]
    for path, column in zip(beside or [], columns, strict=True):
        report.check_suite(column, path, which)
    scenarios = _chosen(which, suite(which, seed), only or [])
    made = _stacks(stack or [], (name, server, command or []), pairs(set_, "--set"))
    named = list(zip(titles(guests), guests, strict=True))
    stacks = [
        replace(
            one, name=_name(one.name, title, several=len(guests) > 1), lead_s=lead, kernel=guest
        )
        for one in made
        for title, guest in named
    ]
    reports = []
    for one in stacks:
        with ends_in_order(), progressing(f"scoring {one.name}") as progress:
            scores = run.conform(
                one,
                scenarios,
                repeat=repeat or (3 if one.client and not virtual else 1),
                parallel=parallel,
                limit_s=limit,
                progress=progress,
            )
        words = recipes.shown(one) if one.client else {}
        compared = changes(scores, known, margin)
        settings = one.name, words, one.set
        reports.append(report.Report(*settings, which.whole, seed, scores, compared))
    every = [one.document() for one in reports]
    files = _written(reports, columns, out) if out else []
    if as_json:
        written = {"files": [str(path) for path in files]}
        print_json((every[0] if len(every) == 1 else {"stacks": every}) | written)
    else:
        for single in reports if len(reports) == 1 or stack else []:
            stdout().print(report.table(single))
        if len(every) + len(columns) > 1:
            stdout().print(report.beside([*every, *columns], margin))
        name_files(files)
    if any(one.broken or one.worse for one in reports):
        raise typer.Exit(SAYS_NO)


def _stacks(
    recipes: list[str], command: tuple[str, str, list[str]], set_: dict[str, str]
) -> list[Stack]:
    """The stacks of recipes, which are built if they are not; or that of a command."""
    from rtolab.conform import Stack  # noqa: PLC0415
    from rtolab.conform import recipes as known  # noqa: PLC0415

    name, server, client = command
    if not recipes:
        return [Stack(name or (client[0] if client else ""), set_, server, client)]
    found = [known.find(one) for one in recipes]
    stacks = [known.build(one, announce) for one in found]
    return [replace(one, set={**one.set, **set_}) for one in stacks]


def titles(guests: list[Kernel | None]) -> list[str | None]:
    """The descriptions of kernels, with the names of those whose descriptions are equal."""
    found = [guest.title if guest else None for guest in guests]
    return [
        f"{guest.name}: {title}" if guest and found.count(title) > 1 else title
        for guest, title in zip(guests, found, strict=True)
    ]


def _name(given: str, title: str | None, *, several: bool) -> str:
    """The name of a stack in results; among several kernels with that of its own."""
    if title is None:
        return given or "kernel"
    if not given:
        return title
    return f"{given}, {title}" if several else given


def _list(*, as_json: bool) -> None:
    from rtolab.cli import listing  # noqa: PLC0415

    if as_json:
        print_json(listing.document(listing.Kind.CONFORM))
    else:
        stdout().print(listing.text(listing.Kind.CONFORM, stdout().width))


def _chosen(which: Suite, scenarios: list[Scenario], only: list[str]) -> list[Scenario]:
    from rtolab.conform.suite import suite_of  # noqa: PLC0415

    known = {one.id: one for one in scenarios}
    for one in only:
        if one not in known:
            other = suite_of(one)
            if other:
                raise Error(f"--only {one}: not in the suite {which}; add --suite {other}")
            near = f"expected {_rtolab.suggest(one, [*known])}; `rtolab conform --list` has all"
            raise Error(f"--only {one}: found no such scenario; {near}")
    return [one for one in scenarios if not only or one.id in only]


def _written(reports: list[Report], columns: list[dict[str, Any]], out: Path) -> list[Path]:
    """Writes a page of all stacks, and the results of each; of several in folders of their own."""
    from rtolab.conform import page, report  # noqa: PLC0415

    made = {}
    for done in reports:
        folder = out / _file_name(done.stack) if len(reports) > 1 else out
        made[folder / "conform.json"] = json.dumps(done.document(), indent=2) + "\n"
        made[folder / "conform.xml"] = report.junit(done)
    made[out / "conform.html"] = page.page([*(one.document() for one in reports), *columns])
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    return [*made]


def _file_name(stack: str) -> str:
    """The name of a stack's folder."""
    return re.sub(r"[^\w.]+", "-", stack).strip("-.") or "stack"
