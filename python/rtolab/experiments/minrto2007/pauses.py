"""Section 5.1: a packet that the application leaves alone, servers' floors, and clients' delays."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from rtolab.experiments.base import (
    TIMEOUTS,
    Basis,
    Bounds,
    Check,
    Experiment,
    Mark,
    Metric,
    Value,
    Variant,
    assumed,
    from_paper,
    our_own,
)
from rtolab.experiments.measured import ALL_COMPLETE, ExperimentRuns, median
from rtolab.experiments.minrto2007.network import ALONE, ROUND_TRIP
from rtolab.experiments.minrto2007.setup import (
    HOSTS,
    LINUX,
    LINUX_AS_IT_IS,
    MECHANISM,
    NO_FLOOR,
    PAPER,
    RESYNC,
    SPURIOUS,
    among,
)

LONE = 601
"""The packet that Figure 6 retransmits; counted from 1."""

RTPD_S, DELAYED_ACK_S, R_S = 0.042, 0.2, 0.5
"""Section 5.1's round trip, the client's timer, and the mechanism's floor."""

SERIAL_S = 0.001
"""Times may exceed the propagation delay by this, in s: the transmission at 100 Mbit/s."""

FOREGROUND = (*HOSTS, *ROUND_TRIP, *ALONE)

lone_packet_experiment = partial(
    Experiment, scenario="minrto2007-b", assumptions=FOREGROUND, shown=(12.4, 13.2)
)
"""An experiment about the fate of packet 601."""


def lone_timeout(measured: ExperimentRuns, variant: Variant) -> dict[str, float] | None:
    """The first timeout of a variant: which packet (from 1), and when its ACK came (s later)."""
    trace = measured.traces[variant.key]
    timeouts = trace.timeouts_from(0.0)
    if not timeouts:
        return None
    first = timeouts[0]
    acks = trace.acks_after(first)
    packet = (first.seq - 1) // trace.mss + 1
    return {"packet": packet, "at": first.at, "ack": acks[0].at - first.at} if acks else None


def exactly(name: str, variant: Variant, metric: Metric, value: float) -> Check:
    """A count of a variant's run."""
    bounds = {1: Bounds(value, value)}
    return median(f"{name}: {variant.title}", "exact", (variant.key, metric), bounds)


def repeated(check: Check) -> Check:
    """A run of Figure 6 beside others: the paper's claim about it is judged there."""
    return replace(check, note="the run of Figure 6, which is judged there", basis="ours")


def of_lone(name: str, variant: Variant, part: str, bounds: Bounds) -> Check:
    """The values of the first timeout."""

    def measure(measured: ExperimentRuns) -> float | None:
        found = lone_timeout(measured, variant)
        return None if found is None else found[part]

    return Check(f"{name}: {variant.title}", "exact", measure, {1: bounds})


WIDE = among(LINUX, "a window of 100", {"receiver.buffer": "100 kB"})
"""The packet before the lone one is acknowledged after the lone one left: the timer starts anew."""

FIG6A = lone_packet_experiment(
    id="minrto2007/fig6a",
    title="A Linux server and a client that delays ACKs by 200 ms",
    source=f"{PAPER}, section 5.1 and Figure 6(a)",
    says=(
        "Over a round trip of 42 ms the server, whose floor is 200 ms, times out spuriously and "
        "retransmits packet 601; the ACK comes 42 ms later."
    ),
    did=(
        "601 packets without loss, the last of which leaves alone, because the application has no "
        "more. For comparison the same in a wide window, where the last ACK restarts the timer "
        "after packet 601 left, and the real Linux, whose floor is on the variance."
    ),
    variants=(LINUX, WIDE, LINUX_AS_IT_IS),
    metrics=(TIMEOUTS, SPURIOUS),
    checks=(
        *from_paper(
            exactly("spurious timeouts", LINUX, SPURIOUS, 1),
            of_lone("packet retransmitted", LINUX, "packet", Bounds(LONE, LONE)),
            of_lone("ACK after the timeout, s", LINUX, "ack", Bounds(RTPD_S, RTPD_S + SERIAL_S)),
        ),
        *our_own(exactly("spurious timeouts", LINUX_AS_IT_IS, SPURIOUS, 0)),
        ALL_COMPLETE,
    ),
    marks=(
        Mark(12.72, "packet 601 leaves alone"),
        Mark(12.92, "timeout after 200 ms"),
        Mark(12.962, "its ACK, 42 ms later"),
    ),
    note=(
        "real Linux adds its 200 ms to SRTT and waits 242 ms: it would not have timed out; in a "
        "wide window the timer starts a round trip later, and the ACK comes right after it"
    ),
)

FIG6B = lone_packet_experiment(
    id="minrto2007/fig6b",
    title="The modified server and the same client",
    source=f"{PAPER}, section 5.1 and Figure 6(b)",
    says="The mechanism waits long enough for the lone packet: nothing is retransmitted.",
    did="The same 601 packets, with a floor of 500 ms where an ACK may be delayed.",
    variants=(MECHANISM, RESYNC, NO_FLOOR),
    metrics=(TIMEOUTS, SPURIOUS),
    checks=(
        *from_paper(exactly("timeouts", MECHANISM, TIMEOUTS, 0)),
        *our_own(
            exactly("timeouts", RESYNC, TIMEOUTS, 0),
            exactly("spurious timeouts", NO_FLOOR, SPURIOUS, 1),
        ),
        ALL_COMPLETE,
    ),
    note="the control, a server without any floor, shows that there was something to avoid",
)

FLOORS_MS = (150, 200, 220, 235, 241, 243, 250, 300, 400, 1000)
"""Floors around 42 + 200 ms, in ms."""

ROUND_TRIPS_MS = (100, 200, 280, 298, 302, 320, 340)
"""Round trips around 500 - 200 ms, in ms; equation 7 holds for each."""


def with_floor(floor_ms: int) -> Variant:
    """A server with that floor."""
    return Variant(
        LINUX.sender, "Server", f"floor {floor_ms} ms", {"tcp.rto.min": f"{floor_ms} ms"}
    )


def over(round_trip_ms: int) -> Variant:
    """The mechanism over that round trip."""
    others_ms = 4 + 14
    return among(
        MECHANISM,
        f"{round_trip_ms} ms",
        {
            "link.backbone.delay": f"{(round_trip_ms - others_ms) / 2:g} ms",
            "duration": "400 s",
        },
    )


LINUX_MS = 200
BY_FLOOR = tuple((with_floor(ms), ms / 1000 < RTPD_S + DELAYED_ACK_S) for ms in FLOORS_MS)
BY_ROUND_TRIP = tuple((over(ms), ms / 1000 + DELAYED_ACK_S > R_S) for ms in ROUND_TRIPS_MS)
"""The variants, each with the prediction of equation 6."""

EQ6 = lone_packet_experiment(
    id="minrto2007/eq6",
    title="When a delayed ACK makes the timer expire: the floor",
    source=f"{PAPER}, equation 6",
    says=(
        "A delayed ACK causes a spurious timeout whenever the server's floor is below the round "
        "trip and the client's delayed-ACK timer together; R = 500 ms is enough up to a round "
        "trip of 300 ms."
    ),
    did=(
        "The lone packet of Figure 6 with floors around 242 ms, and the mechanism over round trips "
        "around 300 ms: is there a timeout exactly where the equation says so?"
    ),
    variants=tuple(variant for variant, _ in (*BY_FLOOR, *BY_ROUND_TRIP)),
    metrics=(SPURIOUS,),
    checks=(
        *from_paper(
            *(
                exactly("spurious timeouts", variant, SPURIOUS, float(expires))
                for variant, expires in (*BY_FLOOR, *BY_ROUND_TRIP)
                if variant != with_floor(LINUX_MS)
            )
        ),
        repeated(exactly("spurious timeouts", with_floor(LINUX_MS), SPURIOUS, 1)),
        ALL_COMPLETE,
    ),
)

COARSE = among(
    LINUX,
    "clock 500 ms",
    {"tcp.rto.granularity": "500 ms", "tcp.timestamp.tick": "500 ms"},
)

EQ7 = lone_packet_experiment(
    id="minrto2007/eq7",
    title="When a delayed ACK makes the timer expire: the timeout itself",
    source=f"{PAPER}, equation 7",
    says="Equation 6 applies only if the floor is above what the timeout would be without it.",
    did=(
        "Figure 6(a) with a clock of 10 ms, where the timeout is below the floor, and of 500 ms, "
        "where it is above; and without any floor, where it is above, too."
    ),
    variants=(LINUX, COARSE, NO_FLOOR),
    metrics=(SPURIOUS,),
    checks=(
        *from_paper(exactly("spurious timeouts", COARSE, SPURIOUS, 0)),
        repeated(exactly("spurious timeouts", LINUX, SPURIOUS, 1)),
        *our_own(exactly("spurious timeouts", NO_FLOOR, SPURIOUS, 1)),
        ALL_COMPLETE,
    ),
    note=(
        "the two equations are enough for a spurious timeout, but equation 7 is not needed: "
        "without a floor the timer expires sooner still"
    ),
)

SERVERS = (
    (LINUX, 0.2),
    (LINUX_AS_IT_IS, None),
    (Variant("solaris-2007", "Solaris"), 0.4),
    (Variant("windows-2007", "Windows"), 1.0),
    (MECHANISM, None),
)
"""Servers, each with the floor in s that equation 6 needs; with `None` no timeout is expected."""

WINDOWS_CLIENT = "Windows client, 200 ms"
CLIENTS = (
    ("Solaris client, 50 ms", {"receiver.delayed_ack": "50 ms"}, 0.05),
    ("Solaris client, 100 ms", {"receiver.delayed_ack": "100 ms"}, 0.1),
    (WINDOWS_CLIENT, {"receiver.delayed_ack": "200 ms"}, 0.2),
    ("Linux client", {"receiver.ack_delay": "adaptive"}, None),
)
"""Table 1's clients; Linux adapts its delay, so equation 6 has no number for it."""


def pair(server: Variant, client: str, change: dict[str, str]) -> Variant:
    """A server and a client, in a window in which the profiles differ by their floors only."""
    return among(server, client, change)


MATRIX = tuple(
    (
        server,
        pair(server, client, change),
        floor is not None and delay is not None and floor < RTPD_S + delay,
        delay is not None,
    )
    for server, floor in SERVERS
    for client, change, delay in CLIENTS
)
"""Each server with each client: do they conflict by equation 6, and has it a number for them?"""


def conflicts(servers: Iterable[Variant], basis: Basis) -> list[Check]:
    """These servers time out spuriously exactly where equation 6 says so."""
    wanted = set(map(id, servers))
    found = []
    for server, variant, expires, judged in MATRIX:
        if judged and id(server) in wanted:
            check = exactly("spurious timeouts", variant, SPURIOUS, float(expires))
            in_figure_6 = server in (LINUX, MECHANISM) and WINDOWS_CLIENT in variant.condition
            found.append(repeated(check) if in_figure_6 else replace(check, basis=basis))
    return found


def cells(measured: ExperimentRuns) -> list[Value]:
    """The matrix: a delayed ACK's timeouts by server and client."""
    return [
        Value(
            variant.key,
            f"Spurious timeouts: {variant.title}",
            measured.median(variant.key, SPURIOUS),
            float(expires) if judged else None,
            digits=0,
        )
        for _, variant, expires, judged in MATRIX
    ]


SECTION_51 = lone_packet_experiment(
    id="minrto2007/section-5.1",
    title="Servers and clients of different systems",
    source=f"{PAPER}, section 5.1 and Table 1",
    says=(
        "Systems chose their floors and their delayed-ACK timers on their own, and a server of "
        "one may time out spuriously with a client of another, as Linux does with Windows."
    ),
    did=(
        "Figure 6's lone packet between each server and each client of Table 1. Equation 6's "
        "answer is shown as the published value."
    ),
    variants=tuple(variant for _, variant, _, _ in MATRIX),
    metrics=(SPURIOUS,),
    derive=cells,
    checks=(
        *conflicts((server for server, _ in SERVERS if server is not LINUX_AS_IT_IS), "paper"),
        *conflicts([LINUX_AS_IT_IS], "ours"),
        ALL_COMPLETE,
    ),
    note="only one pair of the matrix conflicts, the one that the paper shows",
)

ODD_PAGES = '{ bytes = "601 kB", every = "30 s", count = 4 }'

GAP = lone_packet_experiment(
    id="minrto2007/gap",
    title="An ACK by the receiver's timer makes the parity wrong",
    source="our finding; the paper does not have it",
    says=(
        "Nothing: the steps count the packets sent as if every second one were acknowledged for "
        "ever."
    ),
    did=(
        "Four pages of 601 packets. The receiver acknowledges the last of each by its timer, and "
        "counts from there; the paper's sender goes on with the parity it had, and takes the next "
        "page's lone packet for the second of a pair. With `resync` the parity is that of what is "
        "outstanding."
    ),
    variants=(MECHANISM, RESYNC),
    metrics=(TIMEOUTS, SPURIOUS),
    checks=(
        median(
            "spurious timeouts with the paper's parity",
            "count",
            (MECHANISM.key, SPURIOUS),
            {1: Bounds(low=1)},
        ),
        exactly("timeouts", RESYNC, TIMEOUTS, 0),
        ALL_COMPLETE,
    ),
    assumptions=(
        *HOSTS,
        *ROUND_TRIP,
        *(a for a in ALONE if a.name not in {"flow.web.pages", "duration"}),
        assumed("flow.web.pages", ODD_PAGES, "pages of an odd number of packets"),
        assumed("duration", "160 s", "long enough"),
    ),
    shown=(42.4, 43.2),
    ours=True,
)

PAUSES = (FIG6A, FIG6B, EQ6, EQ7, SECTION_51, GAP)
"""The experiments, in the order of the paper."""
