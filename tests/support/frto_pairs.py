"""Pairs of a kernel's transfers over the same link, without F-RTO and with it.

`tools/pairs` makes them. Only the capture without F-RTO is diagnosed: the number of unneeded
retransmissions that `rtolab diagnose --what-if` predicts for F-RTO stands beside the kernel's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

import kernel_runs
from rtolab.diagnosis import diagnose
from rtolab.diagnosis.what_if import what_if
from rtolab.emulation import Variant, emulate
from rtolab.kernel import Kernel

SCENARIO = "kernel-stall"
NEAR = 2
"""How many retransmissions a prediction may be off."""

AT_ONCE = 24
"""Transfers at a time: more keep two cores from releasing packets when they are due."""

UNSTALLED = {"link.radio.stalls.scripted": "[]"}
STEADY: dict[str, dict[str, Any]] = kernel_runs.LINKS | {
    "slow": {
        key: value for key, value in kernel_runs.SLOW.items() if not key.startswith("kernel.")
    },
}
"""Links that stall, and otherwise deliver every packet in order at one rate."""

UNSTEADY: dict[str, dict[str, Any]] = {
    "3 drops": {"link.radio.forward.drops": "[50, 120, 300]"},
    "lossy": {"link.radio.forward.loss": 0.01},
    "outage later": {"link.radio.forward.outages.scripted": '[{ at = "9 s", for = "500 ms" }]'},
    "outage": UNSTALLED
    | {"link.radio.forward.outages.scripted": '[{ at = "5 s", for = "1500 ms" }]'},
    "jitter": {"link.radio.jitter": '{ uniform = ["0 ms", "40 ms"] }', "link.radio.order": "free"},
    "overtaking": {"link.radio.jitter": '{ uniform = ["0 ms", "40 ms"] }'},
    "rate falls": UNSTALLED | {"link.radio.rate_changes": '[{ at = "5 s", rate = "100 kbit/s" }]'},
    "rate falls, queue": UNSTALLED
    | {
        "link.radio.rate_changes": '[{ at = "5 s", rate = "100 kbit/s" }]',
        "link.radio.queue": "25 kB",
    },
    "rate falls far, queue": UNSTALLED
    | {
        "link.radio.rate_changes": '[{ at = "5 s", rate = "28.8 kbit/s" }]',
        "link.radio.queue": "25 kB",
        "flow.transfer.bytes": "500 kB",
    },
    "queue": {
        "link.radio.queue": "20 kB",
        "receiver.buffer": "200 kB",
        "tcp.window_scale": 7,
        "receiver.window_scale": 7,
    },
    "thin way back": {"link.radio.backward.rate": "64 kbit/s"},
}
"""Links that lose or reorder packets, overflow or change their rate; most stall as well."""


@dataclass(frozen=True)
class Pair:
    """One link and one choice of options, and the runs of `emulate` without F-RTO and with it."""

    kind: str
    link: str
    options: str

    @property
    def name(self) -> str:
        """The stem of its capture."""
        return f"{self.link}_{self.options}".replace(", ", "_").replace(" ", "-")

    def set(self, frto: int) -> Mapping[str, Any]:
        """The values that override the scenario's."""
        link = (STEADY | UNSTEADY)[self.link]
        return link | kernel_runs.OPTIONS[self.options] | {"kernel.frto": frto}


def pairs() -> list[Pair]:
    """All."""
    kinds = (("steady", STEADY), ("unsteady", UNSTEADY))
    return [
        Pair(kind, link, options)
        for kind, links in kinds
        for link, options in product(links, kernel_runs.OPTIONS)
    ]


def make(
    folder: Path, guest: Kernel | None = None, chosen: Sequence[Pair] | None = None
) -> pl.DataFrame:
    """Writes the captures; returns the unneeded retransmissions without F-RTO and with it.

    The hosts are guests with the kernel `guest` on a virtual clock, or this machine's in real time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chosen = pairs() if chosen is None else chosen
    variants = [
        Variant(f"{pair.name} {frto}", pair.set(frto)) for pair in chosen for frto in (0, 2)
    ]
    result = emulate(SCENARIO, variants=variants, parallel=AT_ONCE, kernel=guest)
    sent = result.connections.sort("run").to_dicts()
    rows = []
    for number, pair in enumerate(chosen):
        off, on = 2 * number, 2 * number + 1
        (folder / f"{pair.name}.pcapng").write_bytes(result.pcapng(off, "sender"))
        (folder / f"{pair.name}.frto.pcapng").write_bytes(result.pcapng(on, "sender"))
        rows.append(
            {
                **vars(pair),
                "off": sent[off]["unneeded"],
                "on": sent[on]["unneeded"],
                "off_s": sent[off]["elapsed_s"],
                "on_s": sent[on]["elapsed_s"],
                "doubts": "; ".join(sorted({*result.doubts[off], *result.doubts[on]})),
            }
        )
    table = pl.DataFrame(rows)
    table.write_parquet(folder / "sent.parquet")
    return table


def with_frto(reported: Mapping[str, Any]) -> dict[str, Any]:
    """The prediction for F-RTO. The first row has the settings of the capture, or the defaults."""
    settings = {one["setting"]: one for one in reported["linux"]}
    found: dict[str, Any] = settings.get("tcp_frto=2", reported["linux"][0])
    return found


def predicted(file: Path) -> dict[str, Any]:
    """What a capture without F-RTO predicts for F-RTO; nothing if no prediction is possible."""
    found = what_if(diagnose(file))
    if "error" in found:
        return {"predicted": None, "predicted_s": None, "agrees": False, "refused": found["error"]}
    other, agrees = with_frto(found), found["agrees"]
    return {
        "predicted": other["unneeded"],
        "predicted_s": other["elapsed_s"],
        "agrees": agrees,
        "refused": "",
    }


def compared(folder: Path) -> pl.DataFrame:
    """The predicted and the counted retransmissions of each pair."""
    sent = pl.read_parquet(folder / "sent.parquet").to_dicts()
    rows = []
    for row in sent:
        pair = Pair(row["kind"], row["link"], row["options"])
        rows.append(row | predicted(folder / f"{pair.name}.pcapng"))
    off_by = pl.col("predicted").cast(pl.Int64) - pl.col("on").cast(pl.Int64)
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(
        near=(off_by.abs() <= NEAR).fill_null(value=False),
        matters=(pl.col("off").cast(pl.Int64) - pl.col("on").cast(pl.Int64)).abs() > NEAR,
    )


def table(found: pl.DataFrame) -> Iterator[str]:
    """A line for each pair, grouped by kind, and how many predictions are right."""
    yield f"{'':38}{'unneeded':>8}  {'with F-RTO':^14}  all acknowledged (s)"
    yield f"{'':38}{'without':>8}  {'model':>6}{'sent':>6}    {'model':>8}{'sent':>8}"
    for kind, part in found.group_by("kind", maintain_order=True):
        for row in part.to_dicts():
            yield _line(row)
        yield f"{kind[0]}: {_summary(part)}"


def _line(row: Mapping[str, Any]) -> str:
    name = f"{row['link']}, {row['options']}"
    keys = ("predicted", "predicted_s")
    predicted, predicted_s = ("-" if row[key] is None else row[key] for key in keys)
    predicted_s = predicted_s if predicted_s == "-" else f"{predicted_s:.2f}"
    marks = [] if row["near"] else ["MISSED"]
    marks += [] if row["agrees"] or row["refused"] else ["replay disagrees"]
    marks += [mark for mark in (row["refused"], row["doubts"]) if mark]
    values = f"{row['off']:>8}  {predicted:>6}{row['on']:>6}    {predicted_s:>8}{row['on_s']:>8.2f}"
    return f"{name:38}{values}  {', '.join(marks)}".rstrip()


def _summary(part: pl.DataFrame) -> str:
    shares = (
        ("predicted within 2", part),
        ("where F-RTO makes a difference", part.filter("matters")),
        ("where the replay agrees", part.filter("agrees")),
    )
    said = [f"{some['near'].sum()} of {some.height} {what}" for what, some in shares]
    return ", ".join(said)
