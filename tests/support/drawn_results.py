"""What becomes of scenarios that are drawn at random, and of a small one with each key alone.

After a change that is meant to change results, or that adds a key or a policy, `python
tests/support/drawn_results.py` records them again, and prints the differences. A commit that does
so says why.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rtolab
from drawn_scenarios import Drawing, each_key, inline, scenario
from recorded_results import TABLES, hashed
from rtolab import Error, Result

FILE = Path(__file__).parents[1] / "drawn_results.json"
SEEDS = range(1, 401)
SMALL = """
title = "A short transfer"
duration = "40 s"

[[link]]
name = "path"
between = ["near", "far"]
rate = "500 kbit/s"
delay = "40 ms"
loss = 0.02
stalls.scripted = [{ at = "1 s", for = "3 s" }]

[tcp]
sender = "sack+frto"

[[flow]]
name = "transfer"
from = "near"
to = "far"
bytes = "90 kB"
"""
"""A scenario that repairs losses and has a spurious timeout, for each key alone."""
PACKETS = {"segments": ("at_s", "place", "seq", "len", "ack", "window", "flags", "bytes", "fate")}
"""What is compared of it."""


def refused_line(lines: list[str], number: int) -> int:
    """The line to leave out, from 0: this one; of a table that is refused as a whole its last."""
    if not lines[number].startswith("["):
        return number
    while number + 1 < len(lines) and lines[number + 1]:
        number += 1
    return number


def run_drawn(
    seed: int, folder: Path, judge: Sequence[str] = ()
) -> tuple[list[str], list[str], Result]:
    """A run of the scenario without the keys and policies that are refused.

    Returns:
        Why these are refused, the sender's policies that are left, and the result.
    """
    lines, policies = scenario(seed).splitlines(), Drawing(seed).sender()
    path, found = folder / f"drawn-{seed}.toml", []
    while True:
        path.write_text("\n".join(lines), encoding="utf-8")
        sender = "+".join(policies)
        try:
            result = rtolab.run(
                path, sender=sender, seed=seed, trace=True, windows=True, judge=judge
            )
        except Error as error:
            message = str(error).replace(str(path), "")
            found.append(message)
            if at := re.match(r":(\d+): ", message):
                del lines[refused_line(lines, int(at[1]) - 1)]
            elif policies[1:]:
                policies.pop()
            else:
                raise
        else:
            return found, policies, result


def outcome(seed: int, folder: Path) -> str:
    """What becomes of the scenario: a line for each key or policy that is refused, then the run's.

    What is refused is left out.
    """
    judge = ("all",) if Drawing(seed).random("judge").random() < 0.3 else ()
    refused, policies, result = run_drawn(seed, folder, judge)
    return "\n".join([*refused, f"{'+'.join(policies)}: {summary(result)}"])


def summary(result: Result, tables: Mapping[str, Sequence[str]] | None = None) -> str:
    """How a run went, and a hash of its tables: of those recorded, or of these columns."""
    rows = result.connections
    counts = {
        name: int(rows[name].sum() or 0)
        for name in ("segments", "retransmissions", "timeouts", "unneeded")
    }
    digest = hashlib.sha256()
    for name, columns in (tables or recorded()["columns"]).items():
        digest.update(hashed(getattr(result, name), list(columns)).encode())
    words = ", ".join(f"{count} {name}" for name, count in counts.items())
    return f"{words}; {digest.hexdigest()[:12]}"


@cache
def recorded() -> dict[str, Any]:
    """The columns that were hashed, by table, and the outcomes, by seed and by key."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def different(seeds: Iterable[int], folder: Path) -> Iterator[str]:
    """The scenarios whose outcome is not as recorded, in a line each."""
    for seed in seeds:
        before, now = recorded()["outcomes"].get(str(seed)), outcome(seed, folder)
        if now != before:
            yield f"{seed}: {before} -> {now}"


def of_each_key(folder: Path) -> dict[str, str]:
    """What becomes of a small scenario with each key: how many values it takes, and a hash."""
    path = folder / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    found = {}
    for key, settings in each_key():
        taken, lines = 0, []
        for set_ in settings:
            given = {
                name: inline(value) if isinstance(value, dict | list) else value
                for name, value in set_.items()
            }
            try:
                result = rtolab.run(path, set=given, seed=1, trace=True)
            except Error as error:
                lines.append(str(error).replace(str(folder), ""))
            else:
                taken += 1
                lines.append(summary(result, PACKETS))
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
        found[key] = f"{taken} of {len(settings)}: {digest}"
    return found


def record() -> None:
    """Write the file again, and print what differs."""
    before = recorded()
    with TemporaryDirectory() as name:
        folder = Path(name)
        for line in different(SEEDS, folder):
            print(line)  # noqa: T201
        keys = of_each_key(folder)
        for key in before["keys"] | keys:
            if keys.get(key) != before["keys"].get(key):
                print(f"{key}: {before['keys'].get(key)} -> {keys.get(key)}")  # noqa: T201
        # Outcomes hash these columns.
        before["columns"] = {
            table: getattr(rtolab.run("tail", judge="all"), table).columns for table in TABLES
        }
        after = {str(seed): outcome(seed, folder) for seed in SEEDS}
        found = {"columns": before["columns"], "outcomes": after, "keys": of_each_key(folder)}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
