"""`rtolab rare`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from rtolab.cli.options import AsJson, Jobs, Scenario, Set
from rtolab.cli.terminal import SAYS_NO, pairs, print_json, progressing, stdout

if TYPE_CHECKING:
    from rtolab.rare import RareChance


def rare(  # noqa: PLR0913  (all but the first are options)
    scenario: Scenario,
    *,
    at_least: Annotated[int, typer.Option(min=0, help="The value that it has to reach.")],
    quantity: Annotated[
        str, typer.Option(help="backoff, timeouts or spurious_timeouts of a run.")
    ] = "backoff",
    sender: Annotated[
        str | None, typer.Option("--sender", "-s", help="A sender such as newreno+frto.")
    ] = None,
    set_: Set = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs at each level.")] = 1000,
    repeats: Annotated[
        int, typer.Option(min=1, help="Independent estimates, from which the interval follows.")
    ] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Of all random numbers.")] = 1,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the chance of a rare event, such as a timeout after six back-offs.

    Back-offs count since the last round-trip sample. With timestamps every ACK of new data gives
    one, so six back-offs are seven timeouts of one segment.

    Runs that come near the event are forked, and the forks continue with new random numbers
    (importance splitting), so that chances such as 1e-7 take seconds or minutes.

    Exits with 1 if no estimate reached the event.
    """
    from rtolab.rare import estimate  # noqa: PLC0415

    with progressing(f"estimating {scenario}") as progress:
        found = estimate(
            scenario,
            quantity,
            at_least,
            sender=sender,
            set=pairs(set_, "--set"),
            runs=runs,
            repeats=repeats,
            seed=seed,
            jobs=jobs,
            progress=progress,
        )
    if as_json:
        print_json({"scenario": scenario, "seed": seed, **asdict(found)})
    else:
        _show(found)
    if not found.successful:
        sys.stderr.write("rtolab: no run reached the event; expected more --runs\n")
        raise typer.Exit(SAYS_NO)


def _show(found: RareChance) -> None:
    from rich.table import Table  # noqa: PLC0415

    table = Table(found.quantity, "runs", "reached", "chance", title="Levels")
    for column in table.columns:
        column.justify = "right"
    for level in found.levels:
        table.add_row(
            f">= {level.value}", f"{level.runs}", f"{level.reached}", f"{level.chance:.3g}"
        )
    console = stdout()
    console.print(table)
    if found.low is None or found.high is None:
        return
    console.print(
        f"The chance of {found.quantity} >= {found.at_least} in a run is {found.chance:.3g}; "
        f"95 % confidence interval {found.low:.3g} to {found.high:.3g}",
        highlight=False,
    )
    if found.successful < found.repeats:
        console.print(
            f"Only {found.successful} of {found.repeats} estimates reached the event: with more "
            "--runs the interval is more reliable",
            highlight=False,
        )
