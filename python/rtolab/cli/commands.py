"""The command line."""

from __future__ import annotations

import gc
import json
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from importlib.util import find_spec
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rtolab import _rtolab
from rtolab._rtolab import DetectorError, Error, InternalError, PrototypeError, SenderError
from rtolab.cli import explain, listing
from rtolab.cli.conform import conform
from rtolab.cli.diagnose import diagnose
from rtolab.cli.emulate import On, compare, emulate, guest_of, on_kernel
from rtolab.cli.gateway import gateway
from rtolab.cli.kernel import kernel as kernel_command
from rtolab.cli.mcp import mcp
from rtolab.cli.options import (
    AsJson,
    Jobs,
    KernelName,
    Out,
    Runs,
    Scenario,
    Seed,
    Set,
    Virtual,
)
from rtolab.cli.serve import serve
from rtolab.cli.sweep import sweep
from rtolab.cli.terminal import (
    BAD_INPUT,
    DEFECT,
    SAYS_NO,
    check_streams,
    complain,
    name_files,
    pairs,
    print_json,
    progressing,
    stdout,
)
from rtolab.cli.watch import watch
from rtolab.cli.wireshark import wireshark
from rtolab.machine import check_machine, out_of
from rtolab.process import end_at_second_interrupt
from rtolab.run import MOST_JOBS, as_toml, find_scenario
from rtolab.run import run as run_scenario

if TYPE_CHECKING:
    from rtolab.campaign import Campaign, Part

LISTED = 200
EXTRAS = {"dask": "distributed", "mcp": "mcp", "serve": "uvicorn"}
DEMO = [f"frto2002/{name}" for name in ("table1", "table2", "table3", "fig1", "fig2")]

app = typer.Typer(
    name="rtolab",
    help="A laboratory for TCP retransmission timeouts.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    """Print the version, and stop."""
    if wanted:
        commit = f" (commit {_rtolab.__commit__})" if _rtolab.__commit__ else ""
        extras = [extra for extra, module in EXTRAS.items() if find_spec(module)]
        typer.echo(f"rtolab {_rtolab.__version__}{commit}")
        typer.echo(f"extras: {', '.join(extras) or 'none'} (of {', '.join(EXTRAS)})")
        raise typer.Exit


class Export(StrEnum):
    """The formats to which a run can be exported."""

    PACKETDRILL = "packetdrill"


@app.callback()
def _root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_version, help="Version, commit and extras."
        ),
    ] = False,
) -> None:
    pass


@app.command(epilog="Example: [bold]rtolab demo --out /tmp/demo[/bold]")
def demo(
    *,
    runs: Runs = 300,
    seed: Seed = 1,
    jobs: Jobs = None,
    out: Out = Path("out"),
    as_json: AsJson = False,
) -> None:
    """Measure the tables of the F-RTO report on this machine, beside the published ones."""
    from rtolab.campaign import Campaign, Settings  # noqa: PLC0415

    campaign = Campaign(out, Settings(seed, runs), jobs, fresh=True)
    parts = _reproduce(DEMO, campaign)
    if not as_json:
        from rtolab.tables import reproduced as reproduced_tables  # noqa: PLC0415

        for part in parts:
            stdout().print(reproduced_tables.reproduction(part.reproduction))
        pngs = [path for part in parts for path in part.files.pictures if path.suffix == ".png"]
        name_files([*pngs, *(path for part in parts for path in part.files.captures)])
    _finish(parts, out, as_json=as_json)


@app.command("list", epilog="Example: [bold]rtolab list senders[/bold]")
def list_(
    what: Annotated[
        listing.Kind | None, typer.Argument(help="What to list; by default everything.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List senders, receivers, detectors, measures, scenarios or experiments.

    `list senders` explains sender specifications.
    """
    if as_json:
        print_json(listing.document(what))
    else:
        console = stdout(LISTED)
        console.print(listing.text(what, console.width))


@app.command("explain", epilog="Example: [bold]rtolab explain link.stalls[/bold]")
def explain_(
    name: Annotated[str, typer.Argument(help="A name such as tcp.rto.min, frto, dualrtt or cwnd.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Explain a name: its meaning, type, default, source and an example.

    A key of a scenario, a sender's policy, a profile, a detector, a measure, a table or a column.
    """
    found = explain.explain(name)
    if as_json:
        print_json([asdict(one) for one in found])
    else:
        stdout(LISTED).print(*(explain.text(one) for one in found), sep="\n")


@app.command(
    epilog="Example: [bold]rtolab run frto2002-delays --sender sack --sender sack+frto "
    "--runs 30 --set link.wireless.delay='400 ms'[/bold]"
)
def run(  # noqa: PLR0913  (all but the first are options)
    scenario: Scenario,
    *,
    sender: Annotated[
        list[str] | None,
        typer.Option("--sender", "-s", help="A sender such as newreno+frto; again for another."),
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
        Path | None, typer.Option(help="Folder for tables, captures and figures of one run.")
    ] = None,
    export: Annotated[
        Export | None,
        typer.Option(help="Also write the first flow of every run as a script, here or to --out."),
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
    if senders and given:
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
    files = result.write(out) if out else []
    if out and pictured:
        files += _draw(result, out)
    if export:
        files += result.write_scripts(out or Path())
    judges = judging.confusions(result) if judge else []
    differences = list(judging.differences(result)) if what_if else []
    if as_json:
        document: dict[str, Any] = {
            "scenario": scenario,
            "seed": seed,
            "runs": runs,
            **result.effort,
            "connections": result.connections.to_dicts(),
        }
        if result.tasks.height:
            document["tasks"] = result.tasks.to_dicts()
        if judge:
            document["judges"] = [asdict(one) for one in judges]
        if what_if:
            document["what_if"] = [asdict(one) for one in differences]
        print_json(document | {"files": [str(path) for path in files]})
        return
    from rtolab import tables  # noqa: PLC0415

    console = stdout()
    console.print(tables.runs(result))
    if judge:
        console.print(tables.judges(judges))
    if what_if:
        console.print(tables.what_if(differences))
    name_files(files)


@app.command(
    epilog="Example: [bold]rtolab reproduce frto2002/table1 --runs 30 "
    "--assume link.wireless.spikes.holds=service[/bold]"
)
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
        typer.Option("--assumptions", help="Also try other assumptions: several times as long."),
    ] = False,
    search: Annotated[
        bool,
        typer.Option(
            "--search", help="Find settings of unstated assumptions by which failed checks pass."
        ),
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ignore the results of an earlier run.")
    ] = False,
    seed: Seed = 1,
    jobs: Jobs = None,
    assume: Annotated[
        list[str] | None, typer.Option(help="key=value that replaces an assumption.")
    ] = None,
    on: Annotated[
        On, typer.Option(help="Simulated only, or also on real kernels (Linux; --virtual or root).")
    ] = On.SIMULATOR,
    parallel: Annotated[
        int,
        typer.Option(min=1, max=MOST_JOBS, help="With --on kernel: runs at a time, in real time."),
    ] = 60,
    virtual: Virtual = False,
    kernel: KernelName = None,
    out: Out = Path("out"),
    as_json: AsJson = False,
) -> None:
    """Measure the papers' tables and figures beside the published ones, and check each claim.

    Finished parts stay in the folder of --out: after an interruption the same command continues.

    Exits with 1 if a claim fails, or with --on kernel if this machine was too slow.
    """
    if on is On.KERNEL:
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
        from rtolab.experiments.summary import summary  # noqa: PLC0415
        from rtolab.tables import reproduced as reproduced_tables  # noqa: PLC0415

        stdout().print(reproduced_tables.summary(summary([part.reproduction for part in parts])))
    _finish(parts, out, as_json=as_json)


app.command(
    epilog="Example: [bold]rtolab emulate kernel-stall --set kernel.frto=0[/bold], "
    "[bold]rtolab emulate hold -- ping -c 8 -i 0.5 {peer}[/bold]"
)(emulate)


app.command(epilog="Example: [bold]rtolab compare kernel-stall --runs 3[/bold]")(compare)

app.command(
    "kernel",
    epilog="Example: [bold]rtolab kernel build --version 6.12[/bold], "
    "[bold]rtolab kernel list[/bold]",
)(kernel_command)

app.command(
    epilog="Example: [bold]rtolab gateway --netns phone --route 0.0.0.0/0 -s sack+frto[/bold] "
    "behind [bold]ip netns add phone[/bold], and in another terminal "
    "[bold]ip netns exec phone curl http://192.0.2.1/[/bold]"
)(gateway)

app.command(
    epilog="Example: [bold]tcpdump -c 100000 -w - tcp | rtolab diagnose - --html page.html[/bold]"
)(diagnose)

app.command(
    epilog="Example: [bold]rtolab watch eth0[/bold], "
    "[bold]rtolab watch eth0 --port 443 --metrics 127.0.0.1:9435[/bold]"
)(watch)

app.command(epilog="Example: [bold]rtolab wireshark --install[/bold]")(wireshark)

app.command(epilog="Example: [bold]rtolab conform --set kernel.frto=0 --out out/conform[/bold]")(
    conform
)

app.command(epilog="Example: [bold]rtolab sweep delays.toml --out out/delays[/bold]")(sweep)

app.command(epilog="Example: [bold]rtolab serve --open --browse out/delays[/bold]")(serve)

app.command(epilog="Example: [bold]rtolab mcp[/bold]")(mcp)


@app.command(epilog="Example: [bold]rtolab schema > scenario.schema.json[/bold]")
def schema() -> None:
    """Print the JSON Schema of a scenario, for editors."""
    print_json(json.loads(_rtolab.schema()))


for command in app.registered_commands:
    # A help text is as wide as the terminal, not as the source.
    paragraphs = (getdoc(command.callback) or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def main() -> None:
    """Run the command line and exit."""
    # Loaded modules stay. Collecting garbage among them, for the last time at exit, takes a third
    # as long as loading them.
    gc.freeze()
    if hasattr(signal, "SIGPIPE"):
        # `rtolab list | head` ends silently, as any filter does.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    check_streams()
    end_at_second_interrupt()
    try:
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
            again = "" if campaign.fresh else "; the same command goes on from there"
            kept = sum(part is not None for part in before.values())
            done = f"{max(len(parts), kept + workers.finished)} of {len(found)}"
            words = f"interrupted: {done} experiments are finished{again}"
            complain(words, 128 + signal.SIGINT)
    kept = sum(part.kept for part in parts)
    if kept:
        sys.stderr.write(f"rtolab: {kept} of {len(parts)} kept from an earlier run (or --fresh)\n")
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
        near = ", ".join(able)
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
    from rtolab import report  # noqa: PLC0415
    from rtolab.experiments.documents import document  # noqa: PLC0415

    written = report.write(parts, out)
    if as_json:
        documents = [document(part.reproduction) for part in parts]
        print_json(documents[0] if len(documents) == 1 else documents)
    else:
        stdout().print(f"report: {written}", highlight=False, soft_wrap=True)
    if any(part.reproduction.verdict == "fail" for part in parts):
        raise typer.Exit(SAYS_NO)


def _draw(result: Any, out: Path) -> list[Path]:
    """Write figures of the first traced run of each sender."""
    from rtolab.plot import save  # noqa: PLC0415
    from rtolab.result import PLACES, file_name  # noqa: PLC0415

    files = []
    for run_ in range(result.runs):
        for place in PLACES:
            stem = out / f"{file_name(result.sender(run_))}-{place}"
            files += save(result.plot.time_sequence(run_, place), stem)
    return files
