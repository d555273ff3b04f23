"""Makes captures whose truth is known, and scores the diagnosis on them.

`make captures` does.

Each NAME.pcapng comes with NAME.labels.parquet, one row a retransmission and one a timeout. The
simulator makes most; a kernel makes the rest where root, /dev/net/tun and iproute2 are to be had.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import polars as pl

import kernels
from rtolab.diagnosis import diagnose
from rtolab.result import PLACES, Result
from rtolab.run import run

SCENARIOS = (
    *("ack-outage", "delays2001-hold", "frto2002-delays", "frto2002-loss", "frto2002-outages"),
    *("gprs-reselection", "hold", "lte-handover", "outage", "rate-drop"),
    *("satellite-handover", "stall", "tail", "wifi-suspension"),
)
SENDERS = ("newreno", "sack", "sack+frto", "sack+eifel", "linux")
SEEDS = range(101, 103)
"""None of which the rules were made on."""


@dataclass(frozen=True)
class Labelled:
    """A run, and the number that it has among those of its tables."""

    name: str
    result: Result
    run: int


def runs() -> Iterator[Labelled]:
    """All, one after the other."""
    for scenario, sender in product(SCENARIOS, SENDERS):
        for seed in SEEDS:
            result = run(scenario, sender=sender, seed=seed)
            yield Labelled(f"{scenario}_{sender}_{seed}", result, 0)
    if kernels.missing():
        return
    pairs = kernels.frto_pairs()
    for number, name in enumerate(kernels.FRTO_PAIRS):
        yield Labelled("kernel_" + name.replace(", ", "_").replace(" ", "-"), pairs, number)


def labels(one: Labelled, place: str) -> pl.DataFrame:
    """What is known of a run's first flow, by frame of the capture at this place."""
    mine = pl.col("run") == one.run
    here = one.result.segments.filter(mine & (pl.col("place") == place))
    event = "sent" if place == "sender" else "received"
    again = here.with_row_index("frame", 1).filter(
        pl.col("retransmission") & (pl.col("event") == event) & (pl.col("len") > 0)
    )
    truth = pl.when(pl.col("unneeded")).then(pl.lit("unneeded")).otherwise(pl.lit("needed"))
    found = again.select("frame", pl.lit("verdict").alias("what"), truth.alias("truth"))
    if place == "receiver":
        return found
    timers = one.result.timeouts.filter(mine & (pl.col("kind") == "timeout"))
    fired = again.join(timers.drop_nulls("truth"), on=["at_s", "seq"], suffix="_of_timer")
    said = fired.select("frame", pl.lit("timeout").alias("what"), "truth")
    return pl.concat([found, said])


def make(folder: Path) -> list[str]:
    """Writes the captures and their labels; their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for one in runs():
        for place in PLACES:
            name = f"{one.name}.{place}"
            (folder / f"{name}.pcapng").write_bytes(one.result.pcapng(one.run, place))
            labels(one, place).write_parquet(folder / f"{name}.labels.parquet")
            names.append(name)
    return names


def compared(folder: Path, name: str) -> Counter[tuple[str, str, str, str]]:
    """How often what is known and what was found go together: place, what, truth, found."""
    place = name.rsplit(".", 1)[-1]
    [capture] = folder.glob(f"{name}.pcapng*")
    connections = diagnose(capture).document["connections"]
    found = {
        ("verdict", r["frame"]): r["verdict"] for c in connections for r in c["retransmissions"]
    }
    found |= {("timeout", t["frame"]): t["class"] for c in connections for t in c["timeouts"]}
    known = pl.read_parquet(folder / f"{name}.labels.parquet")
    return Counter(
        (place, what, truth, found.get((what, frame), "missed"))
        for frame, what, truth in known.iter_rows()
    )


def table(counts: Counter[tuple[str, str, str, str]]) -> Iterable[str]:
    """Precision and recall, a line each of what can be true."""
    for place, what, truth in sorted({key[:3] for key in counts}):
        right = counts[place, what, truth, truth]
        all_ = sum(n for key, n in counts.items() if key[:3] == (place, what, truth))
        said = sum(n for (p, w, _, f), n in counts.items() if (p, w, f) == (place, what, truth))
        unknown = counts[place, what, truth, "unknown"]
        title = f"{place} {what} {truth}"
        shares = f"precision {right:5} of {said:5}  recall {right:5} of {all_:5}"
        yield f"  {title:30} {shares}  unknown {unknown}"


def _run_of(name: str) -> str:
    return name.rsplit(".", 1)[0]


def parts(names: list[str]) -> dict[str, list[str]]:
    """Every other run, those between them, and the kernel's."""
    one_half = set(sorted({_run_of(name) for name in names})[::2])
    return {
        "one half": [name for name in names if _run_of(name) in one_half],
        "the other half": [name for name in names if _run_of(name) not in one_half],
        "kernels alone": [name for name in names if name.startswith("kernel_")],
    }


def score(folder: Path, names: list[str]) -> Iterable[str]:
    """The table of these captures."""
    return table(sum((compared(folder, name) for name in names), Counter()))
