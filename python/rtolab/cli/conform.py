"""The command `rtolab conform`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

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
from rtolab.files import check_targets, write_text
from rtolab.process import ends_in_order
from rtolab.run import LARGEST_SEED, MOST_JOBS
from rtolab.suites import Keep, Suite

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
        Path | None,
        typer.Option(help="Folder for conform.json, conform.xml, conform.html, and for evidence."),
    ] = None,
    keep: Annotated[
        Keep,
        typer.Option(
            help="With --out: the scenarios whose captures, logs and output are kept in "
            "FOLDER/evidence: all, none, or broken, those that hang, fail or are worse than the "
            "baseline."
        ),
    ] = Keep.BROKEN,
    scenarios_to: Annotated[
        Path | None,
        typer.Option(
            "--write-scenarios",
            metavar="FOLDER",
            help="Write the scenarios as files for `rtolab emulate`, and run none.",
        ),
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
    from rtolab.conform import check  # noqa: PLC0415
    from rtolab.conform.baseline import read_baseline  # noqa: PLC0415

    if lists:
        _list(as_json=as_json)
        return
    if bool(command) != bool(server):
        raise Error("a client needs a server and a server a client: --server CMD -- CMD")
    if stack and (command or name):
        raise Error("--stack has its own name, server and client; leave out --name, --server, CMD")
    names: list[str | None] = [*kernel] if kernel else [None]
    guests = [guest_of(one, virtual=virtual) for one in names]
    scenarios = check.chosen(which, seed, only or [])
    if scenarios_to:
        _write_scenarios(scenarios, scenarios_to, limit, as_json=as_json)
        return
    made = _stacks(stack or [], (name, server, command or []), pairs(set_, "--set"))
    named = list(zip(titles(guests), guests, strict=True))
    stacks = [
        replace(
            one, name=_name(one.name, title, several=len(guests) > 1), lead_s=lead, kernel=guest
        )
        for one in made
        for title, guest in named
    ]
    if out:
        read = [one for one in (baseline, *(beside or [])) if one]
        check_targets([(f"--out {out}", path) for path in _results(stacks, out)], read)
    before = (read_baseline(baseline, which, seed, scenarios), baseline) if baseline else None
    columns = [_column(path, which) for path in beside or []]
    how = Conditions(
        which,
        seed,
        repeat=repeat,
        parallel=parallel,
        limit_s=limit,
        margin=margin,
        baseline=before,
        out=out,
        keep=keep,
    )
    reports, errors = _scored(stacks, scenarios, how)
    files = _written(reports, columns, out) if out else []
    if as_json:
        every = [one.document() for one in reports]
        written = {"files": [str(path) for path in files], "errors": errors}
        print_json((every[0] if len(every) == 1 else {"stacks": every}) | written)
    else:
        tables = reports if len(reports) == 1 or stack else []
        _print(reports, tables, columns, margin)
        name_files(files)
        for error in errors:
            stdout().print(Text.assemble(("FAILED", "bold red"), f"  {error}"))
    if errors or any(one.broken or one.worse for one in reports):
        raise typer.Exit(SAYS_NO)


def _column(path: Path, which: Suite) -> dict[str, Any]:
    """A result of --beside."""
    from rtolab.conform import report  # noqa: PLC0415

    found = report.read(path)
    report.check_suite(found, path, which)
    return found


def _print(
    reports: list[Report], tables: list[Report], columns: list[dict[str, Any]], margin: float
) -> None:
    """Prints a table of each of these, and all results and columns beside each other."""
    from rtolab.conform import report  # noqa: PLC0415

    for one in tables:
        stdout().print(report.table(one))
        for line in report.kept(one):
            # A command is copied: it is one line, however long.
            stdout().print(line, soft_wrap=True, highlight=False, markup=False)
    every = [*(one.document() for one in reports), *columns]
    if len(every) > 1:
        stdout().print(report.beside(every, margin))


@dataclass(frozen=True)
class Conditions:
    """How stacks are scored.

    Attributes:
        which: the suite, or a part of it.
        seed: of the scenarios.
        repeat: runs of each scenario; `None` for the default.
        parallel: concurrent runs.
        limit_s: a longer transfer counts as hung, in seconds.
        margin: how far a score may fall below the baseline.
        baseline: an earlier result and its file.
        out: the folder for results.
        keep: the scenarios whose evidence is kept there.
    """

    which: Suite
    seed: int
    repeat: int | None
    parallel: int
    limit_s: float
    margin: float
    baseline: tuple[dict[str, Any], Path] | None
    out: Path | None
    keep: Keep


def _scored(
    stacks: list[Stack], scenarios: list[Scenario], how: Conditions
) -> tuple[list[Report], list[str]]:
    """The results of all stacks, and the errors of those whose undisturbed transfers do not end.

    Raises:
        Error: there is an error and no result.
    """
    from rtolab.conform.run import UndisturbedTransferError  # noqa: PLC0415

    reports, errors = [], []
    for one in stacks:
        try:
            reports.append(_score(one, scenarios, how, several=len(stacks) > 1))
        except UndisturbedTransferError as error:
            errors.append(error)
    if errors and not reports:
        raise errors[0]
    return reports, [str(error) for error in errors]


def _score(stack: Stack, scenarios: list[Scenario], how: Conditions, *, several: bool) -> Report:
    from rtolab.conform import evidence, report, run  # noqa: PLC0415

    folder = None
    if how.out and how.keep is not Keep.NONE:
        folder = (how.out / _file_name(stack.name) if several else how.out) / "evidence"
    with ends_in_order(), progressing(f"scoring {stack.name}") as progress:
        scores = run.conform(
            stack,
            scenarios,
            repeat=how.repeat or (3 if stack.client and not stack.kernel else 1),
            parallel=how.parallel,
            limit_s=how.limit_s,
            progress=progress,
            evidence=folder,
        )
    found = report.Report.of(stack, how.which, how.seed, scores)
    if how.baseline:
        found = found.against(*how.baseline, how.margin)
    if folder and how.keep is Keep.BROKEN:
        worse = [one.id for one in found.worse]
        found = replace(found, scores=evidence.drop(found.scores, worse))
    return found


def _write_scenarios(
    scenarios: list[Scenario], folder: Path, limit_s: float, *, as_json: bool
) -> None:
    """Writes scenarios as files, and names them."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{one.id}.toml" for one in scenarios]
    for one, file in zip(scenarios, files, strict=True):
        one.write(file, limit_s)
    if as_json:
        print_json({"files": [str(file) for file in files]})
    else:
        name_files(files)


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


def _results(stacks: list[Stack], out: Path) -> list[Path]:
    """The result of each stack; of several in folders of their own."""
    folders = [out / _file_name(one.name) for one in stacks] if len(stacks) > 1 else [out]
    return [folder / "conform.json" for folder in folders]


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
