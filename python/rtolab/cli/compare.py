"""`rtolab compare`: the engine beside real kernels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rtolab._rtolab import Error
from rtolab.cli.emulate import guest_of
from rtolab.cli.options import AsJson, KernelName, Virtual
from rtolab.cli.terminal import SAYS_NO, name_files, pairs, print_json, progressing, stdout
from rtolab.process import ends_in_order
from rtolab.run import LARGEST_SEED, MOST_JOBS

if TYPE_CHECKING:
    from rtolab.emulation.agreement import Case
    from rtolab.emulation.comparison import Comparison


def compare(  # noqa: PLR0913  (all but the first are options)
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCENARIO...", help="TOML files, or names of shipped ones."),
    ] = None,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="The links of docs/agreement.md, some nine minutes.")
    ] = False,
    sender: Annotated[str, typer.Option("--sender", "-s", help="The engine's sender.")] = "linux",
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Seeds, each run on both: 10, or those of --all."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The first seed.")] = 1,
    parallel: Annotated[
        int, typer.Option(min=1, max=MOST_JOBS, help="Runs on kernels at a time.")
    ] = 10,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value that replaces the scenarios'.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the tables and a figure of both.")
    ] = None,
    virtual: Virtual = False,
    kernel: KernelName = None,
    as_json: AsJson = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table of docs/agreement.md, nothing else.")
    ] = False,
) -> None:
    """Compare the engine with this machine's kernel on the same links (Linux, root).

    With --virtual the kernel is a guest on a virtual clock, which needs no root.

    Exits with 1 if the two differ, or if this machine was too slow for the links.
    """
    from rtolab.emulation import agreement  # noqa: PLC0415
    from rtolab.tables import emulated as emulated_tables  # noqa: PLC0415

    if every == bool(scenarios):
        raise Error("`compare` needs scenarios, or --all")
    if as_json and as_markdown:
        raise Error("--json and --markdown exclude each other")
    guest = guest_of(kernel, virtual=virtual)
    cases = [*agreement.CASES] if every else [_case(name) for name in scenarios or []]
    found, files = [], []
    with (
        ends_in_order(),
        progressing(f"comparing {', '.join(one.name for one in cases)}") as progress,
    ):
        for case, done in agreement.compared(
            cases,
            sender=sender,
            seed=seed,
            runs=runs,
            set=pairs(set_, "--set"),
            parallel=parallel,
            kernel=guest,
            progress=progress,
        ):
            found.append((case, done))
            if out:
                files += _written(done, out / case.name if len(cases) > 1 else out)
    named = {"files": [str(path) for path in files]}
    documents = [{"name": case.name} | done.document() for case, done in found]
    if as_json:
        print_json((documents[0] if len(cases) == 1 else {"comparisons": documents}) | named)
    elif as_markdown:
        rows = [agreement.cells(case, done) for case, done in found]
        stdout().print(agreement.markdown(rows), highlight=False, markup=False, soft_wrap=True)
    else:
        only = emulated_tables.comparison(found[0][1]) if len(found) == 1 else None
        stdout().print(only or emulated_tables.agreement(found))
        name_files(files)
    if any(done.verdict != "agree" for _, done in found):
        raise typer.Exit(SAYS_NO)


def _case(scenario: str) -> Case:
    """A scenario without changes."""
    from rtolab.emulation.agreement import Case  # noqa: PLC0415

    return Case(Path(scenario).stem, scenario, runs=10)


def _written(done: Comparison, out: Path) -> list[Path]:
    """Write the tables of both, and a time-sequence figure of the first run of each."""
    from rtolab.plot import save  # noqa: PLC0415

    files = []
    for name, result in (("engine", done.engine), ("kernel", done.kernel)):
        files += result.write(out / name)
        files.append(save(result.plot.time_sequence(0), out / f"{name}-sender"))
    return files
