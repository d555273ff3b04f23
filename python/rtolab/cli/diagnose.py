"""The command `rtolab diagnose`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rtolab.cli.options import AsJson
from rtolab.cli.terminal import (
    BAD_INPUT,
    SAYS_NO,
    announce,
    complain,
    name_files,
    print_json,
    progressing,
    stdout,
)
from rtolab.files import check_targets, write_text
from rtolab.process import notice_interrupts
from rtolab.text import counted

if TYPE_CHECKING:
    from rtolab.diagnosis import Diagnosis, Limit


PAIR = 2
"""The captures of a pair."""


def diagnose(  # noqa: PLR0913  (all but the first are options)
    capture: Annotated[
        list[str],
        typer.Argument(
            metavar="CAPTURE",
            help="pcap, pcapng or qlog, also compressed by gzip or zstd; - for stdin.",
        ),
    ],
    *,
    pair: Annotated[
        bool,
        typer.Option(
            "--pair",
            help="The two captures or logs are from both ends of the same transfers, and show each "
            "packet's fate.",
        ),
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="Connections shown, the worst first.")] = 10,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with plots.")
    ] = None,
    annotate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a pcapng copy with the verdicts as packet comments; a folder for several "
            "captures.",
        ),
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the tables as Parquet.")
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT>N",
            help="Exit with 1 if there is more, such as spurious>0, unneeded>5%, lost-time>2s or "
            "unknown>0.",
        ),
    ] = None,
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if",
            help="Infer the path of the worst connection, and simulate other senders and Linux "
            "settings on it.",
        ),
    ] = False,
    scenario_out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the path that --what-if infers as a scenario."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether each retransmission and timeout of a capture was necessary, and what it cost.

    For a QUIC log: say whether each declared loss and each probe timeout was spurious.

    The verdicts are those of the engine's detectors (`rtolab list detectors`). Detectors written in
    Python apply to runs, not to captures.

    Exit status: 1 if --fail-on finds more, 2 if a capture is damaged (the part before the damage is
    diagnosed) or has no connection for --fail-on.
    """
    from rtolab.diagnosis import limits  # noqa: PLC0415

    if scenario_out and len(capture) > 1:
        complain("--scenario-out: one capture at a time", BAD_INPUT)
    if pair and (len(capture) != PAIR or "-" in capture):
        complain("--pair: two files are needed, the captures of both ends", BAD_INPUT)
    allowed = limits(fail_on or [])
    targets = _targets(capture, annotate, parquet)
    pages = [(f"--html {html}", html), (f"--scenario-out {scenario_out}", scenario_out)]
    copies = [(f"--annotate {annotate}", copy) for copy, _ in targets.values()]
    check_targets([*pages, *copies, *_tables(targets)], capture)
    with _files(capture, again=bool(html or annotate or what_if or scenario_out)) as given:
        found, files, unread = _of_pair(given) if pair else _diagnosed(given)
        _refuse_logs(found, annotate=annotate, what_if=what_if or bool(scenario_out))
        results = _what_if(found, files, scenario_out) if what_if or scenario_out else []
        written = _write(found, [targets[name] for name, _ in files], html) + results
    if as_json:
        documents = [one.document for one in found]
        print_json(documents[0] if pair or len(capture) == 1 else documents)
    else:
        from rtolab.diagnosis import tables  # noqa: PLC0415

        for one in found:
            stdout().print(tables.diagnosis(one, top))
            if "what_if" in one.document:
                stdout().print(tables.what_if(one.document["what_if"]))
        name_files(written)
    _name_rotated(found)
    _finish(found, unread, allowed)


def _name_rotated(found: Sequence[Diagnosis]) -> None:
    """Say how to join captures that continue one another."""
    from rtolab.diagnosis.rotated import continued  # noqa: PLC0415

    names, connections = continued(found)
    if names:
        announce(
            f"{counted(connections, 'connection')} {'goes' if connections == 1 else 'go'} on from "
            f"one capture to the next, and losses between them do not show: join them with "
            f"`mergecap -a -w joined.pcapng {' '.join(names)}`"
        )


def _refuse_logs(found: Sequence[Diagnosis], *, annotate: Path | None, what_if: bool) -> None:
    """End if an option that needs packets is for a QUIC log."""
    option = "--annotate" if annotate else "--what-if"
    for one in found if annotate or what_if else []:
        if one.is_log:
            complain(f"{option}: {one.capture} is a QUIC log; a capture is needed", BAD_INPUT)


def _of_pair(
    files: Sequence[tuple[str, Path | str]],
) -> tuple[list[Diagnosis], list[tuple[str, Path | str]], list[str]]:
    """The diagnosis of the captures of both ends, and the capture at the sender."""
    from rtolab import Error  # noqa: PLC0415
    from rtolab.diagnosis import diagnose_pair  # noqa: PLC0415

    notice_interrupts()
    [(_, first), (_, second)] = files
    try:
        found = diagnose_pair(first, second)
    except Error as error:
        complain(str(error), BAD_INPUT)
    return [found], [files[found.document["sender_capture"]]], []


def _diagnosed(
    files: Sequence[tuple[str, Path | str]],
) -> tuple[list[Diagnosis], list[tuple[str, Path | str]], list[str]]:
    """Diagnose the captures. Return the results, and the errors of captures that cannot be read."""
    from rtolab import Error  # noqa: PLC0415

    found, read, unread = [], [], []
    for name, file in files:
        try:
            found.append(_diagnose(name, file))
            read.append((name, file))
        except Error as error:
            unread.append(str(error))
    if not found:
        complain("\n".join(unread), BAD_INPUT)
    return found, read, unread


def _diagnose(name: str, file: Path | str) -> Diagnosis:
    from rtolab.diagnosis import diagnose  # noqa: PLC0415

    notice_interrupts()
    with progressing(f"reading {name}") as progress:
        found = diagnose(file, progress=progress)
    return replace(found, document=found.document | {"capture": name})


@contextmanager
def _files(names: Sequence[str], *, again: bool) -> Iterator[list[tuple[str, Path | str]]]:
    """The captures by name. If standard input must be read again, it is saved in a file."""
    if "-" not in names or not again:
        yield [(name, name) for name in names]
        return
    descriptor, kept = tempfile.mkstemp(suffix=".pcap")
    try:
        with os.fdopen(descriptor, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield [(name, Path(kept) if name == "-" else name) for name in names]
    finally:
        Path(kept).unlink()


def _targets(
    names: Sequence[str], copy: Path | None, parquet: Path | None
) -> dict[str, tuple[Path | None, Path | None]]:
    """The output file and folder of each capture, all different."""
    several, targets = len(names) > 1, {}
    stems: dict[str, str] = {}
    for name in names:
        stem = "stdin" if name == "-" else Path(name).name.split(".pcap")[0]
        if (copy or parquet) and stem in stems:
            both = f"{stems[stem]} and {name}"
            complain(f"{both} would be written to the same files: one at a time", BAD_INPUT)
        stems[stem] = name
        file = copy / f"{stem}.pcapng" if copy and several else copy
        targets[name] = (file, parquet / stem if parquet and several else parquet)
    return targets


def _tables(targets: Mapping[str, tuple[Path | None, Path | None]]) -> list[tuple[str, Path]]:
    """The option --parquet with each file that it may write."""
    from rtolab.diagnosis import TABLES  # noqa: PLC0415

    folders = [folder for _, folder in targets.values() if folder]
    return [
        (f"--parquet {folder}", folder / f"{name}.parquet") for folder in folders for name in TABLES
    ]


def _write(
    found: Sequence[Diagnosis],
    targets: Sequence[tuple[Path | None, Path | None]],
    html: Path | None,
) -> list[Path]:
    from rtolab.diagnosis import annotate  # noqa: PLC0415

    written = []
    if html:
        from rtolab.diagnosis import page  # noqa: PLC0415

        written.append(page.write(found, html))
    for one, (copy, parquet) in zip(found, targets, strict=True):
        if copy and not one.error:
            copy.parent.mkdir(parents=True, exist_ok=True)
            annotate(one, copy)
            written.append(copy)
        if parquet:
            written += one.write_parquet(parquet)
    return written


def _what_if(
    found: Sequence[Diagnosis], files: Sequence[tuple[str, Path | str]], out: Path | None
) -> list[Path]:
    """What-if for each capture's worst connection, or why the capture does not show enough."""
    from rtolab.diagnosis.what_if import what_if  # noqa: PLC0415

    written = []
    for one, (_, file) in zip(found, files, strict=True):
        results = what_if(one, str(file))
        one.document["what_if"] = results
        _conclude(one, results)
        if out and "scenario" in results:
            write_text(out, results["scenario"])
            written.append(out)
    return written


def _conclude(found: Diagnosis, results: Mapping[str, Any]) -> None:
    """Replace the general advice about the connection by the result of its replay."""
    answer = found.document["answer"]
    answers = [one for one in answer["connections"] if one["connection"] == results["connection"]]
    if found.document["summary"]["connections"] == 1:
        answers.append(answer)
    if "advice" in results and results["agrees"]:
        for one in answers:
            kept = [said for said in one["sentences"] if "go_back_n" not in said["figures"]]
            one["sentences"] = [*kept, *results["advice"]]


def _finish(found: Sequence[Diagnosis], unread: Sequence[str], allowed: Sequence[Limit]) -> None:
    """Print the errors, and exit with their status."""
    damaged = [f"{one.document['capture']}: {one.error}" for one in found if one.error]
    errors = [*unread, *damaged]
    if allowed:
        # A capture of the wrong interface must not pass a test.
        empty = [one.document for one in found if not one.document["summary"]["connections"]]
        errors += [f"{one['capture']}: --fail-on: found no connection to check" for one in empty]
    if errors:
        complain("\n".join(errors), BAD_INPUT)
    over = [said for limit in allowed if (said := limit.exceeded(found))]
    if over:
        complain("\n".join(over), SAYS_NO)
