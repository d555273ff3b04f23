"""`rtolab run`."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from rtolab import _rtolab
from rtolab.cli.options import AsJson, Jobs, Runs, Scenario, Seed, Set
from rtolab.cli.terminal import name_files, pairs, print_json, progressing, stdout
from rtolab.run import as_toml, find_scenario
from rtolab.run import run as run_scenario

RECORD = "run.json"
"""Lists the files of the run in its folder."""
WRITTEN = (".parquet", ".pcapng", ".svg", ".pkt")
"""The endings of these files."""


class Export(StrEnum):
    """The formats to which a run can be exported."""

    PACKETDRILL = "packetdrill"


def run(  # noqa: PLR0913  (all but the first are options)
    scenario: Scenario,
    *,
    sender: Annotated[
        list[str] | None,
        typer.Option(
            "--sender",
            "-s",
            help="A sender such as newreno+frto, for flows without their own; repeatable.",
        ),
    ] = None,
    runs: Runs = 1,
    seed: Seed = 1,
    jobs: Jobs = None,
    set_: Set = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(help="A passive detector, scored against the ground truth; or all."),
    ] = None,
    what_if: Annotated[
        list[str] | None,
        typer.Option(metavar="SENDER", help="Also continue with this sender from each timeout."),
    ] = None,
    prototype: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE.py:CLASS",
            help="Your own detector, response or stage, for --judge, --sender and --set.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for tables, and of one seed captures and figures. Replaces "
            "what an earlier run wrote there."
        ),
    ] = None,
    export: Annotated[
        Export | None,
        typer.Option(
            help="Write the first flow of each run as a script, to --out or the current folder."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run one scenario, with one or more senders, on one or more seeds."""
    from rtolab import judging  # noqa: PLC0415
    from rtolab.prototype import made  # noqa: PLC0415
    from rtolab.prototype.source import load  # noqa: PLC0415

    senders = sender or []
    pictured = out is not None and runs == 1
    trace = pictured or export is not None
    given = pairs(set_, "--set")
    prototypes = [load(place) for place in prototype or ()]
    if senders:
        set_keys = [(key, as_toml(value)) for key, value in given.items()]
        _rtolab.check(find_scenario(scenario), set_keys, senders, made(prototypes))
    with progressing(f"running {scenario}") as progress:
        result = run_scenario(
            scenario,
            sender=senders,
            seed=seed,
            runs=runs,
            set=given,
            trace=trace,
            windows=pictured,
            judge=judge or (),
            what_if=what_if or (),
            prototypes=prototypes,
            jobs=jobs,
            progress=progress,
        )
    files = _write(result, out, pictured=pictured, export=export)
    scores = judging.confusions(result) if judge else []
    differences = list(judging.differences(result)) if what_if else []
    if as_json:
        document: dict[str, Any] = {
            "scenario": scenario,
            "seed": seed,
            "runs": runs,
            **result.effort,
            "connections": result.connections.to_dicts(),
            **_own_rows(result),
        }
        if judge:
            document["judges"] = [asdict(one) for one in scores]
        if what_if:
            document["what_if"] = [asdict(one) for one in differences]
        print_json(document | {"files": [str(path) for path in files]})
        return
    from rtolab import tables  # noqa: PLC0415

    console = stdout()
    console.print(tables.runs(result))
    if result.outages.height:
        console.print(tables.outages(result))
    if judge:
        console.print(tables.detector_scores(scores))
    if what_if:
        console.print(tables.what_if(differences))
    name_files(files)
    if out and not pictured:
        console.print(f"no captures and figures of {runs} seeds; --runs 1 records packets")


def _write(result: Any, out: Path | None, *, pictured: bool, export: Export | None) -> list[Path]:
    """Write tables, captures, figures and scripts, as far as they are requested."""
    files = result.write(out) if out else []
    if out and pictured:
        files += _draw(result, out)
    if export:
        files += result.write_scripts(out or Path())
    if out:
        files.append(_replace_earlier(out, files))
    return list(files)


def _replace_earlier(folder: Path, files: list[Path]) -> Path:
    """Delete the files that an earlier run listed and this one has not written, and list these.

    Captures of other senders beside these tables would look like those of this run.
    """
    from rtolab.files import write_text  # noqa: PLC0415

    record = folder / RECORD
    names = {path.name for path in files}
    for name in _listed(record) - names:
        # An edited list must not name a file elsewhere.
        if Path(name).name == name and name.endswith(WRITTEN):
            (folder / name).unlink(missing_ok=True)
    write_text(record, json.dumps({"files": sorted(names)}, indent=1) + "\n")
    return record


def _listed(record: Path) -> set[str]:
    """The files that an earlier run wrote; none if there is no list of them."""
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    files = found.get("files") if isinstance(found, dict) else None
    return {name for name in files if isinstance(name, str)} if isinstance(files, list) else set()


def _own_rows(result: Any) -> dict[str, Any]:
    """The rows of tables that only some scenarios fill."""
    rows = {name: getattr(result, name).to_dicts() for name in ("tasks", "outages")}
    return {name: found for name, found in rows.items() if found}


def _draw(result: Any, out: Path) -> list[Path]:
    """Write figures of the first traced run of each sender."""
    from rtolab.plot import save  # noqa: PLC0415
    from rtolab.result import PLACES, file_name  # noqa: PLC0415

    files = []
    for run_ in range(result.runs):
        for place in PLACES:
            stem = out / f"{file_name(result.sender(run_))}-{place}"
            files.append(save(result.plot.time_sequence(run_, place), stem))
    return files
