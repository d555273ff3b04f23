"""The paper's network (section 3, Table 1) and the assumptions that it leaves open.

Every experiment has the same assumptions: ns-2 of 2001, packets of 552 B on the wire, a window of
20 of them. They hold for every sender, rate and delay. Alternatives show the effect of other
packet sizes, and of the RFCs' rules in place of ns-2's, if it matters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from rtolab.experiments.base import (
    Alternative,
    Assumption,
    Experiment,
    Variant,
    assumed,
    interpreted,
    stated,
)

Local = Literal["arq", "drop"]
"""The link's action on a damaged packet: it retransmits or drops it."""

Profile = Literal["light", "heavy"]

GOOD_ERRORS: Mapping[Profile, float] = {"light": 0.1, "heavy": 1.0}
"""Table 1: the packet error rate in the good state, in percent."""

GOOD_TO_BAD = 10
"""Table 1: the mean duration of the good state over that of the bad one."""

LIGHT_PERS = (0.1, 0.3, 1.0)
HEAVY_PERS = (2.0, 3.0, 5.0, 10.0)
PERS = LIGHT_PERS + HEAVY_PERS
"""Average raw packet error rates in percent, over both profiles."""

DELAYS = (10, 50, 100)
"""Table 1: ms, downlink."""

HEADER = 40
"""TCP's and IP's, in bytes."""


@dataclass(frozen=True)
class Setting:
    """One wireless link.

    Attributes:
        per: the average raw packet error rate, in percent.
        local: are damaged packets retransmitted on the link?
        delay: of the downlink, in ms; the uplink's is twice as long.
        rate: of the downlink, in kbit/s; the uplink's is a quarter.
        bad_ms: the mean duration of the bad state, in ms.
        profile: of errors; by default the light one up to 1 %.
    """

    per: float
    local: Local
    delay: int = 10
    rate: int = 384
    bad_ms: int = 1
    profile: Profile | None = None

    @property
    def good_errors(self) -> float:
        """The packet error rate in the good state, in percent."""
        return GOOD_ERRORS[self.profile or ("light" if self.per <= max(LIGHT_PERS) else "heavy")]

    @property
    def bad_errors(self) -> float:
        """The packet error rate in the bad state that makes the average, in percent."""
        return (GOOD_TO_BAD + 1) * self.per - GOOD_TO_BAD * self.good_errors

    def keys(self) -> dict[str, str]:
        """The setting by keys of the scenario."""
        link, states = "link.wireless", "link.wireless.states"
        keys = {
            f"{link}.loss": f"{self.good_errors / 100:.6g}",
            f"{link}.bad.loss": f"{self.bad_errors / 100:.6g}",
            f"{link}.rate": f"{self.rate} kbit/s",
            f"{link}.backward.rate": f"{self.rate / 4:g} kbit/s",
            f"{link}.delay": f"{self.delay} ms",
            f"{link}.backward.delay": f"{2 * self.delay} ms",
            f"{states}.good.exponential": f"{GOOD_TO_BAD * self.bad_ms} ms",
            f"{states}.bad.exponential": f"{self.bad_ms} ms",
            "flow.background.datagrams.rate": f"{self.rate / 4:g} kbit/s",
        }
        return keys if self.local == "arq" else keys | {f"{link}.arq": "[]"}

    def words(self) -> str:
        """The setting in a few words."""
        parts = [self.local, f"{self.rate} kbit/s, {self.delay} ms, PER {self.per:g} %"]
        if self.bad_ms != 1:
            parts.append(f"bad {self.bad_ms} ms")
        if self.profile:
            parts.append(f"{self.profile} profile")
        return ", ".join(parts)

    def available_bps(self) -> float:
        """The downlink's bandwidth without errors and other traffic, in bit/s."""
        return 1000.0 * self.rate * (1 - self.per / 100 - BACKGROUND)


PAPER = "Pan, Mark and Shen (2002)"

RUNS = 20
"""The paper's number of runs; fewer decide nothing."""

RUNS_CHOSEN = "the number of runs was chosen after the verdict of fewer had been seen to vary"
JUDGED_LATE = "the claim was chosen to be judged after its result had been seen"
"""What was fitted in some checks."""

BACKGROUND = 0.25
"""Section 4: the share of the link that other traffic takes."""


@dataclass(frozen=True, kw_only=True)
class Case(Variant):
    """A variant on one wireless link.

    Attributes:
        setting: the link.
        upload: do the data go up?
    """

    setting: Setting
    upload: bool = False
    set: Mapping[str, str] = field(default_factory=dict)

    def available_bps(self) -> float:
        """The bandwidth that the flow can have, in bit/s: for uploads a quarter."""
        return self.setting.available_bps() / (4 if self.upload else 1)


@dataclass(frozen=True)
class Sender:
    """A sender: its label, its specification and its other keys of the scenario."""

    label: str
    policies: str
    set: Mapping[str, str] = field(default_factory=dict)

    def on(self, setting: Setting, scenario: str = "") -> Case:
        """That sender on one link, as a point of a line of its own."""
        series = f"{self.label}, {setting.local}"
        return self.point(setting, series, scenario)

    def point(self, setting: Setting, series: str, scenario: str = "") -> Case:
        """That sender on one link, as a point of the named line, over the error rate."""
        own = f", {self.label}" if self.set else ""
        where = f"{scenario}: " if scenario else ""
        upload = scenario == UPLOAD
        keys = setting.keys() | dict(self.set)
        if upload:
            keys["flow.background.datagrams.rate"] = f"{setting.rate / 16:g} kbit/s"
        return Case(
            sender=self.policies,
            label=self.label,
            condition=f"{where}{setting.words()}{own}",
            set=keys,
            scenario=scenario,
            series=series,
            x=setting.per,
            setting=setting,
            upload=upload,
        )


LAN, WAN, LINK, UPLOAD = (f"arq2002-{name}" for name in ("lan", "wan", "link", "upload"))
"""The scenarios: (b), (a), a single link; and (b) the other way round."""

RENO = Sender("Reno", "reno")


def packets(payload: int, window: int = 20) -> dict[str, str]:
    """Packets with `payload` bytes, and a window of `window` packets, by scenario key."""
    return {
        "tcp.mss": f"{payload} B",
        "receiver.buffer": f"{payload * window} B",
        "flow.background.datagrams.packet": f"{payload + HEADER} B",
    }


SMALL_PACKETS = (
    "--assume 'tcp.mss=128 B' --assume 'receiver.buffer=2560 B' "
    "--assume 'flow.background.datagrams.packet=168 B'"
)
"""For `rtolab reproduce`: packets of 168 B, 20 of which the link sends quickly."""

NO_UPLINK_ERRORS = (
    "--assume link.wireless.backward.loss=0 --assume link.wireless.backward.bad.loss=0"
)
"""For `rtolab reproduce`: no ACK is lost."""

CLEAN_UPLINK = Alternative(
    "no errors on the uplink",
    {"link.wireless.backward.loss": "0", "link.wireless.backward.bad.loss": "0"},
    "the paper prints one error rate and does not say for which direction",
)

BY_RFC = Alternative(
    "the RFCs' ways",
    {
        "tcp.rto.arithmetic": "exact",
        "tcp.window.halves": "flight-size",
        "tcp.window.repeated_timeout": "keeps",
        "tcp.window.full_ack": "flight-size",
        "tcp.window.avoidance": "ack-counting",
        "tcp.rto.restart_on_retransmit": "false",
        "tcp.sack_recovery.rules": "rfc6675",
    },
    "RFC 5681, 6298, 6582 and 6675 where ns-2 rounds to ticks and halves the window",
)


def spacing_ms(setting: Setting, payload: int = 512) -> float:
    """The time from one packet of the flow to the next on a busy link."""
    return 8.0 * (payload + HEADER) / (setting.rate * (1 - BACKGROUND))


def is_overtaken(setting: Setting, payload: int = 512) -> bool:
    """Do enough packets overtake a locally retransmitted one to cause three duplicate ACKs?

    A local retransmission takes the link's round trip, three one-way delays of the downlink. Three
    packets must fit; the last of them may have begun before.
    """
    return spacing_ms(setting, payload) < 3 * setting.delay / 2


WORLD: tuple[Assumption, ...] = (
    stated("duration", "110 s", "4: every run"),
    stated("measure.from", "5 s", "4: logging begins 5 s after the start"),
    stated("measure.to", "105 s", "4: and ends 5 s before the end"),
    stated("link.wireless.states.shared", "false", "3.1: directions differ; assumed independent"),
    assumed("link.wireless.queue", "50 packets", "ns-2's default, drop-tail; never full here"),
    interpreted("retries", "3", "4.1: the default retry limit; 4 transmissions in all"),
    interpreted(
        "local retransmission",
        "selective, reported when the damaged packet arrives, delivered out of order",
        "1 and 5.2: triggered by selective acknowledgment, and packets get reordered",
    ),
    interpreted(
        "errors on the uplink",
        "those of the downlink, independent",
        "3.1: the model includes asymmetric errors, but no rate of the uplink is printed. Errors "
        "of ACKs alone lower the throughput of drop at a PER of 10 % by a quarter",
    ),
    interpreted("segmentation", "none", "4: about 15 % of the raw rate; see arq2002/stated"),
    interpreted("competing TCP flows", "none", "4: up to 8; see arq2002/competing"),
)

NS2: tuple[Assumption, ...] = (
    assumed("tcp.mss", "512 B", "with 40 B of headers; not stated"),
    assumed("receiver.buffer", "10240 B", "20 packets: ns-2's window"),
    assumed("flow.background.datagrams.packet", "552 B", "as large as the others; not stated"),
    assumed("receiver.ack_every", "1", "ns-2's sink, by default"),
    assumed("tcp.window.initial", "1 segment", "ns-2 of 2001"),
    assumed("tcp.window.initial_ssthresh", "20 segments", "ns-2: the window"),
    assumed("tcp.window.halving", "segments", "ns-2 counts in packets"),
    assumed("tcp.window.halves", "window", "ns-2 halves the window, not what is outstanding"),
    assumed("tcp.window.repeated_timeout", "halves", "ns-2"),
    assumed("tcp.window.full_ack", "halved", "ns-2 of 2001"),
    assumed("tcp.window.avoidance", "fractional-ack-counting", "ns-2: 1 / cwnd an ACK"),
    assumed("tcp.recovery.limited_transmit", "false", "ns-2 of 2001"),
    assumed("tcp.recovery.bugfix", "careful", "ns-2, by default"),
    assumed("tcp.sack_recovery.rules", "ns2", "ns-2's Sack1, where SACK is used"),
    assumed("tcp.rto.arithmetic", "ns2", "ns-2 rounds to whole ticks, as BSD"),
    stated("tcp.rto.granularity", "100 ms", '4.1: "a fine grained timer of 100 ms"'),
    stated("tcp.rto.sampling", "once-per-window", "5.1: measured once in each sender window"),
    assumed("tcp.rto.min", "200 ms", "two ticks"),
    assumed("tcp.rto.initial", "6 s", "ns-2 of 2001"),
    assumed("tcp.rto.restart_on_retransmit", "true", "ns-2: a fast retransmit restarts the timer"),
)

SET = WORLD + NS2
"""The assumptions of every experiment."""

QUICK = {"duration": "30 s", "measure.to": "25 s"}
"""Shorter runs, with `--quick`."""

experiment = partial(
    Experiment,
    scenario=LAN,
    assumptions=SET,
    runs=RUNS,
    quick_runs=2,
    quick_set=QUICK,
    endless=True,
)
"""An experiment of the paper, over the wired LAN unless it names another scenario."""


def replaced(instead: Mapping[str, tuple[str, str]]) -> tuple[Assumption, ...]:
    """The set with other values, each with its reason, by key."""
    return tuple(
        stated(a.name, *instead[a.name]) if a.is_key and a.name in instead else a for a in SET
    )


FINEST = replaced(
    {
        "tcp.rto.granularity": ("10 ms", "5.3: the finest timer granularity; its value is ours"),
        "tcp.rto.min": ("20 ms", "two ticks; ours"),
    }
)
"""The set with the finest timer."""
