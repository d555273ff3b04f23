"""Runs as pictures want them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.judging import differences
from rtolab.result import Result
from rtolab.run import shipped_scenarios
from rtolab.serve.faults import FILE
from rtolab.serve.packets import SEGMENTS, Trace, seen
from rtolab.serve.packing import Packing

Asked = Mapping[str, Any]
Row = dict[str, Any]

SHADES = 500
"""Disturbances in one answer."""

TOTALS = (
    *("completed", "elapsed_s", "goodput_bps", "segments", "retransmissions", "needed", "unneeded"),
    *("lost", "timeouts", "spurious_timeouts", "ack_lost_timeouts", "genuine_timeouts"),
    *("fast_retransmits", "found_spurious"),
)
"""Columns of `connections` that stand side by side."""


def check(asked: Asked) -> bytes:
    """Nothing, if this could be run.

    Raises:
        Error: what is wrong.
    """
    _rtolab.check(write(asked), list(asked["set"].items()), asked["senders"], confined=True)
    return b"{}"


def run(asked: Asked) -> bytes:
    """Every sender's packets, windows, timeouts and totals.

    Raises:
        Error: what is wrong.
    """
    packing = Packing()
    # One after another: the packets of all of them together would take much memory.
    runs = [_run(asked, sender, packing) for sender in asked["senders"] or [None]]
    head = {
        **{name: runs[0][name] for name in ("flow", "flows", "disturbances")},
        "seed": asked["seed"],
        "place": asked["place"],
        "end_s": max(run["sender"]["end_s"] for run in runs),
        "senders": [run["sender"] for run in runs],
    }
    return packing.answer(head)


def _run(asked: Asked, sender: str | None, packing: Packing) -> Row:
    result = simulate(asked, [sender] if sender else [], judges=detectors())
    flows = list(dict.fromkeys(result.connections["flow"]))
    if not flows:
        raise Error("no connection begins within the run; let one start earlier, or it last longer")
    flow = asked["flow"] if asked["flow"] in flows else flows[0]
    return {
        "flow": flow,
        "flows": flows,
        "disturbances": disturbances(result),
        "sender": sender_seen(result, (flow, asked), packing),
    }


def write(asked: Asked) -> str:
    """The scenario as a file in this process's folder, by its name there."""
    text = asked["toml"]
    if text is None:
        text = shipped_scenarios()[asked["scenario"]].read_text(encoding="utf-8")
    Path(FILE).write_text(text, encoding="utf-8", newline="\n")
    return FILE


def simulate(
    asked: Asked, senders: Sequence[str], *, judges: Sequence[str], what_if: Sequence[str] = ()
) -> Result:
    """One run of each sender, packet by packet.

    Raises:
        Error: what is wrong.
    """
    outcome = _rtolab.simulate(
        write(asked),
        set=list(asked["set"].items()),
        senders=senders,
        seeds=[asked["seed"]],
        trace=True,
        windows=True,
        judges=judges,
        what_if=what_if,
        jobs=1,
        confined=True,
    )
    name = "a scenario of one's own" if asked["toml"] is not None else asked["scenario"]
    return Result(name, outcome, runs=max(1, len(senders)), traced=True)


def detectors() -> list[str]:
    """All of them."""
    return [detector["name"] for detector in _rtolab.detectors()]


def sender_seen(result: Result, shown: tuple[str, Asked], packing: Packing) -> Row:
    """What a flow's sender did in the first run of a result."""
    flow, asked = shown
    mine = pl.col("flow") == flow
    connection = result.connections.filter(mine).row(0, named=True)
    timeouts = result.timeouts.filter(mine & (pl.col("end") == "sender"))
    trace = Trace(
        result.segments.select(SEGMENTS).filter(mine), timeouts, result.windows.filter(mine)
    )
    return {
        "name": connection["flow_sender"],
        "end_s": trace.end_s(),
        "totals": {name: connection[name] for name in TOTALS},
        "timeouts": _timeouts(timeouts.head(asked["timeouts"]), result.verdicts.filter(mine)),
        "all_timeouts": timeouts.height,
        **seen(trace, asked, packing),
    }


def _timeouts(timeouts: pl.DataFrame, verdicts: pl.DataFrame) -> list[Row]:
    """Each with its truth, the sender's own verdict, and what every detector said of it."""
    said: dict[tuple[float, str, int], list[Row]] = {}
    for row in verdicts.filter(pl.col("end") == "sender").iter_rows(named=True):
        key = (row["at_s"], row["kind"], row["seq"])
        verdict = {name: row[name] for name in ("detector", "verdict", "why", "delay_s")}
        said.setdefault(key, []).append(verdict)
    columns = (
        *("at_s", "kind", "seq", "rto_s", "backoff", "cwnd", "needed", "truth"),
        *("cost_s", "cost_segments", "verdict", "detector", "verdict_at_s"),
    )
    return [
        {name: row[name] for name in columns}
        | {"verdicts": said.get((row["at_s"], row["kind"], row["seq"]), [])}
        for row in timeouts.iter_rows(named=True)
    ]


def disturbances(result: Result) -> list[Row]:
    """What disturbed the links, in order of time."""
    columns = ("link", "direction", "kind", "from_s", "to_s")
    # What is drawn from the seed happens to every sender alike.
    rows = result.disturbances.select(columns).unique(maintain_order=True).sort("from_s")
    return rows.head(SHADES).to_dicts()


def what_if(asked: Asked) -> bytes:
    """What would have come of a timeout, had it not fired or had the sender been another.

    Raises:
        Error: what is wrong; there is no such timeout.
    """
    at, seq = asked["at_s"], asked["seq"]
    original = simulate(asked, [asked["sender"]], judges=detectors()[:1])
    flow = asked["flow"] or original.connections["flow"][0]
    here = (pl.col("flow") == flow) & (pl.col("at_s") == at) & (pl.col("seq") == seq)
    found = original.timeouts.filter(here & (pl.col("kind") == "timeout"))
    if found.is_empty():
        raise Error(f"no timeout at {at} s; run again, and choose one of the table")
    timeout = found.row(0, named=True)
    connection = original.connections.filter(pl.col("flow") == flow).row(0, named=True)
    told = {name: timeout[name] for name in ("at_s", "truth", "cost_s", "cost_segments")}
    others = [_other(asked, sender, here) for sender in asked["others"]]
    end = {"end_s": connection["end_s"], "completed": connection["completed"]}
    return json.dumps(told | end | {"others": others}).encode()


def _other(asked: Asked, sender: str, here: pl.Expr) -> Row:
    """How the transfer ends with another sender from that timeout on; or why that cannot be."""
    try:
        result = simulate(asked, [asked["sender"]], judges=(), what_if=[sender])
    except Error as error:
        return {"sender": sender, "error": str(error)}
    rows = result.what_if.filter(here)
    if rows.is_empty():
        return {"sender": sender, "error": "the connection was not open yet"}
    row = rows.row(0, named=True)
    difference = next(d for d in differences(result) if _is_of(d, row))
    return {
        "sender": sender,
        "end_s": row["end_s"],
        "time_s": difference.time_s,
        "segments": difference.segments,
    }


def _is_of(difference: Any, row: Row) -> bool:
    return bool(difference.at_s == row["at_s"] and difference.flow == row["flow"])
