"""`rtolab list`, `rtolab explain` and `rtolab schema`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from rtolab import _rtolab
from rtolab.cli import explain, listing
from rtolab.cli.options import AsJson
from rtolab.cli.terminal import print_json, stdout

LISTED = 200
"""Columns of a listing that no terminal shows."""


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


def schema() -> None:
    """Print the JSON Schema of a scenario, for editors."""
    print_json(json.loads(_rtolab.schema()))
