"""Runs as data for the figures."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.judging import differences
from rtolab.result import Result
from rtolab.run import included_scenarios
from rtolab.serve.faults import FILE
from rtolab.serve.packets import SEGMENTS, Trace, seen
from rtolab.serve.packing import Packing

Request = Mapping[str, Any]
Row = dict[str, Any]

SHADES = 500
"""The most disturbances in an answer."""

TOTALS = (
    *("completed", "elapsed_s", "goodput_bps", "segments", "retransmissions", "needed", "unneeded"),
    *("lost", "timeouts", "spurious_timeouts", "ack_lost_timeouts", "genuine_timeouts"),
    *("fast_retransmits", "found_spurious"),
)
"""Columns of `connections` in the comparison of senders."""


def check(request: Request) -> bytes:
    """Raises Error if the request cannot be run."""
    _rtolab.check(write(request), list(request["set"].items()), request["senders"], confined=True)
    return b"{}"


def run(request: Request) -> bytes:
    """The packets, windows, timeouts and totals of each sender."""
    packing = Packing()
    # One sender at a time, since the packets of all would take much memory.
    runs = [_run(request, sender, packing) for sender in request["senders"] or [None]]
    head = {
        **{name: runs[0][name] for name in ("flow", "flows", "disturbances")},
        "seed": request["seed"],
        "place": request["place"],
        "end_s": max(run["sender"]["end_s"] for run in runs),
        "senders": [run["sender"] for run in runs],
    }
    return packing.answer(head)


def _run(request: Request, sender: str | None, packing: Packing) -> Row:
    result = simulate(request, [sender] if sender else [], judges=detectors())
    flows = list(dict.fromkeys(result.connections["flow"]))
    if not flows:
        raise Error("no connection begins within the run; let one start earlier, or it last longer")
    flow = request["flow"] if request["flow"] in flows else flows[0]
    return {
        "flow": flow,
        "flows": flows,
        "disturbances": disturbances(result),
        "sender": sender_seen(result, (flow, request), packing),
    }


def write(request: Request) -> str:
    """Writes the scenario to this process's folder; returns the file name."""
    text = request["toml"]
    if text is None:
        text = included_scenarios()[request["scenario"]].read_text(encoding="utf-8")
    Path(FILE).write_text(text, encoding="utf-8", newline="\n")
    return FILE


def simulate(
    request: Request, senders: Sequence[str], *, judges: Sequence[str], what_if: Sequence[str] = ()
) -> Result:
    """One traced run per sender."""
    outcome = _rtolab.simulate(
        write(request),
        set=list(request["set"].items()),
        senders=senders,
        seeds=[request["seed"]],
        trace=True,
        windows=True,
        judges=judges,
        what_if=what_if,
        jobs=1,
        confined=True,
    )
    name = "a scenario of one's own" if request["toml"] is not None else request["scenario"]
    return Result(name, outcome, runs=max(1, len(senders)), traced=True)


def detectors() -> list[str]:
    """The names of all detectors."""
    return [detector["name"] for detector in _rtolab.detectors()]


def sender_seen(result: Result, shown: tuple[str, Request], packing: Packing) -> Row:
    """The data of a flow's sender in the first run of a result."""
    flow, request = shown
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
        "timeouts": _timeouts(timeouts.head(request["timeouts"]), result.verdicts.filter(mine)),
        "all_timeouts": timeouts.height,
        **seen(trace, request, packing),
    }


def _timeouts(timeouts: pl.DataFrame, verdicts: pl.DataFrame) -> list[Row]:
    """The timeouts with their ground truth, the sender's verdict and every detector's."""
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
    """Disturbances of the links, in order of time."""
    columns = ("link", "direction", "kind", "from_s", "to_s")
    # Disturbances drawn from the seed are the same for every sender.
    rows = result.disturbances.select(columns).unique(maintain_order=True).sort("from_s")
    return rows.head(SHADES).to_dicts()


def what_if(request: Request) -> bytes:
    """The outcome without a timeout and with other senders; raises Error if there is none such."""
    at, seq = request["at_s"], request["seq"]
    original = simulate(request, [request["sender"]], judges=detectors()[:1])
    flow = request["flow"] or original.connections["flow"][0]
    here = (pl.col("flow") == flow) & (pl.col("at_s") == at) & (pl.col("seq") == seq)
    found = original.timeouts.filter(here & (pl.col("kind") == "timeout"))
    if found.is_empty():
        raise Error(f"no timeout at {at} s; run again, and choose one of the table")
    timeout = found.row(0, named=True)
    connection = original.connections.filter(pl.col("flow") == flow).row(0, named=True)
    known = {name: timeout[name] for name in ("at_s", "truth", "cost_s", "cost_segments")}
    others = [_other(request, sender, here) for sender in request["others"]]
    end = {"end_s": connection["end_s"], "completed": connection["completed"]}
    return json.dumps(known | end | {"others": others}).encode()


def _other(request: Request, sender: str, here: pl.Expr) -> Row:
    """The end of the transfer with another sender from that timeout on, or why there is none."""
    try:
        result = simulate(request, [request["sender"]], judges=(), what_if=[sender])
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
