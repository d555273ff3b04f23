"""Unstated assumptions, for `reproduce --search`: about the tests and about each system."""

from collections.abc import Mapping

from rtolab.experiments.base import SenderComposition, UnstatedAssumption

BSD = SenderComposition(
    "reno:no-bugfix",
    {
        "tcp.rto.max": "64 s",
        "tcp.rto.min": "1 s",
        "tcp.rto.initial": "3 s",
        "tcp.rto.granularity": "10 ms",
        "tcp.rto.arithmetic": "bsd",
        "tcp.rto.sampling": "once-per-window",
        "tcp.rto.timer": "ticks",
        "tcp.window.initial": "16384 B",
        "tcp.window.halves": "window",
        "tcp.window.halving": "segments",
        "tcp.window.repeated_timeout": "halves",
        "tcp.window.slow_start": "per-ack",
        "tcp.window.full_ack": "ssthresh",
        "tcp.window.idle_restart": "last-received",
        "tcp.recovery.limited_transmit": "false",
        "tcp.recovery.go_back_n_on_duplicates": "true",
    },
)
"""The profile `freebsd-4.1`."""

WINDOWS = {
    "tcp.rto.k": "2",
    "tcp.window.overrun": "2",
    "tcp.window.initial": "2 segments",
}
WIN_98 = SenderComposition(
    "newreno:no-bugfix",
    WINDOWS | {"tcp.recovery.dupthresh": "2", "tcp.recovery.bugfix": "none"},
)
"""The profile `windows-98`."""

WIN_NT = SenderComposition("reno:no-bugfix", WINDOWS | {"tcp.recovery.dupthresh": "1"})
"""The profile `windows-nt`."""

LINUX_2_2 = SenderComposition(
    "newreno:less-careful",
    {
        "tcp.window.initial": "2 segments",
        "tcp.window.halving": "segments",
        "tcp.recovery.limited_transmit": "false",
        "tcp.rto.arithmetic": "exact",
        "tcp.rto.granularity": "10 ms",
        "tcp.rto.initial": "3 s",
        "tcp.rto.min": "200 ms",
        "tcp.rto.max": "120 s",
    },
)
"""The profile `linux-2.2`."""

LINUX_2_4 = SenderComposition(
    "newreno:careful",
    {
        "tcp.window.initial": "2 segments",
        "tcp.window.halving": "segments",
        "tcp.window.max_burst": "3 segments",
        "tcp.recovery.limited_transmit": "true",
        "tcp.recovery.reduction": "rate-halving",
        "tcp.rto.arithmetic": "exact",
        "tcp.rto.granularity": "10 ms",
        "tcp.rto.initial": "3 s",
        "tcp.rto.min_on_variance": "200 ms",
        "tcp.rto.max": "120 s",
    },
)
"""The profile `linux-2.4`."""

UPLOAD_HOLD = "link.wireless.forward.stalls.scripted"
"""The key of the hold of section 5.1."""


def held(at: str, seconds: int = 10) -> str:
    """One hold that begins `at`, as a value of a scenario key."""
    return f'[{{ at = "{at}", for = "{seconds} s" }}]'


def constant(seconds: str) -> Mapping[str, str]:
    """A timeout that is always the same, by scenario key."""
    return {f"tcp.rto.{name}": f"{seconds} s" for name in ("initial", "min", "max")}


def timer_of(system: str, sender: str, *constants: str) -> UnstatedAssumption:
    """Unstated assumptions about a system's timer; `constants` are timeouts in s."""
    values = {
        "K of 4": {"tcp.rto.k": "4"},
        "the handshake is not timed": {"tcp.rto.sample_handshake": "false"},
        "one sample a window": {"tcp.rto.sampling": "once-per-window"},
        "at least 3 s": {"tcp.rto.min": "3 s"},
        "duplicates restart it": {"tcp.rto.restart_on_duplicate": "always"},
        **{f"always {seconds} s": constant(seconds) for seconds in constants},
    }
    return UnstatedAssumption(f"the timer of {system}", values, sender)


SET_UP = (
    UnstatedAssumption(
        "the propagation delay",
        {
            "150 ms each way": {"link.wireless.delay": "150 ms"},
            "600 ms each way": {"link.wireless.delay": "600 ms"},
        },
    ),
    UnstatedAssumption("ACKs", {"every segment": {"receiver.ack_every": "1"}}),
    UnstatedAssumption("the delayed ACK", {"500 ms": {"receiver.delayed_ack": "500 ms"}}),
    UnstatedAssumption(
        "the hold",
        {
            "5 s after the handshake": {UPLOAD_HOLD: held("5.65 s")},
            "both directions": {"link.wireless.backward.stalls.scripted": held("5 s")},
        },
    ),
)
"""Unstated assumptions about the tests of section 5."""

FREEBSD = "freebsd-4.1"
FREEBSD_TIMER = (
    UnstatedAssumption(
        "the samples of FreeBSD",
        {
            "not of the handshake": {"tcp.rto.sample_handshake": "false"},
            "in ticks of 500 ms": {"tcp.rto.granularity": "500 ms"},
        },
        FREEBSD,
    ),
    UnstatedAssumption(
        "the smallest timeout of FreeBSD",
        {f"{seconds} s": {"tcp.rto.min": f"{seconds} s"} for seconds in ("3", "4", "4.4")},
        FREEBSD,
    ),
    UnstatedAssumption(
        "the largest timeout of FreeBSD",
        {f"{seconds} s": {"tcp.rto.max": f"{seconds} s"} for seconds in ("5", "6", "8", "10")},
        FREEBSD,
    ),
)
WINDOWS_TIMER = timer_of("Windows 98", "windows-98", "4", "4.2", "4.4", "4.6", "5")
FREEBSD_RECOVERY = UnstatedAssumption(
    "the recovery of FreeBSD",
    {
        "duplicates send nothing more": {"tcp.recovery.go_back_n_on_duplicates": "false"},
        "the first window: 2 segments": {"tcp.window.initial": "2 segments"},
    },
    FREEBSD,
)
WINDOWS_RECOVERY = UnstatedAssumption(
    "the recovery of Windows 98",
    {
        "duplicates send more": {"tcp.recovery.go_back_n_on_duplicates": "true"},
        "partial ACKs send nothing new": {"tcp.newreno.partial_ack": "retransmission-only"},
        "the third duplicate": {"tcp.recovery.dupthresh": "3"},
        "the first window: 1 segment": {"tcp.window.initial": "1 segment"},
        "the first window: 4 segments": {"tcp.window.initial": "4 segments"},
    },
    "windows-98",
)
LINUX_RECOVERY = UnstatedAssumption(
    "the recovery of Linux 2.2",
    {
        "partial ACKs send nothing new": {"tcp.newreno.partial_ack": "retransmission-only"},
        "rate halving": {"tcp.recovery.reduction": "rate-halving"},
        "bursts of three": {"tcp.window.max_burst": "3 segments"},
        "no bugfix": {"tcp.recovery.bugfix": "none"},
        "the first window: 1 segment": {"tcp.window.initial": "1 segment"},
        "the first window: 4 segments": {"tcp.window.initial": "4 segments"},
        "the window halves": {"tcp.window.halves": "window"},
        "the end by ssthresh": {"tcp.window.full_ack": "ssthresh"},
    },
    "linux-2.2",
)

NT = "windows-nt"
DOWNLOAD = (
    UnstatedAssumption(
        "the rate",
        {
            "one slot, 13.4 kbit/s": {"link.gprs.rate": "13.4 kbit/s"},
            "20 kbit/s": {"link.gprs.rate": "20 kbit/s"},
            "two slots, 26.8 kbit/s": {"link.gprs.rate": "26.8 kbit/s"},
            "three slots, 40.2 kbit/s": {"link.gprs.rate": "40.2 kbit/s"},
        },
    ),
    UnstatedAssumption(
        "the window",
        {size: {"receiver.buffer": size} for size in ("4 KiB", "16 KiB", "32 KiB")},
    ),
    UnstatedAssumption("the segment", {size: {"tcp.mss": size} for size in ("256 B", "1460 B")}),
    UnstatedAssumption(
        "the overrun",
        {
            "none": {"tcp.window.overrun": "0"},
            "one segment": {"tcp.window.overrun": "1"},
        },
    ),
    UnstatedAssumption("ACKs", {"every segment": {"receiver.ack_every": "1"}}),
    timer_of("Windows 98", "windows-98", "3", "4", "5"),
    timer_of("Windows NT", NT, "3", "4", "5"),
    UnstatedAssumption("the fast retransmit of NT", {"third": {"tcp.recovery.dupthresh": "3"}}, NT),
)
"""Unstated assumptions about Figure 3's download."""
