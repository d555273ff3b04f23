"""Tables of the simulator, written by hand, so that a test's input can be read."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import polars as pl
import pytest

import rtolab.campaign  # noqa: F401  (before `find_scenario` is replaced: it reads real files)
from rtolab import _rtolab
from rtolab.result import TABLES
from rtolab.run import run

PUBLISHED: dict[str, tuple[float, float, float]] = {
    "sack+eifel": (77.94, 11, 16),
    "sack+frto": (76.23, 4, 12),
    "sack": (94.13, 9, 57),
    "newreno": (90.72, 10, 60),
    "newreno+frto": (75.18, 6, 13),
    "newreno+eifel": (79.21, 11, 19),
}
"""Table 1 of the F-RTO report: median seconds, packets lost and retransmissions of each sender."""
SEGMENT = 256
_EXAMPLE = run("single-link", set={"flow.transfer.bytes": "1 kB"})
SCHEMAS: dict[str, dict[str, Any]] = {name: dict(getattr(_EXAMPLE, name).schema) for name in TABLES}
"""The columns of each table and their types, as a run has them."""


def byte(segment: int) -> int:
    """The first byte of a segment; segments count from 1, and the SYN is byte 0."""
    return 1 + (segment - 1) * SEGMENT


@dataclass
class Tape:
    """One run of one flow, written event by event. An ACK takes half a second to arrive.

    Times count from `begins`.
    """

    sender: str
    run: int = 0
    seed: int = 1
    begins: float = 0.0
    rows: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {name: [] for name in SCHEMAS}
    )

    def _add(self, table: str, **columns: Any) -> None:
        base = {"run": self.run, "seed": self.seed, "sender": self.sender}
        row: dict[str, Any] = dict.fromkeys(SCHEMAS[table]) | base | columns
        if "flow" in row:
            row["flow"] = "transfer"
        for time in ("at_s", "fate_at_s", "from_s", "to_s", "start_s", "end_s"):
            if row.get(time) is not None:
                row[time] += self.begins
        self.rows[table].append(row)

    def data(
        self,
        at: float,
        segment: int,
        arrives: float | None = None,
        *,
        again: bool = False,
        unneeded: bool = False,
        held: float = 0.0,
    ) -> None:
        """A segment leaves, and arrives unless it is lost."""
        packet: dict[str, Any] = {
            "copy": len(self.rows["segments"]),
            "seq": byte(segment),
            "len": SEGMENT,
            "ack": 1,
            "window": 32768,
            "window_edge": 32769,
            "flags": "A",
            "bytes": SEGMENT + 40,
            "retransmission": again,
            "unneeded": unneeded,
            "fate": "error" if arrives is None else "delivered",
            "fate_at_s": arrives,
            "held_s": held,
        }
        self._add("segments", at_s=at, place="sender", event="sent", **packet)
        if arrives is not None:
            self._add("segments", at_s=arrives, place="receiver", event="received", **packet)

    def ack(self, at: float, upto: int, sacked: tuple[tuple[int, int], ...] = ()) -> None:
        """An ACK of all segments up to one arrives; SACK blocks name first and last segment."""
        ack = byte(upto + 1)
        packet: dict[str, Any] = {
            "copy": len(self.rows["segments"]),
            "seq": 1,
            "len": 0,
            "ack": ack,
            "window": 6144,
            "window_edge": ack + 6144,
            "flags": "A",
            "bytes": 40,
            "retransmission": False,
            "unneeded": False,
            "fate": "delivered",
            "fate_at_s": at,
            "held_s": 0.0,
        }
        for i, (first, last) in enumerate(sacked, 1):
            packet |= {f"sack_{i}_start": byte(first), f"sack_{i}_end": byte(last + 1)}
        self._add("segments", at_s=at - 0.5, place="receiver", event="sent", **packet)
        self._add("segments", at_s=at, place="sender", event="received", **packet)

    def timeout(
        self,
        at: float,
        segment: int,
        *,
        needed: bool,
        verdict: str | None = None,
        kind: str = "timeout",
    ) -> None:
        """The timer expired, or loss recovery began."""
        columns: dict[str, Any] = {
            "rto_s": 2.5,
            "backoff": 0,
            "cwnd": 8 * SEGMENT,
            "needed": needed,
        }
        columns |= {"end": "sender", "kind": kind, "seq": byte(segment), "verdict": verdict}
        self._add("timeouts", at_s=at, **columns)

    def window(self, at: float, *sizes: float, rto: float) -> None:
        """A sample of cwnd, ssthresh and flight, in segments, and of the timeout."""
        named = zip(("cwnd", "ssthresh", "flight"), sizes, strict=True)
        columns = {name: int(size * SEGMENT) for name, size in named}
        self._add("windows", at_s=at, **columns, srtt_s=1.1, rttvar_s=0.35, rto_s=rto)

    def disturbed(self, kind: str, start: float, end: float) -> None:
        """A link was disturbed."""
        self._add("disturbances", link="wireless", kind=kind, from_s=start, to_s=end)

    def ends(self, at: float, *, completed: bool = True, **columns: Any) -> None:
        """The connection ends."""
        zeros = {name: 0 for name, kind in SCHEMAS["connections"].items() if kind == pl.UInt64}
        end = at if completed else None
        fixed = {"flow_sender": self.sender, "start_s": 0.0, "end_s": end, "elapsed_s": end}
        size = {"bytes": 102_400, "goodput_bps": 8 * 102_400 / at}
        self._add(
            "connections",
            **(zeros | fixed | size | {"completed": completed, "seed": self.seed} | columns),
        )


def tables(*tapes: Tape) -> dict[str, pl.DataFrame]:
    """All tables of some runs."""
    return {
        name: pl.DataFrame([row for tape in tapes for row in tape.rows[name]], schema=schema)
        for name, schema in SCHEMAS.items()
    }


@dataclass
class Outcome:
    """What a call of the simulator returns."""

    frames: dict[str, pl.DataFrame]

    @property
    def effort(self) -> dict[str, float | None]:
        """The effort of a run that is not simulated: none."""
        none = ("set_up_s", "run_s", "data_packets_delivered", "events")
        return dict.fromkeys(none, 0.0) | {"peak_memory_mb": None}

    def table(self, name: str) -> pl.DataFrame:
        """The table of that name."""
        return self.frames[name]

    def pcapng(self, run: int, place: str, _headers: bool = False) -> bytes:
        """Bytes that identify the run."""
        return f"run {run} at the {place}".encode()


def held_window(sender: str, *, frto: bool, begins: float = 0.0, run: int = 0) -> Tape:
    """Eight segments held until 5 s, a timeout at 2.5 s: the regular recovery, or F-RTO.

    One segment each 0.1 s passes the link, half a second away in each direction.
    """
    tape = Tape(sender, begins=begins, run=run)
    tape.disturbed("stall", 0.0, 5.0)
    tape.window(0.0, 8, 8, 8, rto=2.5)
    for n in range(1, 9):
        tape.data(0.0, n, 5.5 + 0.1 * n, held=5.0)
    verdict = "spurious" if frto else None
    tape.timeout(2.5, 1, needed=False, verdict=verdict)
    tape.data(2.5, 1, 6.4, again=True, unneeded=True, held=2.5)
    tape.window(2.5, 8 if frto else 1, 4, 8, rto=5.0)
    if frto:
        _forward(tape)
    else:
        _go_back(tape)
    return tape


def _go_back(tape: Tape) -> None:
    released = {1: (2, 3), 2: (4, 5), 3: (6, 7), 4: (8,), 5: (9,), 6: (10,), 7: (11,), 8: (12, 13)}
    arrival = 6.5
    for n, segments in released.items():
        at = 6.0 + 0.1 * n
        tape.ack(at, n)
        tape.window(at, min(1 + n, 5), 4, 8, rto=5.0)
        for segment in segments:
            tape.data(at, segment, arrival, again=segment < 9, unneeded=segment < 9)
            arrival += 0.1
    for at in (6.9, 7.2, 7.3):
        tape.ack(at, 8)
    tape.timeout(7.3, 9, needed=False, kind="fast_retransmit")
    tape.data(7.3, 9, 8.3, again=True, unneeded=True)
    tape.window(7.3, 5, 2, 5, rto=5.0)
    tape.ack(7.9, 9)
    tape.ends(13.8, retransmissions=13, unneeded=13, timeouts=1, fast_retransmits=1)


def _forward(tape: Tape) -> None:
    """The receiver acknowledges every second segment."""
    released = {1: (9, 10), 3: (), 5: (), 7: (11,), 8: (12, 13)}
    arrival = 6.7
    for n, segments in released.items():
        at = 6.0 + 0.1 * n
        tape.ack(at, n)
        tape.window(at, 4 + max(0, n - 1) / 4, 4, 8, rto=5.0)
        for segment in segments:
            tape.data(at, segment, arrival)
            arrival += 0.1
    tape.ack(6.9, 8)
    tape.ack(7.2, 9, sacked=((11, 12),))
    tape.data(7.2, 14, 8.0)
    tape.ends(12.4, retransmissions=1, unneeded=1, timeouts=1, found_spurious=1)


def lost_retransmission(sender: str, *, frto: bool, run: int = 0) -> Tape:
    """The first of six segments is lost, and its fast retransmission; the rest arrives."""
    tape = Tape(sender, run=run)
    tape.data(0.0, 1)
    for n in range(2, 7):
        tape.data(0.0, n, 0.5 + 0.1 * n)
    for n, extra in ((2, 7), (3, 8)):
        tape.ack(1.0 + 0.1 * n, 0, sacked=((2, n),))
        tape.data(1.0 + 0.1 * n, extra, 1.5 + 0.1 * n)
    tape.ack(1.4, 0, sacked=((2, 4),))
    tape.timeout(1.4, 1, needed=True, kind="fast_retransmit")
    tape.data(1.4, 1, again=True)
    tape.ack(2.3, 0, sacked=((2, 8),))
    tape.timeout(3.9, 1, needed=True, verdict="spurious" if frto else None)
    tape.data(3.9, 1, 4.5, again=True)
    tape.ack(5.0, 8)
    tape.data(5.0, 9, 5.6)
    tape.data(5.0, 10, 5.7)
    tape.window(5.0, 4 if frto else 2, 4, 2, rto=2.5)
    tape.ack(6.2, 10)
    tape.ends(9.0, retransmissions=2, timeouts=1, fast_retransmits=1, lost=2)
    return tape


def burst(sender: str, *, frto: bool, begins: float, run: int = 0) -> Tape:
    """Eight segments are lost, and the first retransmission by timeout."""
    tape = Tape(sender, begins=begins, run=run)
    tape.disturbed("outage", -0.1, 3.0)
    tape.window(-1.0, 8, 8, 8, rto=2.5)
    for n in range(1, 9):
        tape.data(0.0, n)
    for at in (2.5, 7.5):
        tape.timeout(at, 1, needed=True)
        tape.data(at, 1, 8.1 if at > 3 else None, again=True)
    tape.ack(8.6, 1)
    tape.window(8.6, 4 if frto else 2, 4, 8, rto=5.0)
    for n, segment in enumerate((9, 10) if frto else (2, 3)):
        tape.data(8.6, segment, 9.2 + 0.1 * n, again=not frto)
    tape.ack(9.7, 1 if frto else 3, sacked=((9, 9),) if frto else ())
    tape.window(9.7, 3, 4, 8, rto=5.0)
    for n, segment in enumerate((2, 3, 4) if frto else (4, 5, 6, 7)):
        tape.data(9.7, segment, 10.3 + 0.1 * n, again=True)
    tape.ack(10.8, 4 if frto else 7)
    tape.ends(14.0 if frto else 14.6, retransmissions=9, timeouts=2, lost=9)
    return tape


def repetitions(
    sender: str, medians: tuple[float, float, float], runs: range, *, first: int = 0
) -> list[Tape]:
    """Runs of a sender whose elapsed times, losses and retransmissions have these medians.

    Times spread over a fifth of the median, counts over one more or less.
    """
    time, lost, rexmits = medians
    tapes = []
    for i, seed in enumerate(runs):
        middle = (len(runs) - 1) / 2
        tape = Tape(sender, run=first + i, seed=seed)
        counts: dict[str, Any] = {
            "lost": round(lost) + i % 3 - 1,
            "retransmissions": round(rexmits) + i % 3 - 1,
        }
        tape.ends(time * (1 + 0.2 * (i - middle) / len(runs)), **counts)
        tapes.append(tape)
    return tapes


@dataclass
class Simulator:
    """Stands in for the extension's `simulate`: what it is asked, and the medians it answers.

    Attributes:
        medians: by sender: elapsed time, losses, retransmissions.
        asked: the arguments of each call.
    """

    medians: dict[str, tuple[float, float, float]]
    requested: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def installed(cls, monkeypatch: pytest.MonkeyPatch) -> Self:
        """In place of the extension's, for any name of a scenario."""
        simulator = cls({})
        monkeypatch.setattr(_rtolab, "simulate", simulator)
        monkeypatch.setattr(_rtolab, "check", lambda *_, **__: None)
        monkeypatch.setattr(sys.modules["rtolab.run"], "find_scenario", Path)
        if command := sys.modules.get("rtolab.cli.run"):
            monkeypatch.setattr(command, "find_scenario", Path)
        return simulator

    def __call__(self, path: Any, **requested: Any) -> Outcome:
        """Answer as the simulator does, senders before seeds."""
        self.requested.append({"path": path} | requested)
        seeds = requested["seeds"]
        tapes: list[Tape] = []
        for sender in requested["senders"] or ["sack"]:
            if requested["trace"]:
                tapes.append(self._trace(sender, dict(requested["set"]), len(tapes)))
            else:
                runs = range(seeds[0], seeds[-1] + 1)
                tapes += repetitions(sender, self.medians[sender], runs, first=len(tapes))
        if requested["progress"]:
            requested["progress"](len(tapes), len(tapes))
        return Outcome(tables(*tapes))

    @staticmethod
    def _trace(sender: str, changed: dict[str, str], run: int) -> Tape:
        frto = sender.endswith("+frto")
        if changed.get("receiver.buffer") == "1536 B":  # Figure 3's advertised window
            return lost_retransmission(sender, frto=frto, run=run)
        if "link.wireless.forward.drops" in changed:
            return burst(sender, frto=frto, begins=20.0, run=run)
        return held_window(sender, frto=frto, begins=20.0, run=run)
