"""Makes captures whose truth is known, and scores the diagnosis on them.

`make captures` does.

Each NAME.pcapng comes with NAME.labels.parquet, one row a retransmission and one a timeout. The
simulator makes most; a kernel makes the rest where root, /dev/net/tun and iproute2 are to be had.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

import kernel_runs
from prerequisites import no_hosts
from rtolab.diagnosis import diagnose
from rtolab.result import PLACES, Result
from rtolab.run import run

SCENARIOS = (
    *("ack-outage", "delays2001-hold", "frto2002-delays", "frto2002-loss", "frto2002-outages"),
    *("gprs-reselection", "hold", "lte-handover", "outage", "rate-drop"),
    *("satellite-handover", "stall", "tail", "wifi-suspension"),
)
SENDERS: tuple[tuple[str, dict[str, object]], ...] = (
    *((sender, {}) for sender in ("newreno", "sack", "sack+frto", "sack+eifel", "linux")),
    ("sack", {"receiver.dsack": True}),
)
SEEDS = range(101, 103)
"""Seeds on which no rule was developed."""

EVIDENCE = ("timestamps", "D-SACK", "SACK alone", "none of these")
"""The strongest evidence that a capture may hold."""

Key = tuple[str, str, str, str]
"""Place and evidence; what; truth; what was found."""


@dataclass(frozen=True)
class Labelled:
    """A run, and the number that it has among those of its tables."""

    name: str
    result: Result
    run: int


def runs() -> Iterator[Labelled]:
    """All, one after the other."""
    for scenario, (sender, set), seed in product(SCENARIOS, SENDERS, SEEDS):
        result = run(scenario, sender=sender, seed=seed, set=set)
        yield Labelled(f"{scenario}_{sender}{'-dsack' * bool(set)}_{seed}", result, 0)
    if no_hosts():
        return
    pairs = kernel_runs.frto_pairs()
    for number, name in enumerate(kernel_runs.FRTO_PAIRS):
        yield Labelled("kernel_" + name.replace(", ", "_").replace(" ", "-"), pairs, number)


def labels(one: Labelled, place: str) -> pl.DataFrame:
    """The truth about a run's first flow, by frame of the capture at this place."""
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
    fired = again.join(timers.drop_nulls("truth"), on=["flow", "at_s", "seq"], suffix="_of_timer")
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


def known(folder: Path, name: str) -> pl.DataFrame:
    """The labels of a capture."""
    return pl.read_parquet(folder / f"{name}.labels.parquet")


def file(folder: Path, name: str) -> Path:
    """A capture."""
    [found] = folder.glob(f"{name}.pcapng*")
    return found


def compared(folder: Path, name: str) -> Counter[Key]:
    """How often each label meets each verdict."""
    place = name.rsplit(".", 1)[-1]
    connections = diagnose(file(folder, name)).document["connections"]
    found = {
        ("verdict", r["frame"]): r["verdict"] for c in connections for r in c["retransmissions"]
    }
    found |= {("timeout", t["frame"]): t["class"] for c in connections for t in c["timeouts"]}
    at = f"{place}, {evidence(connections)}" if place == "sender" else place
    counts = Counter(
        (at, what, truth, found.pop((what, frame), "missed"))
        for frame, what, truth in known(folder, name).iter_rows()
    )
    # Everything else that the diagnosis calls a retransmission of data is wrong.
    shown = {r["frame"] for c in connections for r in c["retransmissions"] if r["len"] > 0}
    counts.update(
        (at, what, "neither", said) for (what, at_), said in found.items() if at_ in shown
    )
    return counts


def evidence(connections: Sequence[dict[str, Any]]) -> str:
    """The strongest evidence that acknowledgments of the capture carry."""
    options = [one["options"] for one in connections if one["options"]]
    for name, key in zip(EVIDENCE, ("timestamps", "dsack", "sack"), strict=False):
        if any(one[key] for one in options):
            return name
    return EVIDENCE[-1]


def table(counts: Counter[Key]) -> Iterable[str]:
    """Precision and recall, a line each of what can be true."""
    for place, what, truth in sorted({key[:3] for key in counts} - {None}):
        if truth == "neither":
            continue
        right = counts[place, what, truth, truth]
        all_ = sum(n for key, n in counts.items() if key[:3] == (place, what, truth))
        said = sum(n for (p, w, _, f), n in counts.items() if (p, w, f) == (place, what, truth))
        unknown = counts[place, what, truth, "unknown"]
        title = f"{place}: {what} {truth}"
        shares = f"precision {_share(right, said)}  recall {_share(right, all_)}"
        yield f"  {title:42} {shares}  unknown {unknown}"


def _share(part: int, whole: int) -> str:
    share = f"{100 * part / whole:5.1f} %" if whole else "      -"
    return f"{part:6} of {whole:6} {share}"


def _run_of(name: str) -> str:
    return name.rsplit(".", 1)[0]


def is_of_first_half(name: str) -> bool:
    """May thresholds be set by the capture? The name of its run decides, whatever it holds."""
    return sha256(_run_of(name).encode()).digest()[0] % 2 == 0


def parts(names: list[str]) -> dict[str, list[str]]:
    """The half that may set thresholds, the test half, and the captures of the kernel."""
    test_half = [name for name in names if not is_of_first_half(name)]
    return {
        "first half": [name for name in names if is_of_first_half(name)],
        "test half": test_half,
        "of these the kernel's alone": [name for name in test_half if name.startswith("kernel_")],
    }


def score(folder: Path, names: list[str]) -> Iterable[str]:
    """The table of these captures."""
    return table(sum((compared(folder, name) for name in names), Counter()))
