"""What Tables IV and V and section V have in common: many spikes on one link, and who finds them.

Spikes come at the same times in every transfer, drawn once as section VII-B draws them, so that all
senders meet "exactly the same long delay patterns" (V-A). A transfer with 300 of them is one run.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from rtolab.experiments.base import (
    Alternative,
    Assumption,
    Check,
    CountedCheck,
    Experiment,
    Metric,
    Variant,
    assumed,
    column,
    interpreted,
    stated,
)
from rtolab.experiments.dualrtt2004.set_b import HEADERS, HOSTS, KEEP, WINDOW, eifel
from rtolab.experiments.measured import ExperimentRuns, Runs

BANDWIDTHS = (31_200, 62_400, 130_000, 360_000, 1_000_000, 1_500_000)
"""B of Tables IV and V, in bit/s."""

THRESHOLDS = (0.01, 0.025, 0.04, 0.08, 0.1, 0.2, 0.6)
"""tau of Table V."""

OPTIMA = (0.6, 0.2, 0.08, 0.04, 0.025, 0.01)
"""The bold numbers of Table V, by bandwidth."""

DELAY = 0.2
"""D of Tables IV and V, one way, in s."""

SPIKES = 300
"""Spikes of each combination (section V-A)."""

PACKET = 556
"""On the link, in bytes: this size gives Table V, and the 1.5 KB of its heading do not."""

AFTER = 40
"""How long a transfer goes on after its last spike, in s."""

LARGEST = 65_535
"""The largest window without the option for larger ones, in bytes."""

SEED = 1
"""The seed of the times of spikes."""

FOUND = Metric("found_spurious", "Found spurious", "", column("found_spurious"))


@cache
def schedule(spikes: int) -> tuple[tuple[float, float], ...]:
    """When spikes begin and how long they last, in s (section VII-B)."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    at, drawn = 0.0, []
    for _ in range(spikes):
        at += 20 + 20 * float(rng.random())
        length = 3 + 12 * float(rng.random())
        drawn.append((round(at, 3), round(length, 3)))
        at += length
    return tuple(drawn)


def timetable(spikes: int) -> dict[str, str]:
    """The settings of a transfer with this number of spikes, by scenario key."""
    times = schedule(spikes)
    scripted = ", ".join(f'{{ at = "{at:g} s", for = "{length:g} s" }}' for at, length in times)
    return {
        "link.path.forward.stalls.scripted": f"[{scripted}]",
        "duration": f"{sum(times[-1]) + AFTER:.0f} s",
    }


def session(spikes: int) -> tuple[Assumption, ...]:
    """The same, as assumptions."""
    drawn = "VII-B: of 3 to 15 s, 20 to 40 s apart, each drawn uniformly; once, for all senders"
    spans = timetable(spikes)
    return (
        stated("link.path.forward.stalls.holds", "entry", "II-A: held before the link's queue"),
        interpreted("spikes a transfer", str(spikes), "one after the other, as in VII-B"),
        *(stated(key, value, drawn) for key, value in spans.items()),
    )


QUICK = timetable(10)
"""Fewer spikes, with `--quick`."""


def packet(size: int) -> dict[str, str]:
    """Packets of `size` bytes on the link, and a window of 20 of them, by scenario key."""
    payload = size - HEADERS
    return {"tcp.mss": f"{payload} B"} | window(payload)


def stamped(size: int) -> dict[str, str]:
    """The same payload with Eifel's timestamps."""
    payload = size - HEADERS
    return eifel(payload) | window(payload)


def window(payload: int) -> dict[str, str]:
    """20 segments; ns-2 counts them and knows no largest window in bytes."""
    size = WINDOW * payload
    scaled = {"tcp.window_scale": "1", "receiver.window_scale": "1"} if size > LARGEST else {}
    return {"receiver.buffer": f"{size} B"} | scaled


def path(bandwidth: int, delay: float = DELAY) -> dict[str, str]:
    """A link with this bandwidth (bit/s) and one-way delay (s), by scenario key."""
    return {"link.path.rate": f"{bandwidth} bit/s", "link.path.delay": f"{delay:g} s"}


def bandwidth_label(bandwidth: int) -> str:
    """A bandwidth as the paper prints it."""
    return f"{bandwidth / 1e6:.1f}M" if bandwidth >= 1_000_000 else f"{bandwidth / 1e3:g}K"


def eifel_variant(condition: str, change: Mapping[str, str], size: int) -> Variant:
    """Eifel in that configuration, which is the paper's ground truth."""
    return Variant("reno:careful+eifel", "Eifel", condition, {**change, **stamped(size)})


def dualrtt_variant(condition: str, change: Mapping[str, str], tau: float) -> Variant:
    """DualRTT in that configuration, with this threshold."""
    threshold = {"tcp.dualrtt.threshold": f"{tau:g}"}
    return Variant("reno:careful+dualrtt", "DualRTT", condition, {**change, **threshold})


def found(measured: ExperimentRuns, keys: Sequence[str]) -> float:
    """Timeouts found spurious, by all runs of these variants."""
    return float(sum(_found(measured.of[key]) for key in keys))


def _found(runs: Runs) -> float:
    return float(runs.connections["found_spurious"].sum())


def spikes_of(runs: Runs) -> int:
    """How many spikes these runs met: those of the timetable with `AFTER` behind them."""
    lasted = runs.connections["start_s"] + runs.connections["measured_s"]
    return int((_ends()[:, None] + AFTER < lasted.to_numpy() + 1).sum())


@cache
def _ends() -> NDArray[np.float64]:
    """When the spikes of the whole timetable end, in s."""
    return np.array([sum(spike) for spike in schedule(SPIKES)])


def of_300(measured: ExperimentRuns, key: str) -> float:
    """Timeouts found spurious, in as many spikes as the paper had."""
    return SPIKES * found(measured, [key]) / spikes_of(measured.of[key])


def of_many_spikes(check: Check, key: str) -> CountedCheck:
    """A check of a count that is neither none nor all: few spikes of this variant do not decide."""

    def suffices(measured: ExperimentRuns) -> bool:
        return spikes_of(measured.of[key]) >= SPIKES / 2

    return CountedCheck(**vars(check), suffices=suffices)


MANY_SPIKES = (
    *HOSTS,
    assumed("tcp.recover_on_undo", KEEP["tcp.recover_on_undo"], "the careful bugfix (Fig. 3)"),
    assumed("tcp.recovery.limited_transmit", "true", "as in Figure 2"),
    interpreted("Eifel's segments", "the payload and 12 B", "Table VIII: the payload is the same"),
)
"""The hosts of these experiments."""

spikes_experiment = partial(
    Experiment,
    scenario="dualrtt2004-hiccup",
    metrics=(FOUND,),
    runs=1,
    quick_runs=1,
    endless=True,
)
"""One transfer a variant, with many spikes."""

NO_KEPT_RECOVER = Alternative(
    "`recover` forgotten",
    {"tcp.recover_on_undo": "reset"},
    "ns-2's Reno without the bugfix: a fast retransmit follows each detection",
)
SMALLER_FLOOR = Alternative("a smallest timeout of 200 ms", {"tcp.rto.min": "200 ms"}, "two ticks")
