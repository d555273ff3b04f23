"""Tables II and III: timeouts and round trips around the long hold."""

from math import floor

from rtolab.experiments.base import Bounds, Check, Value, Variant, fitted, from_paper, interpreted
from rtolab.experiments.dualrtt2004.figures import (
    FROM,
    HELD,
    HOLD_AT,
    HOLD_FOR,
    hold_experiment,
)
from rtolab.experiments.dualrtt2004.set_b import (
    CLOCK,
    SET_B,
)
from rtolab.experiments.explanation import demonstrated
from rtolab.experiments.measured import ExperimentRuns, derived
from rtolab.experiments.trace import Data, Trace

RENO = Variant("reno:careful", "Reno, careful bugfix")
LOW = Variant("reno:careful+dualrtt", "DualRTT", "tau 0.025", {"tcp.dualrtt.threshold": "0.025"})

EXACT = 1.0
"""How near ACKs are to the printed times, in ms: these have three digits."""

LAST = 52.704

START = (
    "6.84 ms for FullTCP's own ACK of the SYN-ACK were added to the start once these rows were "
    "found 6.5 ms early"
)

WITHOUT_BUGFIX = Variant("reno:no-bugfix", "Reno", "no bugfix")
"""An explanation: a run that has an ACK at 52.704 s."""

PAUSE = demonstrated(
    "after the hold's duplicates the careful sender's ACKs pause here until 53.69 s. The row "
    "belongs to a sender that has left slow start, as after the fast retransmit that the bugfix "
    "prevents",
    "rtolab reproduce dualrtt2004/table2",
    "the ACK is off by 984.9 ms, and by 0.3 ms without the bugfix",
)

TICK = 0.1
"""The clock of Tables II and III, in s."""

ROWS = {
    17.545: 4.6,
    30.840: 3.8,
    42.905: 15.2,
    43.004: 15.2,
    43.102: 15.2,
    43.791: 15.2,
    43.890: 15.2,
    43.988: 15.2,
    44.481: 15.2,
    44.579: 15.2,
    47.780: 4.0,
    52.704: 3.8,
}
"""Table II: when an ACK came and the timeout after it, in s."""

PRINTED_SERIALISATION = (44.579 - 42.905) / 17
"""How far apart the printed ACKs come, in s: from the first to the 18th of the resent window."""

SAMPLES = {17.545: 2.9, 30.840: 2.9, 47.780: 3.3, 52.704: 2.9}
"""Its round trips where one was measured, in s."""

NRTT = {1: 0.1, 2: 0.1, 9: 0.2, 10: 0.3, 11: 0.3, 16: 0.4, 17: 0.4}
"""Table III in s, by how many segments after the first held one: 43.004 is the second's ACK, and
44.579 the eighteenth's."""

ANOMALY = 13.9
"""Table III's NRTT of the first segment held, in s."""


def off(trace: Trace, at: float) -> float | None:
    """How long after a printed time the nearest ACK came, in ms."""
    acks = [ack.at - CLOCK - at for ack in trace.acks()]
    return 1000 * min(acks, key=abs) if acks else None


def rto_at(trace: Trace, at: float) -> float | None:
    """The timeout in force, on the paper's clock."""
    window = trace.window_at(at + CLOCK + EXACT / 1000)
    return None if window is None else float(window["rto_s"])


def last_sample(trace: Trace, at: float) -> float | None:
    """The last round trip that went into the smoothed one, with a gain of 1/8, in s."""
    windows = trace.windows_until(at + CLOCK + EXACT / 1000).drop_nulls("srtt_s")
    states = list(dict.fromkeys(windows.select("srtt_s", "rttvar_s").iter_rows()))
    if len(states) < 2:
        return None
    (before, _), (smoothed, _) = states[-2:]
    return round(float(before + 8 * (smoothed - before)), 6)


def table2_values(measured: ExperimentRuns) -> list[Value]:
    """The columns of Table II."""
    trace = measured.traces[RENO.key]
    rtos = [
        Value(f"rto_{at:g}", f"RTO at {at:.3f}", rto_at(trace, at), rto, "s", 1)
        for at, rto in ROWS.items()
    ]
    acks = [
        Value(f"off_{at:g}", f"ACK of {at:.3f}, off by", off(trace, at), 0, "ms", 1) for at in ROWS
    ]
    samples = [
        Value(f"rtt_{at:g}", f"RTT at {at:.3f}", last_sample(trace, at), rtt, "s", 1)
        for at, rtt in SAMPLES.items()
    ]
    without = off(measured.traces[WITHOUT_BUGFIX.key], LAST)
    other = Value("off_without", f"ACK of {LAST}, no bugfix, off by", without, 0, "ms", 1)
    return [*rtos, *acks, other, *samples]


def table2_checks() -> tuple[Check, ...]:
    """Karn's rule: two doublings stay until what was sent once is acknowledged."""
    near = TICK + 1e-9
    return from_paper(
        *(
            derived(f"RTO at {at:.3f}, s", "exact", {1: Bounds(rto, rto)}, of=f"rto_{at:g}")
            for at, rto in ROWS.items()
        ),
        *(_acked(at) for at in ROWS),
        *(
            derived(
                f"RTT at {at:.3f}, s",
                "shape",
                {1: Bounds(rtt - near, rtt + near)},
                of=f"rtt_{at:g}",
            )
            for at, rtt in SAMPLES.items()
        ),
        Check(
            "RTO after the hold / RTO before it",
            "exact",
            lambda m: _over(m.derived["rto_42.905"].measured, m.derived["rto_30.84"].measured),
            {1: Bounds(4, 4)},
        ),
    )


def _acked(at: float) -> Check:
    check = derived(
        f"ACK at {at:.3f}, measured - printed, ms",
        "exact",
        {1: Bounds(-EXACT, EXACT)},
        of=f"off_{at:g}",
        failure_cause=PAUSE if at == LAST else None,
    )
    # The arrival times of what the hold released do not depend on the start of the run.
    return fitted(START, check)[0] if at + CLOCK < HOLD_AT + HOLD_FOR else check


def _over(above: object, below: object) -> float | None:
    if isinstance(above, float) and isinstance(below, float) and below:
        return round(above / below, 9)
    return None


def sendings(trace: Trace, which: int) -> list[Data]:
    """All copies of the segment that is `which` segments after the first held one."""
    seq = 1 + (HELD[0] - FROM + which) * trace.mss
    copies = [data for data in trace.retransmitted(HOLD_AT) if data.seq == seq]
    first = trace.sent_first(seq)
    return [first, *copies] if first else copies


def nrtt(trace: Trace, which: int) -> float | None:
    """From the most recent retransmission of that segment to its ACK, in s."""
    acked = acked_at(trace, which)
    before = [data.at for data in sendings(trace, which) if acked and data.at < acked]
    return acked - before[-1] if acked and before else None


def acked_at(trace: Trace, which: int) -> float | None:
    """When the ACK of that segment came."""
    expired = trace.timeouts_from(HOLD_AT)
    end = 1 + (HELD[0] - FROM + which + 1) * trace.mss
    after = trace.acks_after(expired[-1]) if expired else []
    return next((ack.at for ack in after if ack.ack >= end), None)


def in_ticks(seconds: float | None) -> float | None:
    """As ns-2 counts a round trip: whole ticks, one at least."""
    # Times are whole nanoseconds, as floating-point seconds.
    return None if seconds is None else round(max(1, floor(seconds / TICK + 1e-6)) * TICK, 9)


def min_rtt(trace: Trace) -> float | None:
    """The first round trip that the sender measured, its SYN's, in s: no packet is smaller."""
    smoothed = trace.windows_until(HOLD_AT).drop_nulls("srtt_s")
    return float(smoothed["srtt_s"][0]) if smoothed.height else None


def serialisation(trace: Trace) -> float | None:
    """The time between the ACKs of the second and the third segment held, in s."""
    first, second = acked_at(trace, 1), acked_at(trace, 2)
    return None if first is None or second is None else second - first


def table3_values(measured: ExperimentRuns) -> list[Value]:
    """NRTT by row; of the first row also what the paper seems to have measured."""
    trace = measured.traces[LOW.key]
    first = sendings(trace, 0)
    acked = acked_at(trace, 0)
    original = acked - first[0].at if acked and first else None
    said, since = "NRTT of 131, from its last retransmission", "NRTT of 131, from its original"
    rows = [
        Value(
            f"nrtt_{which}",
            f"NRTT of {HELD[0] + which}",
            in_ticks(nrtt(trace, which)),
            printed,
            "s",
            1,
        )
        for which, printed in NRTT.items()
    ]
    return [
        Value("nrtt_0", said, in_ticks(nrtt(trace, 0)), ANOMALY, "s", 1),
        Value("nrtt_original", since, in_ticks(original), ANOMALY, "s", 1),
        *rows,
        Value("exact", "NRTT of 132, without the clock's ticks", nrtt(trace, 1), None, "s", 4),
        Value(
            "serialisation",
            "From ACK to ACK of the resent window",
            serialisation(trace),
            PRINTED_SERIALISATION,
            "s",
            4,
        ),
        Value("min_rtt", "MinRTT", in_ticks(min_rtt(trace)), 2.8, "s", 1),
    ]


def table3_checks() -> tuple[Check, ...]:
    """Checks of the column NRTT."""
    rows = tuple(
        derived(f"NRTT of {HELD[0] + which}, s", "exact", {1: Bounds(v, v)}, of=f"nrtt_{which}")
        for which, v in NRTT.items()
    )
    return from_paper(
        derived(
            "NRTT of 131 as defined, s",
            "exact",
            {1: Bounds(ANOMALY, ANOMALY)},
            of="nrtt_0",
            not_reproducible=demonstrated(
                "IV-B defines NRTT from the most recent retransmission; the printed 13.9 s are the "
                "time since the original",
                "rtolab reproduce dualrtt2004/table3",
                "NRTT of 131 is 0.6 s from its last retransmission, 13.9 s from its original",
            ),
        ),
        derived(
            "NRTT of 131 from its original, s",
            "exact",
            {1: Bounds(ANOMALY, ANOMALY)},
            of="nrtt_original",
        ),
        *rows,
        derived(
            "from ACK to ACK of the resent window, s",
            "exact",
            {1: Bounds(PRINTED_SERIALISATION - 1e-4, PRINTED_SERIALISATION + 1e-4)},
            of="serialisation",
        ),
        derived("MinRTT, s", "exact", {1: Bounds(2.8, 2.8)}, of="min_rtt"),
    )


ROUND_TRIPS = (
    hold_experiment(
        id="dualrtt2004/table2",
        title="Timeout and round trip around the hold",
        source="DualRTT, Table II",
        says=(
            "RTO falls from 4.6 to 3.8 s before the hold, is doubled twice to 15.2 s, and stays "
            "there until a segment that was sent once is acknowledged at 47.78: 4.0 s with a round "
            "trip of 3.3 s, then 3.8 s again."
        ),
        did=(
            "Figure 3's run, at the printed 46.8 kbit/s and with FullTCP's handshake. The "
            "timeouts are those after the ACKs of the printed times, the ACKs those nearest to "
            "them; a round trip is computed from two smoothed ones."
        ),
        variants=(RENO, WITHOUT_BUGFIX),
        derive=table2_values,
        checks=table2_checks(),
    ),
    hold_experiment(
        id="dualrtt2004/table3",
        title="NRTT around the hold",
        source="DualRTT, Table III",
        says=(
            "MinRTT is 2.8 s. NRTT, from the most recent retransmission to the ACK, is 13.9 s for "
            "131, 0.1 s for 132, and grows to 0.4 s as the resent window goes on."
        ),
        did=(
            "The run with a threshold of 0.025, which does not detect: only this run has NRTTs of "
            "the whole window. In whole ticks of 0.1 s, one at least, as ns-2 counts."
        ),
        variants=(LOW,),
        derive=table3_values,
        checks=table3_checks(),
        assumptions=(
            *SET_B,
            interpreted(
                "the run of Table III", "one that uses go-back-N", "its NRTTs go on to 44.6 s"
            ),
        ),
    ),
)
"""The experiments on the sender's measurements."""
