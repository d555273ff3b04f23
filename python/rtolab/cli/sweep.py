"""The command `rtolab sweep`."""

from __future__ import annotations

import signal
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rtolab._rtolab import Error
from rtolab.cli.options import AsJson, Jobs
from rtolab.cli.terminal import SAYS_NO, announce, complain, print_json, progressing, stdout
from rtolab.text import counted

if TYPE_CHECKING:
    from rtolab.sweep import Shard, Sweep, SweepOutcome, WorkerPool

SHOWN_FAILURES = 10


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="The sweep file.")],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results.", show_default="the file's `out`, or out/ and its name"
        ),
    ] = None,
    jobs: Jobs = None,
    status: Annotated[
        bool, typer.Option("--status", help="Print the progress, and compute nothing.")
    ] = False,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A Dask scheduler, such as tcp://head:8786."),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Compute part I of N only; then the command without --shard joins the parts.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a scenario over a grid of its keys, with senders and seeds.

    Finished parts stay in the folder. After an interruption the same command continues, and a
    larger sweep computes only the new parts. Shards may run at the same time in one shared folder.

    Exits with 1 if a part fails.
    """
    from rtolab.sweep import Shard, load  # noqa: PLC0415

    part = Shard.parse(shard) if shard is not None else None
    if part and status:
        raise Error("--shard: found with --status, which reports on the whole folder; omit one")
    definition = load(file)
    folder = out or definition.out or Path("out") / file.stem
    if status:
        _status(definition, folder, as_json=as_json)
        return
    done = _run(definition, folder, _worker_pool(dask, jobs), part)
    document = _document(definition, folder, done, part)
    if as_json:
        print_json(document)
    else:
        _show(document)
    if done.failures:
        raise typer.Exit(SAYS_NO)


def _worker_pool(dask: str | None, jobs: int | None) -> WorkerPool:
    if dask is None:
        from rtolab.sweep import Threads  # noqa: PLC0415

        return Threads(jobs)
    from rtolab.sweep.cluster import Cluster  # noqa: PLC0415

    return Cluster(dask, say=announce)


def _run(
    definition: Sweep, folder: Path, worker_pool: WorkerPool, shard: Shard | None
) -> SweepOutcome:
    from rtolab.sweep import run  # noqa: PLC0415

    try:
        with progressing(f"sweeping {definition.file}") as tell:
            return run(definition, folder, worker_pool, tell, shard=shard)
    except KeyboardInterrupt:
        complain(
            f"interrupted: what is finished is kept in {folder}; the same command continues "
            "from there",
            128 + signal.SIGINT,
        )
        raise  # Not reached: `complain` exits.
    finally:
        worker_pool.stop()


def _document(
    definition: Sweep, folder: Path, done: SweepOutcome, shard: Shard | None
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "out": str(folder),
        "shard": asdict(shard) if shard else None,
        "chunks": len(done.finished),
        "computed": done.computed,
        "failed": [asdict(failure) for failure in done.failures],
        "seconds": round(done.seconds, 3),
    }
    if definition.until is not None:
        document["until"] = asdict(definition.until)
        document["cells"] = [
            {
                **dict(definition.points[cell // len(definition.senders)].columns),
                "sender": definition.senders[cell % len(definition.senders)],
                "runs": settled.runs,
                "estimate": asdict(settled.estimate) if settled.estimate else None,
                "narrow": settled.narrow,
            }
            for cell, settled in sorted(done.settled.items())
        ]
    return document


def _show(document: dict[str, Any]) -> None:
    chunks, computed, failed = document["chunks"], document["computed"], document["failed"]
    kept = chunks - computed
    _say(f"{chunks} chunks are finished: {computed} computed, {kept} kept from before")
    cells = document.get("cells", [])
    wide = [cell for cell in cells if not cell["narrow"]]
    if cells:
        measure = document["until"]["measure"]
        _say(
            f"{len(cells) - len(wide)} of {len(cells)} cells have an interval of {measure} as "
            "narrow as requested"
        )
    _failures(failed)
    if document["shard"]:
        shard = document["shard"]
        _say(
            f"this was shard {shard['number']}/{shard['of']}; after the last one, the same command "
            f"without --shard joins them in {document['out']}"
        )
    else:
        _say(f"results: {document['out']}")


def _status(definition: Sweep, folder: Path, *, as_json: bool) -> None:
    from rtolab.sweep.status import status  # noqa: PLC0415

    found = status(definition, folder)
    if as_json:
        print_json({"out": str(folder), **asdict(found)})
        return
    most = "at most " if definition.until else ""
    at_work = counted(found.running, "worker") if found.running else "no worker"
    _say(f"{found.finished} of {most}{found.total} chunks are finished; {at_work} running")
    if found.settled is not None:
        _say(f"{found.settled} of {found.cells} cells need no more runs")
    if found.eta_s is not None and found.finished < found.total:
        _say(f"the rest takes about {_duration(found.eta_s)}")
    _failures([asdict(failure) for failure in found.failures])


def _failures(failed: list[dict[str, Any]]) -> None:
    if failed:
        _say(f"{counted(len(failed), 'chunk')} failed; the same command retries:")
    for failure in failed[:SHOWN_FAILURES]:
        _say(f"  {failure['about']}: {failure['error']}")
    if len(failed) > SHOWN_FAILURES:
        _say(f"  and {len(failed) - SHOWN_FAILURES} more (--json names all)")


def _duration(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


def _say(words: str) -> None:
    stdout().print(words, highlight=False, soft_wrap=True)
