"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from rtolab.run import MOST_JOBS

Scenario = Annotated[str, typer.Argument(help="A TOML file, or the name of an included scenario.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="key=value that replaces a value of the scenario; repeatable."),
]
Runs = Annotated[int, typer.Option(min=1, help="Seeds for each sender.")]
Seed = Annotated[int, typer.Option(min=0, help="The first seed; run i has seed + i.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, max=MOST_JOBS, help="Threads; by default one per processor.")
]
Out = Annotated[Path, typer.Option(help="Folder for the report, figures and captures.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, nothing else.")]
Virtual = Annotated[
    bool,
    typer.Option(
        "--virtual",
        help="Run the hosts as guests on a virtual clock, without root; see `rtolab kernel`.",
    ),
]
KernelName = Annotated[
    str | None,
    typer.Option(
        "--kernel",
        metavar="NAME",
        help="The guests' kernel, with --virtual; by default the newest.",
    ),
]
HostKernels = Annotated[
    list[str] | None,
    typer.Option(
        "--kernel",
        metavar="NAME|HOST=NAME",
        help="The guests' kernel, with --virtual, or that of one host; repeatable; by default the "
        "newest.",
    ),
]
