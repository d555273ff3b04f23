"""`rtolab emulate`: scenarios on real kernels."""

from __future__ import annotations

import json
from contextlib import nullcontext
from enum import Enum
from pathlib import Path  # noqa: TC003  (typer reads it at run time)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.emulation import counted, doubts
from rtolab.process import ends_in_order, stdout_is_stderr
from rtolab.run import LARGEST_SEED, find_scenario
from rtolab.terminal import SAYS_NO, name_files, pairs, print_json, progressing, stdout

if TYPE_CHECKING:
    from rtolab.emulation import Emulated


class On(Enum):
    """What an experiment runs on."""

    SIMULATOR = "simulator"
    KERNEL = "kernel"


def emulate(  # noqa: PLR0913  (all but the first two are options)
    scenario: Annotated[
        str | None, typer.Argument(help="A TOML file, or the name of a shipped one.")
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- CMD",
            help="What to run at the first link's first host instead of the scenario's flows; "
            "{peer} is the address of the other end, {NAME} that of any host.",
        ),
    ] = None,
    *,
    runs: Annotated[int, typer.Option(min=1, help="Seeds.")] = 1,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="The first seed; run i has seed + i.")
    ] = 1,
    parallel: Annotated[
        int, typer.Option(min=1, help="Runs at a time, on hosts of their own.")
    ] = 1,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value that replaces the scenario's.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for tables, and captures of each run.")
    ] = None,
    clean: Annotated[
        bool, typer.Option("--clean", help="Only take down what killed runs left behind.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document; CMD's output goes to stderr.")
    ] = False,
) -> None:
    """Run a scenario on real kernels in real time: its own flows, or a command.

    The hosts are network namespaces: this needs Linux and root.

    Exits with 1 if the command fails or this machine was too slow for the links.
    """
    if clean:
        gone = _rtolab.clean_up()
        if as_json:
            print_json({"removed": gone})
        else:
            stdout().print(f"removed: {', '.join(gone) or 'nothing'}", highlight=False)
        return
    if scenario is None:
        raise Error("`emulate` needs a scenario, a TOML file or the name of a shipped one")
    settings = pairs(set_, "--set")
    if command:
        if runs > 1 or parallel > 1 or out is not None:
            raise Error("--runs, --parallel and --out go with the scenario's flows, not with CMD")
        _command(scenario, command, seed, settings, as_json=as_json)
        return
    from rtolab.emulation import emulate as emulate_flows  # noqa: PLC0415

    with ends_in_order(), progressing(f"emulating {scenario}") as progress:
        result = emulate_flows(
            scenario, seed=seed, runs=runs, set=settings, parallel=parallel, progress=progress
        )
    files = result.write(out) if out else []
    if as_json:
        print_json(_document(scenario, seed, result, files))
    else:
        from rtolab import show  # noqa: PLC0415

        stdout().print(show.emulated(result))
        name_files(files)
    if any(result.doubts):
        raise typer.Exit(SAYS_NO)


def on_kernel(
    ids: list[str], runs: int | None, *, seed: int, parallel: int, out: Path, as_json: bool
) -> None:
    """Experiments simulated beside kernel beside published.

    Raises:
        Error: an experiment has no senders that a kernel can be set to.
    """
    from rtolab import experiments, show  # noqa: PLC0415
    from rtolab.experiments import kernel  # noqa: PLC0415

    found = [one for one in experiments.find(ids) if not ids or kernel.find(one.id)]
    found = [one for one in found if one.id in kernel.MAPPINGS]
    documents, good = [], True
    for experiment in found:
        with ends_in_order(), progressing(f"{experiment.id} on kernels") as progress:
            done = kernel.on_kernel(
                experiment,
                runs=runs or kernel.RUNS,
                seed=seed,
                parallel=parallel,
                progress=progress,
            )
        folder = out / experiment.id / "kernel"
        files = done.emulated.write_tables(folder)
        document = done.document()
        path = folder / "kernel.json"
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        documents.append(document | {"files": [str(file) for file in (path, *files)]})
        good = good and not any(done.emulated.doubts)
        if not as_json:
            stdout().print(show.on_kernel(done))
            name_files([path])
    if as_json:
        print_json(documents[0] if len(documents) == 1 else documents)
    if not good:
        raise typer.Exit(SAYS_NO)


def _document(scenario: str, seed: int, result: Emulated, files: list[Path]) -> dict[str, Any]:
    reports = [
        {
            "seed": seed + number,
            **report,
            "told": counted(report),
            "good": not doubts(report),
            "doubts": doubts(report),
        }
        for number, report in enumerate(result.reports)
    ]
    document: dict[str, Any] = {
        "scenario": scenario,
        "seed": seed,
        "runs": result.runs,
        "good": not any(result.doubts),
        "connections": result.connections.to_dicts(),
        "timeouts": result.timeouts.to_dicts(),
        "emulations": reports,
    }
    if result.tasks.height:
        document["tasks"] = result.tasks.to_dicts()
    return document | {"files": [str(path) for path in files]}


def _command(
    scenario: str, argv: list[str], seed: int, settings: dict[str, str], *, as_json: bool
) -> None:
    path, replaced = find_scenario(scenario), list(settings.items())
    with ends_in_order(), stdout_is_stderr() if as_json else nullcontext():
        report = _rtolab.emulate(path, set=replaced, seed=seed, command=argv)
    doubted = doubts(report)
    if as_json:
        ran = {"scenario": scenario, "seed": seed, "command": argv}
        print_json({**ran, **report, "good": not doubted, "doubts": doubted})
    else:
        from rtolab import show  # noqa: PLC0415

        stdout().print(show.emulation(report))
    if report["interrupted"]:
        raise KeyboardInterrupt
    if report["returncode"] != 0 or doubted:
        raise typer.Exit(SAYS_NO)
