"""The other error of a back-off policy: spurious timeouts without end.

They occur if the path becomes slower than the timer allows, and no sample shows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from rtolab.experiments.base import (
    UNNEEDED,
    Bounds,
    Check,
    Experiment,
    Metric,
    Variant,
    assumed,
    column,
    fitted,
    interpreted,
)
from rtolab.experiments.measured import Runs, mean

SPURIOUS = Metric("spurious", "Spurious timeouts", "", column("spurious_timeouts"))
DELIVERED = Metric("bytes", "Delivered", "kB", lambda runs: column("bytes")(runs) / 1000)


def deepest(runs: Runs) -> pl.Series:
    """The most doublings that preceded a spurious timeout, by run."""
    own = (pl.col("kind") == "timeout") & (pl.col("end") == "sender")
    spurious = runs.timeouts.filter(own & (pl.col("truth") == "spurious"))
    backoffs = spurious.group_by("run").agg(pl.col("backoff").max().cast(pl.Float64))
    known = runs.connections.select("run").unique(maintain_order=True)
    joined = known.join(backoffs, on="run", how="left", maintain_order="left")
    return joined["backoff"].fill_null(0.0)


BACKOFF = Metric("backoff", "Spurious back-off", "doublings", deepest)

BEFORE, AFTER = 0.3, (2.5, 4.0)
"""Round trips of the first path, and of those to which the route changes, in s."""

CHANGE, DURATION = 30, 330
"""When the route changes, and how long a run lasts, in s."""


@dataclass(frozen=True)
class Timer:
    """A sender with a rule for the back-off.

    Attributes:
        label: its name in tables.
        sender: the sender specification.
        set: its settings, by scenario key.
    """

    label: str
    sender: str
    set: Mapping[str, str] = field(default_factory=dict)


TIMERS = (
    Timer("doubling, Karn's rule", "newreno"),
    Timer("any new ACK ends it", "newreno+backoff:new-ack"),
    Timer("cap of 2 s", "newreno+backoff:2s"),
    Timer("six linear", "newreno+backoff:linear"),
    Timer("cap of 2 s, timestamps", "newreno+backoff:2s", {"tcp.timestamps": "true"}),
)


def network(after: float) -> dict[str, str]:
    """Two paths from the server to the mobile, and the change from one to the other."""

    def link(name: str, ends: tuple[str, str], delay: float) -> str:
        between = f'["{ends[0]}", "{ends[1]}"]'
        return (
            f'{{ name = "{name}", between = {between}, delay = "{1000 * delay:g} ms", '
            'rate = "200 kbit/s" }'
        )

    def route(ends: tuple[str, str], link: str) -> str:
        return f'{{ from = "{ends[0]}", to = "{ends[1]}", links = ["{link}"], at = "{CHANGE} s" }}'

    near, far = ("server", "mobile"), ("mobile", "server")
    links = (link("radio", near, BEFORE / 2), link("satellite", near, after / 2))
    routes = (
        *(f'{{ from = "{a}", to = "{b}", links = ["radio"] }}' for a, b in (near, far)),
        *(route(ends, "satellite") for ends in (near, far)),
    )
    return {"link": f"[{', '.join(links)}]", "route": f"[{', '.join(routes)}]", "agent": "[]"}


def variant(timer: Timer, after: float) -> Variant:
    """A sender on a path that becomes slower."""
    settings = {**network(after), **timer.set}
    return Variant(timer.sender, timer.label, f"{timer.label}, {after:g} s", settings)


def spurious(timer: Timer, after: float, bounds: Bounds) -> Check:
    """The spurious timeouts of a sender lie within bounds."""
    key = variant(timer, after).key
    name = f"spurious timeouts, {timer.label}, round trip {after:g} s"
    return mean(name, "count", (key, SPURIOUS), {1: bounds})


KARN, NEW_ACK, CAPPED, _, STAMPED = TIMERS

SLOWER_PATH = Experiment(
    id="outages/slower-path",
    title="A path becomes slower than the timer: who notices?",
    source="RFC 6298 section 5.7; Karn and Partridge 1987; libudx issue 316",
    says="",
    did=(
        f"The route changes after {CHANGE} s from a round trip of {BEFORE:g} s to a longer one. "
        "Nothing is lost, so every timeout is spurious. The senders have no timestamps, unless "
        "stated otherwise, so a retransmitted segment gives no sample."
    ),
    scenario="freeze",
    variants=tuple(variant(timer, after) for after in AFTER for timer in TIMERS),
    metrics=(SPURIOUS, BACKOFF, UNNEEDED, DELIVERED),
    judges=("eifel",),
    checks=(
        spurious(KARN, 2.5, Bounds(high=10)),
        spurious(KARN, 4.0, Bounds(high=10)),
        spurious(NEW_ACK, 2.5, Bounds(low=50)),
        *fitted(
            f"the round trips: {CAPPED.label} was first expected to fail at 2.5 s, and does at 4 s",
            spurious(CAPPED, 2.5, Bounds(high=10)),
            spurious(CAPPED, 4.0, Bounds(low=50)),
        ),
        spurious(STAMPED, 4.0, Bounds(high=10)),
    ),
    assumptions=(
        assumed("duration", f"{DURATION} s", "long enough to tell a start from a steady state"),
        assumed("receiver.buffer", "16 kB", "a window that both paths hold"),
        assumed("tcp.mss", "1000 B", "round numbers"),
        assumed("flow.download.bytes", "2 GB", "longer than the run"),
        interpreted("floor", "1 s", "RFC 6298 section 2.4"),
    ),
    runs=1,
    quick_runs=1,
    endless=True,
    ours=True,
)
"""The same policies on a path whose round trip grows."""
