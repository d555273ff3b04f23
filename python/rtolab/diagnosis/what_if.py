"""What other senders would have done: the path of a capture is inferred and simulated."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtolab import run
from rtolab._rtolab import Error
from rtolab.diagnosis.path import Inferred, Reading, infer
from rtolab.diagnosis.scenario import undisturbed, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rtolab.diagnosis import Connection, Diagnosis

    Settings = Mapping[str, object]

SENDERS = (
    *("reno", "newreno", "sack", "rack+prr"),
    *("newreno+frto", "sack+frto", "sack+eifel", "sack+dualrtt", "sack+dsack+rfc4015"),
)
"""Textbook senders that take the captured one's place."""

LINUX = "linux"

UNCLEAR = 2
"""Senders that differ by so many retransmissions are not told apart."""

UNCLEAR_TIME = 0.03
"""Nor by such a part of the time that they take."""

KNOBS: tuple[tuple[str, str, tuple[object, ...]], ...] = (
    ("tcp_timestamps", "kernel.timestamps", (True, False)),
    ("tcp_frto", "kernel.frto", (2, 0)),
    ("tcp_sack", "kernel.sack", (True, False)),
    ("tcp_dsack", "kernel.dsack", (True, False)),
    ("tcp_early_retrans", "kernel.early_retrans", (3, 0)),
    ("tcp_congestion_control", "kernel.congestion", ("cubic", "reno")),
    ("rto_min", "kernel.rto_min", ("200 ms", "1 s", "3 s")),
)
"""Settings of Linux by their own names, their keys, and their values, its own first."""

OF_BOTH = {
    "kernel.timestamps": "receiver.timestamps",
    "kernel.sack": "receiver.sack",
    "kernel.dsack": "receiver.dsack",
}
"""What only works where the receiver does it, too."""


@dataclass(frozen=True)
class Outcome:
    """What a sender makes of the path.

    Attributes:
        sender: its name.
        set: what is set beside, by dotted key.
        unneeded: retransmissions in vain.
        needed: the others.
        timeouts: how often its timer expired.
        elapsed_s: from its first packet until all is acknowledged, in seconds; `None` if that is
            never.
        time_lost_s: how much longer that is than without what befell the path, in seconds.
        detected_s: how long after a timeout it was first found spurious, in seconds.
    """

    sender: str
    set: Settings
    unneeded: int
    needed: int
    timeouts: int
    elapsed_s: float | None
    time_lost_s: float | None
    detected_s: float | None


@dataclass(frozen=True)
class Captured:
    """What the capture shows of the sender that was captured."""

    unneeded: int
    needed: int
    unknown: int
    elapsed_s: float

    def distance(self, other: Outcome) -> tuple[float, ...]:
        """How far another is from it, as a part of what it did; Linux where that is unclear."""
        count = _beyond(other.unneeded, self.unneeded, self.unknown)
        count += _beyond(other.needed, self.needed, self.unknown)
        elapsed = float("inf") if other.elapsed_s is None else other.elapsed_s
        late = abs(elapsed - self.elapsed_s) / self.elapsed_s
        all_ = max(1, self.unneeded + self.needed + self.unknown)
        clear = max(0, count - UNCLEAR) / all_ + max(0.0, late - UNCLEAR_TIME)
        return (clear, other.sender != LINUX, count, late)

    def agrees(self, other: Outcome) -> bool:
        """Is another so near that it may be the same?"""
        return self.distance(other)[0] == 0


def _beyond(count: int, least: int, more: int) -> int:
    """How far a count is from being at least this, and at most so many more."""
    return max(least - count, count - least - more, 0)


@dataclass(frozen=True)
class WhatIf:
    """A connection's path with other senders.

    Attributes:
        scenario: the path and the transfer, as TOML.
        captured: what the capture shows.
        nearest: the sender of the simulator that comes nearest to it.
        senders: others in its place.
        knobs: Linux with one setting changed, by the setting's name and value; the first is as
            captured.
    """

    scenario: str
    captured: Captured
    nearest: Outcome
    senders: Sequence[Outcome]
    knobs: Mapping[str, Outcome]

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "scenario": self.scenario,
            "captured": vars(self.captured),
            "nearest": vars(self.nearest),
            "agrees": self.captured.agrees(self.nearest),
            "senders": [vars(one) for one in self.senders],
            "linux": [{"setting": name, **vars(one)} for name, one in self.knobs.items()],
        }


def what_if(found: Diagnosis, capture: str | None = None) -> dict[str, Any]:
    """What other senders would have made of the path of the worst connection.

    Args:
        found: the diagnosis.
        capture: the file, where `found` has another name for it.

    Returns:
        What `WhatIf.document` says and `connection`, its number; or `error`, why the capture does
        not show it.
    """
    if not found.worst:
        return {"error": "there is no connection"}
    connection = found.worst[0]
    number = {"connection": connection["number"]}
    try:
        return number | of_connection(capture or found.capture, connection).document()
    except Error as error:
        return number | {"error": str(error)}


def of_connection(capture: str, connection: Connection) -> WhatIf:
    """What other senders would have made of a connection's path.

    Raises:
        Error: the capture does not show enough of the path; see `infer`.
    """
    inferred = infer(capture, connection)
    captured = _captured(connection, inferred)
    nearest = _replay(inferred, captured)
    tried = [inferred]
    for reading in _readings(captured):
        if captured.agrees(nearest):
            break
        other = infer(capture, connection, reading)
        if other not in tried:
            tried.append(other)
            replays = [(inferred, nearest), (other, _replay(other, captured))]
            inferred, nearest = min(replays, key=lambda replay: captured.distance(replay[1]))
    seen = _seen(inferred)
    with _laboratory(inferred) as simulate:
        senders = [simulate(sender, _set_for(sender, seen)) for sender in SENDERS]
        base = dict(nearest.set) if nearest.sender == LINUX else dict(seen)
        knobs = {name: simulate(LINUX, set) for name, set in _knobs(base)}
    return WhatIf(written(inferred), captured, nearest, senders, knobs)


def _readings(captured: Captured) -> Iterable[Reading]:
    """Those that may explain what the usual one does not, the likelier first.

    What the capture does not tell may have been sent in vain; the rate may have changed; what was
    lost behind a long queue may have been lost by chance.
    """
    verdicts = ("needed", "unneeded") if captured.unknown else ("needed",)
    for steady, overflows, unknown in product((True, False), (True, False), verdicts):
        yield Reading(unknown, steady, overflows)


def _replay(inferred: Inferred, captured: Captured) -> Outcome:
    """The sender that comes nearest to the captured one."""
    with _laboratory(inferred) as simulate:
        guesses = [simulate(*guess) for guess in _guesses(_seen(inferred))]
    return min(guesses, key=captured.distance)


@contextmanager
def _laboratory(inferred: Inferred) -> Iterator[Callable[[str, Settings], Outcome]]:
    """Runs senders over the path, with and without what befell it."""
    with tempfile.TemporaryDirectory() as folder:
        path, plain = Path(folder) / "path.toml", Path(folder) / "plain.toml"
        path.write_text(written(inferred), encoding="utf-8")
        plain.write_text(written(undisturbed(inferred)), encoding="utf-8")
        yield partial(_simulated, (path, plain))


def _simulated(paths: tuple[Path, Path], sender: str, set: Settings) -> Outcome:
    result, plain = (run(path, sender=sender, set=set) for path in paths)
    row, usual = (one.connections.row(0, named=True) for one in (result, plain))
    elapsed = row["elapsed_s"] if row["completed"] else None
    found = [
        one["verdict_at_s"] - one["at_s"]
        for one in result.timeouts.to_dicts()
        if one["kind"] == "timeout" and one["verdict"] == "spurious"
    ]
    return Outcome(
        sender=sender,
        set=set,
        unneeded=row["unneeded"],
        needed=row["needed"],
        timeouts=row["timeouts"],
        elapsed_s=elapsed,
        time_lost_s=None if elapsed is None else elapsed - usual["elapsed_s"],
        detected_s=min(found, default=None),
    )


def _captured(connection: Connection, inferred: Inferred) -> Captured:
    sender = connection["sender"]
    counts = Counter(
        one["verdict"] for one in connection["retransmissions"] if one["from"] == sender
    )
    elapsed = inferred.transfer.end - inferred.transfer.start
    return Captured(counts["unneeded"], counts["needed"], counts["unknown"], elapsed)


def _seen(inferred: Inferred) -> dict[str, object]:
    """The settings of Linux that the handshake shows, and timeouts."""
    transfer = inferred.transfer
    seen: dict[str, object] = {"kernel.timestamps": transfer.timestamps}
    if not transfer.sack:
        seen |= {"kernel.sack": False, "kernel.dsack": False}
    if inferred.wheel:
        seen["tcp.rto.timer"] = inferred.wheel.timer
    return seen


def _set_for(sender: str, seen: Settings) -> Settings:
    """What of these settings a textbook sender has: timestamps, if it does not go by them."""
    return {} if "eifel" in sender else {"tcp.timestamps": seen["kernel.timestamps"]}


def _guesses(seen: Settings) -> Iterable[tuple[str, Settings]]:
    """Who may have been captured: Linux with what does not show, or a textbook sender."""
    for frto in (2, 0):
        for congestion in ("cubic", "reno"):
            for probes in (3, 0):
                hidden = {"frto": frto, "congestion": congestion, "early_retrans": probes}
                changed = {f"kernel.{name}": value for name, value in hidden.items()}
                yield LINUX, {**seen, **changed}
    for sender in SENDERS:
        yield sender, _set_for(sender, seen)


def _knobs(base: dict[str, object]) -> Iterable[tuple[str, Settings]]:
    """Linux as it was, and with each setting changed alone."""
    yield "as captured", base
    for name, key, values in KNOBS:
        own = base.get(key, values[0])
        for value in values:
            if value != own:
                both = {OF_BOTH[key]: value} if key in OF_BOTH else {}
                yield f"{name}={_shown(value)}", {**base, key: value, **both}


def _shown(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
