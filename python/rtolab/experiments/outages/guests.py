"""The outage study on kernels and QUIC stacks on a virtual clock, beside the engine.

Each transfer meets the same outages, one after the other. Resume delays and probes are counted from
the packets on the links, for the engine as for the guests, because datagrams do not show more.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from math import ceil
from pathlib import Path
from statistics import mean

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.conform import recipes
from rtolab.emulation import EmulationResult
from rtolab.emulation.comparison import RECEIVER, wheel
from rtolab.experiments.base import Table
from rtolab.kernel import Kernel
from rtolab.result import Result
from rtolab.run import run

ROUND_TRIPS = (0.1, 0.3)
"""Propagation delay there and back, in s."""
SHORTEST, LONGEST, OUTAGES = 0.2, 25.0, 12
"""The lengths of outages in s, evenly spaced over their logarithms, in ascending order. The
longest is shorter than the idle timeout of 30 s of three of the stacks."""
FIRST, BREAK = 10.0, 12.0
"""When the first outage begins, and the least time from the path's return to the next, in s."""
RATE, SEGMENT = 500_000, 1000
"""The rate of the link in bit/s, and the payload of a TCP segment in bytes."""
QUEUE = 8
"""The longest queue, in packets: a fifth of a second at that rate."""
THIN = 3
"""The window of a thin stream in segments; Linux counts those below four as thin."""
ROUTER_DELAY = 0.001
"""From the server to the router that reports the outage to the engine, in s."""
LEAST_DATA = 100
"""A datagram without stream data has at most this payload, in bytes."""

LOGS = "/tmp"  # noqa: S108  (in the memory of a guest)
"""Where the stacks write their logs, which are not read."""

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class GuestPolicy:
    """A policy that a kernel or a stack has, with the engine's counterpart.

    Attributes:
        label: the policy.
        stack: whose it is.
        sender: the engine's sender specification.
        set: its settings, by scenario key.
        options: those of `endless.py`, if it is the kernel's TCP.
        recipe: the name of a QUIC stack's recipe otherwise.
        window: the window of a TCP receiver in segments; by default what fills the path.
    """

    label: str
    stack: str
    sender: str
    set: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    recipe: str = ""
    window: int | None = None


KERNEL = "Linux {release}"
"""Stands for the guests' kernel."""

POLICIES = (
    GuestPolicy("doubling to 120 s", KERNEL, "linux"),
    GuestPolicy("doubling, thin stream", KERNEL, "linux", window=THIN),
    GuestPolicy(
        "six linear, thin stream",
        KERNEL,
        "linux",
        {"kernel.thin_linear_timeouts": "true"},
        options=("thin=1",),
        window=THIN,
    ),
    GuestPolicy(
        "user timeout of 10 s",
        KERNEL,
        "linux",
        {"tcp.give_up.user_timeout": "10 s"},
        options=("user_timeout=10000",),
    ),
    GuestPolicy("ICMP (LCD)", KERNEL, "linux", options=("unreachable",)),
    GuestPolicy("doubling", "quic-go", "rfc9002", recipe="quic-go"),
    GuestPolicy("doubling", "quinn", "rfc9002", recipe="quinn"),
    GuestPolicy("cap of 2 s", "noq", "rfc9002+backoff:2s", recipe="noq"),
    GuestPolicy("doubling", "aioquic", "rfc9002", recipe="aioquic"),
)


@dataclass(frozen=True)
class Resumption:
    """What a transfer did in an outage and after it.

    Attributes:
        length_s: the length of the outage.
        probes: the packets that left in it, later than a round trip after its begin.
        resume_s: from the path's return to the arrival of new data; `None` if none came.
    """

    length_s: float
    probes: int
    resume_s: float | None


@dataclass(frozen=True)
class Row:
    """A policy at a round trip, on guests and on the engine."""

    policy: GuestPolicy
    stack: str
    round_trip_s: float
    guest: tuple[Resumption, ...]
    engine: tuple[Resumption, ...]

    def document(self) -> dict[str, object]:
        """The row, for machines."""
        return {
            "policy": self.policy.label,
            "stack": self.stack,
            "sender": self.policy.sender,
            "round_trip_s": self.round_trip_s,
            "guest": [asdict(one) for one in self.guest],
            "engine": [asdict(one) for one in self.engine],
        }


@dataclass(frozen=True)
class GuestStudy:
    """The result of the study on guests."""

    rows: tuple[Row, ...]
    kernel: Kernel
    seed: int

    def document(self) -> dict[str, object]:
        """All of it, for machines."""
        rows = [row.document() for row in self.rows]
        return {"id": "outages/study", "seed": self.seed, "kernel": self.kernel.title, "rows": rows}

    def table(self) -> Table:
        """A row for each policy and round trip."""
        head = (
            "policy",
            "stack",
            "round trip",
            "resume delay, mean s",
            "engine",
            "probes a minute",
            "engine",
            "resumed",
            "engine",
        )
        caption = f"{OUTAGES} outages of {SHORTEST:g} to {LONGEST:g} s on {self.kernel.title}"
        return Table(caption, head, tuple(_cells(row) for row in self.rows))


def _cells(row: Row) -> tuple[str, ...]:
    """Means over the outages after which both resumed, and how many each resumed after."""
    both = (row.guest, row.engine)
    pairs = list(zip(*both, strict=False))
    resumed = [pair for pair in pairs if None not in (pair[0].resume_s, pair[1].resume_s)]
    minutes = sum(one.length_s for one, _ in resumed) / 60
    delays = [f"{mean(pair[side].resume_s or 0.0 for pair in resumed):.2f}" for side in (0, 1)]
    probes = [f"{sum(pair[side].probes for pair in resumed) / minutes:.1f}" for side in (0, 1)]
    counts = [f"{sum(one.resume_s is not None for one in side)} of {len(side)}" for side in both]
    return (
        row.policy.label,
        row.stack,
        f"{1000 * row.round_trip_s:g} ms",
        *delays,
        *probes,
        *counts,
    )


def spans() -> tuple[tuple[float, float], ...]:
    """When the outages begin and how long they last, in s."""
    at, found = FIRST, []
    for number in range(OUTAGES):
        length = round(SHORTEST * (LONGEST / SHORTEST) ** (number / (OUTAGES - 1)), 3)
        found.append((round(at, 3), length))
        at += 2.2 * length + BREAK
    return tuple(found)


def scenario(policy: GuestPolicy, round_trip: float, *, routed: bool) -> str:
    """The path of a transfer as TOML.

    Args:
        policy: its policy.
        round_trip: the propagation delay there and back, in s.
        routed: is there a router before the link? It reports the outages if the policy reacts to
            that. Guests have none.
    """
    (at, length), outages = spans()[-1], _scripted()
    delay = round_trip / 2 - (ROUTER_DELAY if routed else 0)
    lines = [
        'title = "Outages of growing length"',
        f'duration = "{at + 2.2 * length + BREAK:.3f} s"',
        'emulation.begin = "first-packet"',
        "[[link]]",
        'name = "radio"',
        f'between = ["client", "{"base" if routed else "server"}"]',
        f'rate = "{RATE} bit/s"',
        f'delay = "{1e6 * delay:.0f} us"',
        f'queue = "{QUEUE} packets"',
        f"outages.scripted = {outages}",
    ]
    if routed:
        lines += ["[[link]]", 'name = "internet"', 'between = ["base", "server"]']
        lines += [f'delay = "{1e6 * ROUTER_DELAY:.0f} us"']
        if "unreachable" in policy.options:
            lines += ["[[agent]]", 'at = "base"', 'kind = "unreachable"', 'interval = "1 s"']
            lines += [f"disconnections = {outages}"]
    lines += ["[tcp]", f'mss = "{SEGMENT + 12} B"']
    lines += ["[receiver]", f'buffer = "{window(policy, round_trip)} B"']
    lines += ["[[flow]]", 'name = "transfer"', 'from = "server"', 'to = "client"']
    lines += ['bytes = "2 GB"']
    return "\n".join(lines) + "\n"


def window(policy: GuestPolicy, round_trip: float) -> int:
    """The window of a TCP receiver in bytes: what the path holds, and three segments more."""
    return SEGMENT * (policy.window or ceil(RATE / 8 * round_trip / SEGMENT) + THIN)


def _scripted() -> str:
    each = (f'{{ at = "{at:.3f} s", for = "{length:.3f} s" }}' for at, length in spans())
    return f"[{', '.join(each)}]"


def resumptions(result: Result, round_trip: float) -> tuple[Resumption, ...]:
    """What the first transfer of a result did, by outage, as long as its connection was open."""
    sent = result.segments.filter((pl.col("place") == "sender") & (pl.col("event") == "sent"))
    is_new = ~pl.col("unneeded") & (pl.col("len") > LEAST_DATA)
    arrived = sent.filter(is_new & (pl.col("fate") == "delivered"))["fate_at_s"].sort()
    times = sent["at_s"]
    found = []
    for at, length in spans():
        if not times.is_between(at - BREAK / 2, at).any():
            break
        end = at + length
        probes = int(times.is_between(at + round_trip, end).sum())
        # Data that crossed the link before the outage arrives within its delay.
        first = arrived.filter(arrived.is_between(end + round_trip / 2, end + BREAK + 1.2 * length))
        resume = round(float(first[0]) - end, 6) if first.len() else None
        found.append(Resumption(length, probes, resume))
    return tuple(found)


def study(kernel: Kernel, *, seed: int = 1, progress: Progress | None = None) -> GuestStudy:
    """Run all policies on guests and on the engine.

    Args:
        kernel: the kernel of the guests.
        seed: of the links and of the guests' random numbers.
        progress: called with the finished runs and all runs.

    Raises:
        EmulationError: a prerequisite is missing.
        Error: a stack cannot be built, or its program fails.
    """
    each = [(policy, round_trip) for round_trip in ROUND_TRIPS for policy in POLICIES]
    rows = []
    for number, (policy, round_trip) in enumerate(each):
        if progress:
            progress(number, len(each))
        rows.append(measure(policy, round_trip, kernel, seed))
    return GuestStudy(tuple(rows), kernel, seed)


def measure(policy: GuestPolicy, round_trip: float, kernel: Kernel, seed: int) -> Row:
    """A policy at a round trip, on guests and on the engine."""
    with tempfile.TemporaryDirectory(prefix="rtolab-outages-") as folder:
        path, routed = Path(folder) / "path.toml", Path(folder) / "routed.toml"
        path.write_text(scenario(policy, round_trip, routed=False), encoding="utf-8")
        routed.write_text(scenario(policy, round_trip, routed=True), encoding="utf-8")
        of_path = path if policy.recipe else routed
        keys = {**RECEIVER, **wheel(kernel), **policy.set}
        engine = run(of_path, sender=policy.sender, seed=seed, set=keys, trace=True)
        guest, name = _on_guests(policy, round_trip, path, (kernel, seed))
    found = (resumptions(result, round_trip) for result in (guest, engine))
    return Row(policy, name, round_trip, *found)


def _on_guests(
    policy: GuestPolicy, round_trip: float, path: Path, guest: tuple[Kernel, int]
) -> tuple[EmulationResult, str]:
    """The transfer between programs in guests, and the name of their stack."""
    kernel, seed = guest
    at, length = spans()[-1]
    limit = at + 2.2 * length + BREAK
    if policy.recipe:
        stack = recipes.build(recipes.find(policy.recipe))
        size = str(int(RATE / 8 * limit))
        server, *client = (
            word.replace("{bytes}", size).replace("{logs}", LOGS)
            for word in (stack.server, *stack.client)
        )
        name = stack.name
    else:
        program = [sys.executable, "-I", "-S", str(files("rtolab.experiments.outages") / _SCRIPT)]
        server = shlex.join(["exec", *program, "serve", *_options(policy.options)])
        client = [*program, "read", "{server}", str(window(policy, round_trip))]
        name = policy.stack.format(release=kernel.release)
    log = path.with_suffix(".log")
    outcome, report = _rtolab.emulate_programs(
        path,
        guest=(kernel.folder, kernel.title),
        client=client,
        server=server,
        seed=seed,
        limit_s=limit,
        keep=True,
        log=log,
    )
    result = EmulationResult(str(path), outcome, [report])
    if not result.segments.height:
        said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        raise Error(f"{name} sent nothing: {said[0] if said else 'it printed nothing'}")
    return result, name


_SCRIPT = "endless.py"


def _options(options: Sequence[str]) -> list[str]:
    """The options of the program, with the spans that a router would report."""
    reported = ",".join(f"{at:.3f}+{length:.3f}" for at, length in spans())
    return [f"{one}={reported}" if one == "unreachable" else one for one in options]
