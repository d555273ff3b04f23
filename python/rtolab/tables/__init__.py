"""Text tables of results, for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl
from rich import box
from rich.table import Table
from rich.text import Text

from rtolab.result import Result

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rtolab.judging import Confusion, Difference

STYLES = {
    "pass": "bold green",
    "fail": "bold red",
    "undecidable": "bold yellow",
    "not reproducible": "bold magenta",
    "nothing to judge": "bold",
}
LONGEST_TERM = len("newreno:timestamp-heuristic")
"""The longest name of a sender that is not wrapped."""
MOST_ROWS = 40
"""With more rows a table has one for all flows of a `[[flow]]`."""


def compact() -> Table:
    """An empty table with narrow columns, for narrow terminals."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def runs(result: Result) -> Table:
    """The medians of a result's runs, a row per sender and flow; see `by_flow`."""
    columns = {
        "time s": ("elapsed_s", 2),
        "lost": ("lost", 1),
        "rexmits": ("retransmissions", 1),
        "unneeded": ("unneeded", 1),
        "timeouts": ("timeouts", 1),
        "kbit/s": ("goodput_kbps", 2),
    }
    connections = result.connections.with_columns(goodput_kbps=pl.col("goodput_bps") / 1000)
    medians = (pl.median(name) for name, _ in columns.values())
    rows = by_flow(connections, pl.sum("completed"), pl.len().alias("all"), *medians)
    one = rows["all"].max() == 1
    several = rows["sender"].n_unique() > 1
    table = _of_flows()
    for name in ("done", *columns):
        table.add_column(name, justify="right", no_wrap=True)
    for sender, flow, own, completed, connections_in_row, *values in rows.iter_rows():
        cells = []
        for value, (_, digits) in zip(values, columns.values(), strict=True):
            places = 0 if one and digits == 1 else digits
            cells.append("-" if value is None else f"{value:.{places}f}")
        done = f"{completed}/{connections_in_row}"
        table.add_row(_sender(sender, own, several=several), flow, done, *cells)
    if not one:
        ended = "" if connections["completed"].all() else "; time and kbit/s over those that ended"
        table.caption = f"Medians over all transfers{ended}."
        table.caption_justify = "left"
    return table


def outages(result: Result) -> Table:
    """How the runs resumed after outages, a row per sender and flow: medians of all outages."""
    columns = {"resume\ndelay s": "resume_s", "to 90 % of\nthe rate s": "full_rate_s"}
    per_minute = 60 * pl.sum("probes") / pl.sum("length_s")
    own = result.connections.select("run", "flow", "flow_sender")
    found = result.outages.join(own, on=["run", "flow"], how="left", maintain_order="left")
    rows = by_flow(
        found,
        pl.len().alias("outages"),
        pl.count("resume_s").alias("resumed"),
        *(pl.median(name) for name in columns.values()),
        pl.when(pl.sum("length_s") > 0).then(per_minute).alias("probes"),
    )
    several = rows["sender"].n_unique() > 1
    table = _of_flows()
    for name in ("\noutages", "\nresumed", *columns, "probes\na minute"):
        table.add_column(name, justify="right", no_wrap=True)
    for sender, flow, own, outages_in_row, resumed, *medians, probes in rows.iter_rows():
        cells = ["-" if value is None else f"{value:.2f}" for value in medians]
        sent = "-" if probes is None else f"{probes:.1f}"
        counts = (str(outages_in_row), str(resumed))
        table.add_row(_sender(sender, own, several=several), flow, *counts, *cells, sent)
    return table


def by_flow(rows: pl.DataFrame, *values: pl.Expr) -> pl.DataFrame:
    """The flow's own sender and these values of each sender and flow, in the order of the rows.

    If there are too many, flows that are named as one `[[flow]]` names those that it counts, from
    bulk-1 on without a gap, share the row bulk-*.
    """
    if rows.select(pl.struct("sender", "flow").n_unique()).item() > MOST_ROWS:
        name = pl.col("flow").str.extract(r"^(.*)-[1-9]\d*$")
        number = pl.col("flow").str.extract(r"-(\d+)$").cast(pl.UInt32, strict=False)
        count = pl.n_unique("flow").over(name)
        is_counted = name.is_not_null() & (count > 1) & (number.max().over(name) == count)
        rows = rows.with_columns(flow=pl.when(is_counted).then(name + "-*").otherwise("flow"))
    is_own = pl.col("flow_sender") != pl.col("sender")
    own = pl.col("flow_sender").filter(is_own).unique(maintain_order=True).str.join(", ")
    return rows.group_by("sender", "flow", maintain_order=True).agg(own, *values)


def _of_flows() -> Table:
    """An empty table with the columns of senders and flows."""
    table = compact()
    table.add_column("sender", overflow="fold", min_width=8)
    table.add_column("flow", no_wrap=True)
    return table


def _sender(sender: str, own: str, *, several: bool) -> str:
    """The sender of a flow; if it is the flow's own, with that of the run if there are several."""
    if not own:
        return _wrapped(sender)
    return f"{_wrapped(own)}\nbeside {_wrapped(sender)}" if several else _wrapped(own)


def _wrapped(sender: str) -> str:
    """The name of a sender, wrapped at plus signs to leave room for the numbers."""
    lines = [""]
    for term in sender.split("+"):
        plus = "+" if lines[-1] else ""
        if plus and len(lines[-1] + plus + term) > LONGEST_TERM:
            lines.append("")
        lines[-1] += plus + term
    return "\n".join(lines)


def detector_scores(found: Sequence[Confusion]) -> RenderableType:
    """Scores of passive detectors against the ground truth, a row per sender and detector."""
    if not found:
        return Text("no timeout and no fast retransmit: no verdicts to score")
    table = compact()
    table.add_column("sender", overflow="fold", min_width=8)
    table.add_column("detector", overflow="fold", min_width=8)
    for name in ("spurious\nfound", "\nmissed", "genuine\nright", "called\nspurious"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("\nopen", "\nblind", "median\ndelay s"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found:
        counts = (one.spurious_found, one.spurious_missed, one.genuine_right)
        others = (one.genuine_called_spurious, one.open, one.blind)
        delay = "-" if one.median_delay_s is None else f"{one.median_delay_s:.3f}"
        table.add_row(_wrapped(one.sender), one.detector, *map(str, counts + others), delay)
    return table


def what_if(found: Sequence[Difference]) -> RenderableType:
    """Effects of other senders, a row per timeout and sender."""
    if not found:
        return Text("no timeout: nowhere to continue from")
    table = compact()
    for name, justify in (("run", "right"), ("flow", "left"), ("timeout s", "right")):
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("truth")
    table.add_column("instead", overflow="fold", min_width=8)
    table.add_column("time s", justify="right")
    table.add_column("segments", justify="right")
    for one in found:
        time = "-" if one.time_s is None else f"{one.time_s:+.2f}"
        where = (str(one.run), one.flow, f"{one.at_s:.3f}", one.truth)
        table.add_row(*where, _wrapped(one.sender), time, f"{one.segments:+d}")
    return table
