"""Results as hashes: those of the runs when `results.json` was recorded, equal on any machine.

After a change that is meant to change results, `python tests/support/recorded_results.py`
records them again, and prints the differences. A commit that does so says why.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

import polars as pl

import rtolab
from rtolab import Result
from rtolab.run import included_scenarios

FILE = Path(__file__).parents[1] / "results.json"
TABLES = ("connections", "timeouts", "links", "windows", "segments")

# Benchmarks are too long to record.
SCENARIOS = [name for name in included_scenarios() if not name.startswith("bench-")]
SHORTER = {"mmwave-blockage": "2 s", "satellite-handover": "5 s"}

# One of each kind: how losses are found and repaired, what timeouts lead to, what undoes them.
SENDERS = [
    "tahoe",
    "reno",
    "newreno+frto",
    "newreno:careful+eifel:rfc3522+full",
    "sack:ns2",
    "sack+frto:rfc5682-sack",
    "sack+eifel+rfc4015",
    "sack+dsack:linux+linux",
    "reno+dualrtt",
    "linux-2.2",
    "freebsd-4.1",
]

Recorded = dict[str, dict[str, str]]
"""Hashes by table, of each scenario."""


@cache
def columns() -> dict[str, list[str]]:
    """The columns that were hashed, by table; those that came later are not among them."""
    found: dict[str, list[str]] = json.loads(FILE.read_text())["columns"]
    return found


@cache
def recorded() -> Recorded:
    """The recorded hashes, by scenario."""
    found: Recorded = json.loads(FILE.read_text())["hashes"]
    return found


def hashes(scenario: str, of: dict[str, list[str]]) -> dict[str, str]:
    """The current hashes of a scenario: with all senders, and of one run with all its packets."""
    set_ = {"duration": SHORTER[scenario]} if scenario in SHORTER else {}
    many = rtolab.run(scenario, sender=SENDERS, runs=2, set=set_)
    one = rtolab.run(scenario, judge="all", set=set_)
    return {
        **{f"{name} of many": hashed(_table(many, name), of[name]) for name in TABLES[:3]},
        **{f"{name} of one": hashed(_table(one, name), of[name]) for name in TABLES},
    }


def _table(result: Result, name: str) -> pl.DataFrame:
    table: pl.DataFrame = getattr(result, name)
    return table


def hashed(table: pl.DataFrame, names: list[str]) -> str:
    """The hash of some columns of a table."""
    digest = hashlib.sha256(str(table.height).encode())
    for name in names:
        column = table[name]
        missing = column.is_null().to_list() if column.null_count() else ""
        digest.update(f"{name} {missing}".encode())
        digest.update(_bytes(column))
    return digest.hexdigest()[:16]


def _bytes(column: pl.Series) -> bytes:
    """The values in the memory of a little-endian machine, which no version prints differently."""
    if not column.dtype.is_numeric():
        return "\0".join(map(str, column.to_list())).encode()
    values = column.fill_null(0).to_numpy()
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def record() -> None:
    """Write the file again, and print which scenarios have other results than before."""
    of = {name: _table(rtolab.run("tail", judge="all"), name).columns for name in TABLES}
    if FILE.exists():
        for scenario, before in recorded().items():
            now = hashes(scenario, columns()) if scenario in SCENARIOS else {}
            different = [name for name, value in before.items() if now.get(name) != value]
            if different:
                print(f"{scenario}: {', '.join(different)}")  # noqa: T201
    found = {scenario: hashes(scenario, of) for scenario in SCENARIOS}
    FILE.write_text(json.dumps({"columns": of, "hashes": found}, indent=1) + "\n")


if __name__ == "__main__":
    record()
