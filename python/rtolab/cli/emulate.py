"""`rtolab emulate`: scenarios on real kernels."""

from __future__ import annotations

import json
import tempfile
import tomllib
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.cli.options import HostKernels, Set, Virtual
from rtolab.cli.terminal import SAYS_NO, name_files, pairs, print_json, progressing, stdout
from rtolab.files import write_text
from rtolab.process import ends_in_order, stdout_is_stderr
from rtolab.run import LARGEST_SEED, MOST_JOBS, find_scenario

if TYPE_CHECKING:
    from rtolab._rtolab import EmulationReport, Outcome
    from rtolab.emulation import EmulationResult
    from rtolab.emulation.programs import ServerEnd
    from rtolab.kernel import Kernel


JUDGE_WITHOUT_FLOWS = (
    "--judge goes with the scenario's flows: only the socket of a flow shows why its kernel "
    "retransmits, and the sockets of CMD are its own"
)


class Backend(Enum):
    """What runs an experiment."""

    SIMULATOR = "simulator"
    KERNEL = "kernel"


def emulate(  # noqa: PLR0913  (all but the first two are options)
    scenario: Annotated[
        str | None, typer.Argument(help="A TOML file, or the name of an included scenario.")
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- CMD",
            help="A command for the first host of the first link, instead of the scenario's flows; "
            "{peer} is the address of the other end, {NAME} that of the host NAME.",
        ),
    ] = None,
    *,
    runs: Annotated[int, typer.Option(min=1, help="Seeds.")] = 1,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="The first seed; run i has seed + i.")
    ] = 1,
    parallel: Annotated[
        int, typer.Option(min=1, max=MOST_JOBS, help="Runs at a time, each on its own hosts.")
    ] = 1,
    set_: Set = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="A server for the other end, a command line for sh; CMD starts once it listens.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for tables and captures, and figures of the first run's flows."),
    ] = None,
    clean: Annotated[
        bool, typer.Option("--clean", help="Only remove namespaces that killed runs left behind.")
    ] = False,
    virtual: Virtual = False,
    kernel: HostKernels = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="With --virtual: a host that runs the engine, not a guest kernel; repeatable.",
        ),
    ] = None,
    sender: Annotated[
        str, typer.Option("--sender", "-s", help="The engine's sender, for flows that name none.")
    ] = "linux",
    withhold: Annotated[
        bool,
        typer.Option(
            "--withhold",
            help="With --virtual: find the truth about each timeout and fast retransmit by a "
            "repeated run without its retransmission.",
        ),
    ] = False,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            help="A passive detector at every sender, scored against the ground truth; or all."
        ),
    ] = None,
    prototype: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE.py:CLASS", help="Your own detector, for --judge."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document; CMD's output goes to stderr.")
    ] = False,
) -> None:
    """Run a scenario on real kernels: its own flows, or a command.

    The hosts are network namespaces in real time, which need Linux and root. With --virtual they
    are guests on a virtual clock, which need Linux and a kernel of `rtolab kernel build`.

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
        raise Error("`emulate` needs a scenario, a TOML file or the name of an included one")
    settings = pairs(set_, "--set")
    guest, others = guests_of(kernel, virtual=virtual)
    _check_options(
        {"--withhold": withhold, "--engine": engine}, flows_of_guests=virtual and not command
    )
    if server and not command:
        raise Error("--server goes with a client: --server CMD -- CMD")
    if command:
        if judge:
            raise Error(JUDGE_WITHOUT_FLOWS)
        if runs > 1 or parallel > 1:
            raise Error("--runs and --parallel go with the scenario's flows, not with CMD")
        programs = Programs(command, server, guest, others)
        _command((scenario, seed), programs, settings, out=out, as_json=as_json)
        return
    from rtolab.emulation import Engine  # noqa: PLC0415
    from rtolab.emulation import emulate as emulate_flows  # noqa: PLC0415
    from rtolab.prototype.source import load  # noqa: PLC0415

    with ends_in_order(), progressing(f"emulating {scenario}") as progress:
        result = emulate_flows(
            scenario,
            seed=seed,
            runs=runs,
            set=settings,
            parallel=parallel,
            kernel=guest,
            kernels=others,
            engine=Engine(engine or [], sender),
            withhold=withhold,
            judge=judge or (),
            prototypes=[load(place) for place in prototype or ()],
            progress=progress,
        )
    _report((scenario, seed), result, judged=bool(judge), out=out, as_json=as_json)


def _report(
    which: tuple[str, int],
    result: EmulationResult,
    *,
    judged: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Write and print the result of flows; exits with 1 if it is in doubt."""
    from rtolab import judging  # noqa: PLC0415

    scores = judging.confusions(result) if judged else None
    files = [*result.write(out), *_draw(result, out)] if out else []
    if as_json:
        judges = {} if scores is None else {"judges": [asdict(one) for one in scores]}
        print_json(_document(*which, result, files) | judges)
    else:
        from rtolab.tables import detector_scores  # noqa: PLC0415
        from rtolab.tables import emulated as emulated_tables  # noqa: PLC0415

        stdout().print(emulated_tables.emulated(result))
        if scores is not None:
            stdout().print(detector_scores(scores))
        name_files(files)
    if any(result.doubts):
        raise typer.Exit(SAYS_NO)


def _draw(result: EmulationResult, out: Path) -> list[Path]:
    """Write a time-sequence figure of each TCP flow of the first run."""
    import polars as pl  # noqa: PLC0415

    from rtolab.plot import save  # noqa: PLC0415
    from rtolab.result import file_name  # noqa: PLC0415

    files = []
    first = result.segments.filter(pl.col("run") == 0)
    for flow in first["flow"].unique(maintain_order=True):
        figure = result.plot.time_sequence(0, flow=flow)
        files.append(save(figure, out / f"{file_name(flow)}-sender"))
    return files


def _check_options(given: dict[str, object], *, flows_of_guests: bool) -> None:
    """Raises an error for options that only the scenario's flows between guests have."""
    for option, value in given.items():
        if value and not flows_of_guests:
            raise Error(f"{option} goes with --virtual and the scenario's flows")


def guest_of(name: str | None, *, virtual: bool) -> Kernel | None:
    """The kernel of --virtual and --kernel.

    Raises:
        Error: there is none of this name, or --virtual is missing.
    """
    if name is not None and not virtual:
        raise Error("--kernel names a guest, which needs --virtual")
    from rtolab import kernel  # noqa: PLC0415

    return kernel.find(name) if virtual else None


def guests_of(names: list[str] | None, *, virtual: bool) -> tuple[Kernel | None, dict[str, Kernel]]:
    """The kernel of --virtual and --kernel, and those of hosts that have another one.

    Raises:
        Error: there is none of a name, a name is given twice, or --virtual is missing.
    """
    from rtolab import kernel  # noqa: PLC0415

    of_hosts: dict[str | None, str] = {}
    for given in names or []:
        host, _, name = given.rpartition("=")
        if (host or None) in of_hosts:
            raise Error(f"--kernel {given}: expected one kernel for {host or 'all hosts'}")
        of_hosts[host or None] = name
    guest = guest_of(of_hosts.pop(None, None), virtual=virtual)
    if of_hosts and not virtual:
        raise Error("--kernel names a guest, which needs --virtual")
    return guest, {str(host): kernel.find(name) for host, name in of_hosts.items()}


def on_kernel(
    ids: list[str],
    runs: int | None,
    *,
    seed: int,
    parallel: int,
    guest: Kernel | None,
    out: Path,
    as_json: bool,
) -> None:
    """Run experiments on the simulator and on the kernel, beside the published values.

    Raises:
        Error: an experiment has no senders that a kernel can be set to.
    """
    from rtolab import experiments  # noqa: PLC0415
    from rtolab.experiments import kernel  # noqa: PLC0415
    from rtolab.tables import emulated as emulated_tables  # noqa: PLC0415

    named = experiments.find(ids)
    found = [one for one in named if one.id in kernel.MAPPINGS]
    studied = any(one.id == kernel.ON_GUESTS for one in named)
    if studied and ids and guest is None:
        raise Error(f"{kernel.ON_GUESTS} needs guests on a virtual clock: add --virtual")
    if not found and not studied:
        kernel.find(named[0].id)
    documents, good = [], True
    if studied and guest:
        documents.append(_study_on_guests(guest, seed, out, as_json=as_json))
    for experiment in found:
        with ends_in_order(), progressing(f"{experiment.id} on kernels") as progress:
            done = kernel.on_kernel(
                experiment,
                runs=runs or kernel.RUNS,
                seed=seed,
                parallel=parallel,
                guest=guest,
                progress=progress,
            )
        folder = out / experiment.id / "kernel"
        files = done.emulated.write_tables(folder)
        document = done.document()
        path = folder / "kernel.json"
        write_text(path, json.dumps(document, indent=2) + "\n")
        documents.append(document | {"files": [str(file) for file in (path, *files)]})
        good = good and not any(done.emulated.doubts)
        if not as_json:
            stdout().print(emulated_tables.on_kernel(done))
            name_files([path])
    if as_json:
        print_json(documents[0] if len(documents) == 1 else documents)
    if not good:
        raise typer.Exit(SAYS_NO)


def _study_on_guests(guest: Kernel, seed: int, out: Path, *, as_json: bool) -> dict[str, Any]:
    """Run the outage study on guests, print its table and write its document."""
    from rtolab.experiments.outages.guests import study  # noqa: PLC0415
    from rtolab.tables.reproduced import laid_out  # noqa: PLC0415

    with ends_in_order(), progressing("outages/study on guests") as progress:
        done = study(guest, seed=seed, progress=progress)
    path = out / "outages" / "study" / "kernel" / "kernel.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    document = done.document()
    write_text(path, json.dumps(document, indent=2) + "\n")
    if not as_json:
        stdout().print(laid_out(done.table()))
        name_files([path])
    return document | {"files": [str(path)]}


def _document(
    scenario: str, seed: int, result: EmulationResult, files: list[Path]
) -> dict[str, Any]:
    from rtolab.emulation import counted, doubts  # noqa: PLC0415

    reports = [
        {
            "seed": seed + number,
            **report,
            "summary": counted(report),
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


def _hosts(scenario: Path) -> list[str]:
    """The names of the ends of a scenario's links; none if it is no TOML, which has an error."""
    try:
        found: dict[str, Any] = tomllib.loads(scenario.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    links = found.get("link", [])
    tables = [link for link in links if isinstance(link, dict)] if isinstance(links, list) else []
    ends = [link.get("between") for link in tables]
    lists = [names for names in ends if isinstance(names, list)]
    return [name for names in lists for name in names if isinstance(name, str)]


@dataclass(frozen=True)
class Programs:
    """CMD, a server at the other end, the kernel of guests, and those of other hosts."""

    client: list[str]
    server: str | None
    guest: Kernel | None
    others: dict[str, Kernel]


def _run_in_guests(
    which: tuple[Path, int], programs: Programs, settings: list[tuple[str, str]], keep: bool
) -> tuple[Outcome, EmulationReport, ServerEnd | None]:
    from rtolab.emulation import kernel_rows  # noqa: PLC0415
    from rtolab.emulation.programs import ServerEnd  # noqa: PLC0415

    assert programs.guest
    outcome, report = _rtolab.emulate_programs(
        which[0],
        guest=(programs.guest.folder, programs.guest.title),
        others=kernel_rows(programs.others),
        client=programs.client,
        server=programs.server,
        set=settings,
        seed=which[1],
        keep=keep,
    )
    end = report["server_end"]
    return outcome, report, ServerEnd(**end) if end else None


def _run_in_namespaces(
    which: tuple[Path, int], programs: Programs, settings: list[tuple[str, str]], keep: bool
) -> tuple[Outcome, EmulationReport, ServerEnd | None]:
    from rtolab.emulation.programs import ServerEnd, in_namespaces  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        file, argv = Path(folder) / "end", programs.client
        if programs.server:
            argv = in_namespaces(argv, programs.server, end=file)
        outcome, report = _rtolab.emulate(
            which[0], set=settings, seed=which[1], command=argv, keep=keep
        )
        end = ServerEnd.read(file)
    if end:
        report["server_end"] = {"code": end.code, "before_client": end.before_client}
    return outcome, report, end


def _command(
    which: tuple[str, int],
    programs: Programs,
    settings: dict[str, str],
    *,
    out: Path | None,
    as_json: bool,
) -> None:
    from rtolab.emulation import EmulationResult, doubts  # noqa: PLC0415
    from rtolab.emulation.placeholders import check_placeholders  # noqa: PLC0415

    scenario, seed = which
    path = find_scenario(scenario)
    known = ["peer", *_hosts(path)]
    check_placeholders("CMD", programs.client, known)
    check_placeholders("--server", [programs.server or ""], known)
    with ends_in_order(), stdout_is_stderr() if as_json else nullcontext():
        run = _run_in_guests if programs.guest else _run_in_namespaces
        outcome, report, end = run((path, seed), programs, list(settings.items()), out is not None)
    failed = end is not None and end.failed
    started = end is None or not end.before_client
    if not started:
        # The exit status is that of the script that waited for the server.
        report["returncode"] = None
    doubted, files = doubts(report), list[Path]()
    if out is not None:
        files = EmulationResult(scenario, outcome, [report]).write(out)
    if as_json:
        ran: dict[str, Any] = {
            "scenario": scenario,
            "seed": seed,
            "command": programs.client,
        }
        if programs.server:
            ran["server"] = programs.server
        good = not doubted and not failed
        named = [str(file) for file in files]
        print_json({**ran, **report, "good": good, "doubts": doubted, "files": named})
    else:
        from rtolab.tables import emulated as emulated_tables  # noqa: PLC0415

        stdout().print(emulated_tables.emulation(report, started=started))
        if failed:
            stdout().print(f"FAILED  {end}", highlight=False)
        name_files(files)
    if report["interrupted"]:
        raise KeyboardInterrupt
    if report["returncode"] != 0 or doubted or failed:
        raise typer.Exit(SAYS_NO)
