"""`rtolab demo` and `rtolab reproduce`."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.cli.emulate import Backend, guest_of, on_kernel
from rtolab.cli.options import AsJson, Jobs, KernelName, Out, Runs, Seed, Virtual
from rtolab.cli.terminal import (
    SAYS_NO,
    announce,
    complain,
    name_files,
    pairs,
    print_json,
    program,
    progressing,
    stdout,
)
from rtolab.run import MOST_JOBS

if TYPE_CHECKING:
    from rtolab.campaign import Campaign, Part

DEMO = [f"frto2002/{name}" for name in ("table1", "table2", "table3", "fig1", "fig2")]


def demo(
    *,
    runs: Runs = 300,
    seed: Seed = 1,
    jobs: Jobs = None,
    out: Out = Path("out"),
    as_json: AsJson = False,
) -> None:
    """Measure the tables of the F-RTO report, and print them beside the published ones."""
    from rtolab.campaign import Campaign, Settings  # noqa: PLC0415

    campaign = Campaign(out, Settings(seed, runs), jobs, fresh=True)
    parts = _reproduce(DEMO, campaign)
    if not as_json:
        from rtolab.tables import reproduced as reproduced_tables  # noqa: PLC0415

        for part in parts:
            stdout().print(reproduced_tables.reproduction(part.reproduction))
        files = (part.files for part in parts)
        name_files([path for one in files for path in (*one.pictures, *one.captures)])
    _write_report(parts, out, as_json=as_json)
    if not as_json:
        said = f"next: `{program()}` alone shows five commands to begin with"
        stdout().print(said, highlight=False, soft_wrap=True)


def reproduce(  # noqa: PLR0913  (all but the first are options)
    experiment: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID", help="A paper or experiment such as frto2002/table1; default all."
        ),
    ] = None,
    *,
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Seeds for each sender.", show_default="each experiment's own"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer runs, fewer figures, only the report.")
    ] = False,
    assumptions: Annotated[
        bool,
        typer.Option(
            "--assumptions", help="Also try other assumptions; takes several times as long."
        ),
    ] = False,
    search: Annotated[
        bool,
        typer.Option(
            "--search", help="Find settings of unstated assumptions with which failed checks pass."
        ),
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ignore the results of an earlier run.")
    ] = False,
    seed: Seed = 1,
    jobs: Jobs = None,
    assume: Annotated[
        list[str] | None, typer.Option(help="key=value that replaces an assumption; repeatable.")
    ] = None,
    on: Annotated[
        Backend,
        typer.Option(
            help="Where to run: only simulated, or also on real kernels (Linux; --virtual or root)."
        ),
    ] = Backend.SIMULATOR,
    parallel: Annotated[
        int,
        typer.Option(min=1, max=MOST_JOBS, help="With --on kernel: runs at a time, in real time."),
    ] = 60,
    virtual: Virtual = False,
    kernel: KernelName = None,
    out: Out = Path("out"),
    as_json: AsJson = False,
) -> None:
    """Measure the papers' tables and figures beside the published ones, and check their claims.

    Finished parts stay in the folder of --out: after an interruption the same command continues.

    Exits with 1 if a check fails, or with --on kernel if this machine was too slow.
    """
    if on is Backend.KERNEL:
        if assume or quick or fresh or assumptions or search:
            given = "--assume, --assumptions, --search, --quick and --fresh"
            raise Error(f"{given} are for simulated runs, without --on kernel")
        guest = guest_of(kernel, virtual=virtual)
        on_kernel(
            experiment or [],
            runs,
            seed=seed,
            parallel=parallel,
            guest=guest,
            out=out,
            as_json=as_json,
        )
        return
    if virtual or kernel:
        raise Error("--virtual and --kernel go with --on kernel")
    if quick and assumptions:
        raise Error("--assumptions needs full runs: leave out --quick")
    if search:
        if quick or fresh or assumptions:
            raise Error("--search runs nothing else: leave out --quick, --fresh, --assumptions")
        how = {"runs": runs, "seed": seed, "jobs": jobs, "assume": pairs(assume, "--assume")}
        _search(experiment or [], how, as_json=as_json)
        return
    from rtolab.campaign import Campaign, Settings  # noqa: PLC0415

    assumed = pairs(assume, "--assume")
    whole = not experiment
    settings = Settings(seed, runs, assumed, quick, assumptions, whole)
    parts = _reproduce(experiment or [], Campaign(out, settings, jobs, fresh), say=not as_json)
    if not as_json:
        from rtolab.experiments.summary import causes, summary  # noqa: PLC0415
        from rtolab.tables import reproduced as reproduced_tables  # noqa: PLC0415

        done = [part.reproduction for part in parts]
        stdout().print(reproduced_tables.summary(summary(done), causes(done)))
    _finish(parts, out, as_json=as_json)


def _reproduce(ids: Sequence[str], campaign: Campaign, *, say: bool = False) -> list[Part]:
    """Run experiments, or read the records of an earlier run.

    Args:
        ids: of experiments or papers; all if there are none.
        campaign: how they are run.
        say: is each printed as soon as it is finished?
    """
    from rtolab import experiments  # noqa: PLC0415
    from rtolab.campaign_workers import Workers  # noqa: PLC0415
    from rtolab.tables import reproduced as reproduced_tables  # noqa: PLC0415

    found = experiments.find(list(ids))
    campaign.out.mkdir(parents=True, exist_ok=True)
    before = {experiment.id: campaign.finished(experiment) for experiment in found}
    missing = [experiment for experiment in found if before[experiment.id] is None]
    parts: list[Part] = []
    with Workers(campaign, missing) as workers:
        try:
            for number, experiment in enumerate(found, 1):
                part = before[experiment.id]
                if part is None:
                    with progressing(f"{number} of {len(found)}: {experiment.id}") as progress:
                        part = workers.part(experiment, progress)
                        part = part or campaign.run(experiment, progress)
                parts.append(part)
                if say:
                    shown = reproduced_tables.reproduction(part.reproduction, kept=part.kept)
                    stdout().print(shown)
        except KeyboardInterrupt:
            again = "" if campaign.fresh else "; the same command continues from there"
            kept = sum(part is not None for part in before.values())
            done = f"{max(len(parts), kept + workers.finished)} of {len(found)}"
            words = f"interrupted: {done} experiments are finished{again}"
            complain(words, 128 + signal.SIGINT)
    kept = sum(part.kept for part in parts)
    if kept:
        announce(f"{kept} of {len(parts)} kept from an earlier run (or --fresh)")
    return parts


def _search(ids: Sequence[str], settings: dict[str, Any], *, as_json: bool) -> None:
    """Search the unstated assumptions of an experiment, and say what was found."""
    from rtolab import experiments  # noqa: PLC0415
    from rtolab.experiments.search import search  # noqa: PLC0415
    from rtolab.tables import reproduced as reproduced_tables  # noqa: PLC0415

    found = experiments.find(list(ids))
    able = [one.id for one in experiments.EXPERIMENTS if one.unstated]
    if len(found) != 1 or not found[0].unstated:
        what = found[0].id if len(found) == 1 else f"{len(found)} experiments"
        near = _rtolab.suggest(found[0].id if len(found) == 1 else "".join(ids[:1]), able)
        raise Error(f"--search: found {what}; expected one that declares what to vary: {near}")
    with progressing(f"searching {found[0].id}") as progress:
        done = search(found[0], **settings, progress=progress)
    if as_json:
        outcomes = [asdict(one) for one in done.found]
        head = {"experiment": found[0].id, "failing": done.failing, "tried": done.tried}
        print_json(head | {"found": outcomes})
    else:
        stdout().print(reproduced_tables.search(done))


def _finish(parts: Sequence[Part], out: Path, *, as_json: bool) -> None:
    """Write the report and print its path; exit with 1 if a verdict is `fail`."""
    _write_report(parts, out, as_json=as_json)
    if any(part.reproduction.verdict == "fail" for part in parts):
        raise typer.Exit(SAYS_NO)


def _write_report(parts: Sequence[Part], out: Path, *, as_json: bool) -> None:
    """Write the report and print its path."""
    from rtolab import report  # noqa: PLC0415
    from rtolab.experiments.documents import document  # noqa: PLC0415

    written = report.write(parts, out)
    if as_json:
        documents = [document(part.reproduction) for part in parts]
        print_json(documents[0] if len(documents) == 1 else documents)
    else:
        stdout().print(f"report: {written}", highlight=False, soft_wrap=True)
