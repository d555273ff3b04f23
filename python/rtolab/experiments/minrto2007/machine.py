"""Section 3: the mechanism's two states and six steps, on packets."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from rtolab.experiments.base import (
    TIMEOUTS,
    Bounds,
    Check,
    Experiment,
    Value,
    assumed,
    from_paper,
    interpreted,
    our_own,
)
from rtolab.experiments.measured import ALL_COMPLETE, ExperimentRuns
from rtolab.experiments.minrto2007.network import QUIET, ROUND_TRIP
from rtolab.experiments.minrto2007.setup import HOSTS, MECHANISM, PAPER
from rtolab.experiments.minrto2007.steps import Train, disagreements, observed, trains

SMOOTH = (
    *HOSTS,
    *QUIET,
    *ROUND_TRIP,
    assumed("receiver.buffer", "100 kB", "ns-2's window of 100 packets or so"),
    assumed(
        "flow.web.pages",
        '{ bytes = "2000 kB", every = "1 s", count = 1 }',
        "as many packets as Figure 4 shows, and more",
    ),
    assumed("duration", "60 s", "long enough"),
)
"""One long transfer without loss over a round trip of 42 ms."""


def followed(measured: ExperimentRuns) -> list[Train]:
    """The mechanism's trains."""
    return trains(measured.of[MECHANISM.key])


def exactly(name: str, value: float, count: Callable[[ExperimentRuns], float | None]) -> Check:
    """A count of the mechanism's trace."""
    return Check(name, "exact", count, {1: Bounds(value, value)})


def at_odds(measured: ExperimentRuns) -> float:
    """Packets whose timeout differs from that of the steps."""
    return disagreements(measured.of[MECHANISM.key])


def seen(measured: ExperimentRuns) -> float:
    """Packets that the timer ran for."""
    return len(observed(measured.of[MECHANISM.key]))


def steps_seen(measured: ExperimentRuns) -> list[Value]:
    """How often each step was taken, and how many timeouts were looked at."""
    counts = Counter(train.step for train in followed(measured))
    names = {2: "D even, state 1", 3: "D odd, to state 2", 4: "D even, state 2", 5: "D odd, back"}
    steps = [
        Value(f"step {step}", f"Step {step}: {name}", counts[step], digits=0)
        for step, name in names.items()
    ]
    return [*steps, Value("timeouts seen", "Packets timed", seen(measured), digits=0)]


def rarest(measured: ExperimentRuns) -> float:
    """How often the rarest of steps 2 to 5 was taken."""
    counts = Counter(train.step for train in followed(measured))
    return min(counts[step] for step in (2, 3, 4, 5))


FIG3 = Experiment(
    id="minrto2007/fig3",
    title="The two states and six steps of the mechanism",
    source=f"{PAPER}, section 3 and Figure 3",
    says=(
        "An odd number of packets sent back to back switches to the state in which the last "
        "packet of each train gets the extended floor, or back; an even number changes nothing. "
        "The first packet of slow start has it, too."
    ),
    did=(
        "We implemented the steps apart from the sender and applied them to its packet trace. "
        "Then we compared the timeout in force at each ACK with what the steps say of the oldest "
        "outstanding packet. Slow start sends three packets at once, congestion avoidance two and "
        "sometimes three."
    ),
    scenario="minrto2007-b",
    variants=(MECHANISM,),
    metrics=(TIMEOUTS,),
    derive=steps_seen,
    checks=(
        *from_paper(
            exactly("packets whose timeout is not what the steps say", 0, at_odds),
            exactly("timeouts", 0, lambda measured: measured.median(MECHANISM.key, TIMEOUTS)),
        ),
        *our_own(
            Check(
                "how often the rarest of steps 2 to 5 was taken",
                "count",
                rarest,
                {1: Bounds(low=2)},
            ),
            Check("packets timed", "count", seen, {1: Bounds(low=500)}),
        ),
        ALL_COMPLETE,
    ),
    assumptions=(
        *(a for a in SMOOTH if a.name != "tcp.rto.sample_handshake"),
        assumed("tcp.window.initial_ssthresh", "30 segments", "slow start, then avoidance"),
        assumed("tcp.rto.sample_handshake", "true", "so that step 1's packet is seen, too"),
        interpreted("D", "packets sent at one instant", "3: back to back, on one ACK"),
    ),
    shown=(0.0, 1.0),
)


def around_three(measured: ExperimentRuns) -> list[Train]:
    """Five trains before the first of three packets after slow start, that one, five after it."""
    every = followed(measured)
    steady = next((i for i in range(len(every)) if _twos(every[i : i + 5])), len(every))
    three = next((i for i in range(steady, len(every)) if len(every[i].seqs) == 3), None)
    return [] if three is None else every[three - 5 : three + 6]


def _twos(some: list[Train]) -> bool:
    return len(some) == 5 and all(len(train.seqs) == 2 for train in some)


def lengths(measured: ExperimentRuns) -> float | None:
    """1 if these are trains of two, one of three in state 1, and trains of two."""
    some = around_three(measured)
    if len(some) != 11:
        return None
    twos = _twos(some[:5]) and _twos(some[6:])
    return float(twos and some[4].state == 1)


def as_printed(measured: ExperimentRuns) -> float:
    """Packets of those trains whose timeout is not as Figure 4 draws it."""
    some = around_three(measured)
    drawn = {train.seqs[-1] for train in some[5:]}
    timed = observed(measured.of[MECHANISM.key])
    here = {seq for train in some for seq in train.seqs}
    return sum((seq in drawn) != timed[seq] for seq in here if seq in timed)


def timed_here(measured: ExperimentRuns) -> float:
    """How many packets of those trains the timer ran for."""
    timed = observed(measured.of[MECHANISM.key])
    return sum(seq in timed for train in around_three(measured) for seq in train.seqs)


def first_extended(measured: ExperimentRuns) -> list[Value]:
    """The number of that packet here; in the paper's run it is 1480."""
    some = around_three(measured)
    last = some[5].seqs[-1] if some else None
    number = None if last is None else (last - 1) // 1000
    return [Value("packet", "The first packet with the extended floor", number, digits=0)]


FIG4 = replace(
    FIG3,
    id="minrto2007/fig4",
    title="Twos, a three, and twos again",
    source=f"{PAPER}, section 3 and Figure 4",
    says=(
        "Until packet 1478 pairs leave, and none has a floor. Then the window grows and three "
        "leave: the third has the extended floor, and from then on the last one of each pair."
    ),
    did=(
        "The same in congestion avoidance. Which packet begins it depends on the window; the "
        "trains around the first train of three in state 1 are compared with the figure."
    ),
    derive=first_extended,
    checks=(
        *from_paper(exactly("packets whose timeout is not as drawn", 0, as_printed)),
        *our_own(
            exactly("twos in state 1, then a three, then twos", 1, lengths),
            Check("packets timed there", "count", timed_here, {1: Bounds(low=8)}),
        ),
        ALL_COMPLETE,
    ),
    assumptions=(
        *SMOOTH,
        assumed("tcp.window.initial_ssthresh", "20 segments", "so that avoidance is seen early"),
    ),
    shown=(0.3, 0.7),
)

MACHINE = (FIG3, FIG4)
"""The experiments, in the order of the paper."""
