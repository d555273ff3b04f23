"""The report's claims on segment sizes, timestamps, limited transmit and applications."""

from rtolab.experiments.base import (
    LOST,
    REXMITS,
    TIME,
    TIMEOUTS,
    UNNEEDED,
    Bounds,
    Check,
    Experiment,
    Metric,
    Variant,
    assumed,
    column,
    fitted,
    from_paper,
    interpreted,
    our_own,
)
from rtolab.experiments.frto2002.set_r import DELAYS, SET_R
from rtolab.experiments.frto2002.tables import RECOVERIES
from rtolab.experiments.measured import ALL_COMPLETE, ExperimentRuns, ratio
from rtolab.measures import average_task_completion_time

MANY = 300
WITHOUT = "without limited transmit"
OFF = {"tcp.recovery.limited_transmit": "false"}
GAIN = "a bound of 0.95 with delays: the first one, 1.05, passed without F-RTO, too"

PLACES = {
    "frto2002-delays": "sudden delays",
    "frto2002-loss": "packet losses",
    "frto2002-outages": "bursty losses",
}
SIZES = (256, 536, 1000, 1460)
"""Payloads of a segment, in bytes: the report's, and usual ones."""

LATE, LOSSY = PLACES["frto2002-delays"], PLACES["frto2002-loss"]
SEGMENTS = Metric("segments", "Segments sent", "", column("segments"))


def at(scenario: str) -> str:
    """The condition of a scenario's variants."""
    return f"{PLACES[scenario]}, {WITHOUT}"


def without_limited_transmit() -> Experiment:
    """Section 4: F-RTO requires neither SACK nor limited transmit."""
    variants = tuple(
        Variant(f"{base}{suffix}", f"{name} w/ {recovery}", at(scenario), OFF, scenario)
        for scenario in PLACES
        for base, recovery in RECOVERIES.items()
        for suffix, name in (("", "Regular"), ("+frto", "F-RTO"))
    )
    checks: list[Check] = []
    for scenario, place in PLACES.items():
        for base, recovery in RECOVERIES.items():
            pair = (f"{base}+frto @ {at(scenario)}", f"{base} @ {at(scenario)}")
            said = f"F-RTO / Regular, {recovery}, {place}"
            if scenario == "frto2002-delays":
                gain = ratio(f"time, {said}", TIME, pair, {MANY: Bounds(high=0.95)})
                fewer = {MANY: Bounds(high=0.5)}
                checks += fitted(GAIN, gain)
                checks.append(ratio(f"rexmits, {said}", REXMITS, pair, fewer))
            else:
                checks.append(ratio(f"time, {said}", TIME, pair, {MANY: Bounds(high=1.05)}))
    return Experiment(
        id="frto2002/no-limited-transmit",
        title="F-RTO without limited transmit",
        source="report C-2002-07, section 4",
        says="The F-RTO algorithm requires neither SACK nor limited transmit.",
        did="Tables 1 to 3 with limited transmit off, with SACK and with NewReno.",
        variants=variants,
        metrics=(TIME, LOST, REXMITS, UNNEEDED),
        checks=(*from_paper(*checks), ALL_COMPLETE),
        assumptions=(
            *(a for a in SET_R if a.name != "tcp.recovery.limited_transmit"),
            interpreted("what disturbs the link", "as in Tables 1 to 3", "sections 5.1 and 5.2"),
        ),
    )


def in_segments(sender: str, label: str, size: int, scenario: str) -> Variant:
    """A sender with that segment size."""
    change = {"tcp.mss": f"{size} B"}
    return Variant(sender, label, f"{size} B, {PLACES[scenario]}", change, scenario)


def overhead(size: int) -> Check:
    """Packets that timestamps add to a transfer, retransmissions aside."""

    def first_copies(measured: ExperimentRuns, sender: str) -> float | None:
        key = f"{sender} @ {size} B, {LOSSY}"
        both = measured.median(key, SEGMENTS), measured.median(key, REXMITS)
        return None if None in both else both[0] - both[1]  # type: ignore[operator]

    def measure(measured: ExperimentRuns) -> float | None:
        plain, stamped = (first_copies(measured, sender) for sender in ("sack", "sack+eifel"))
        return 100 * (stamped / plain - 1) if plain and stamped else None

    bounds = Bounds(3.5, 6) if size == SIZES[0] else Bounds(high=3)
    return Check(f"packets that timestamps add, %, {size} B", "ratio", measure, {1: bounds})


def segment_sizes() -> Experiment:
    """Sections 5.1 and 5.2: the size of segments."""
    variants, order = [], []
    for size in SIZES:
        variants += [
            in_segments("sack", "Regular SACK", size, "frto2002-delays"),
            in_segments("sack+frto", "F-RTO w/ SACK", size, "frto2002-delays"),
            in_segments("sack", "Regular SACK", size, "frto2002-loss"),
            in_segments("sack+eifel", "Eifel w/ SACK", size, "frto2002-loss"),
        ]
        pair = (f"sack+frto @ {size} B, {LATE}", f"sack @ {size} B, {LATE}")
        faster = {MANY: Bounds(high=1)}
        order.append(ratio(f"time, F-RTO / Regular, {LATE}, {size} B", TIME, pair, faster))
        order.append(ratio(f"rexmits, F-RTO / Regular, {LATE}, {size} B", REXMITS, pair, faster))

    return Experiment(
        id="frto2002/segment-size",
        title="Larger segments",
        source="report C-2002-07, sections 5.1 and 5.2",
        says=(
            "Timestamps add about 4 % of packets with segments of 256 B; with larger ones they "
            "would add less. (Small segments serve interactive traffic on slow links, which these "
            "tests lack.)"
        ),
        did=(
            "Table 1 with the regular recovery and F-RTO, and Table 2 with Eifel, with segments of "
            "256, 536, 1000 and 1460 bytes."
        ),
        variants=tuple(variants),
        metrics=(TIME, LOST, REXMITS, SEGMENTS, TIMEOUTS),
        checks=(*from_paper(*map(overhead, SIZES)), *our_own(*order), ALL_COMPLETE),
        assumptions=(
            *(
                a
                for a in SET_R
                if a.name
                not in {"tcp.mss", "link.wireless.send_buffer", "link.wireless.receive_buffer"}
            ),
            *(
                assumed(f"link.wireless.{which}_buffer", "6 packets", "as many as 1776 B hold")
                for which in ("send", "receive")
            ),
            interpreted("what disturbs the link", "as in Tables 1 and 2", "sections 5.1 and 5.2"),
        ),
        note=(
            "the larger the segments, the longer the round trip and the timeout: with 1460 B half "
            "of the transfers have no timeout, and F-RTO nothing to decide"
        ),
    )


ATCT = Metric(
    "atct",
    "Mean time of a page",
    "s",
    lambda runs: average_task_completion_time(runs)["atct_s"],
    digits=2,
)


def applications() -> Experiment:
    """Section 6: traffic of applications."""
    senders = (
        Variant("sack", "Regular SACK"),
        Variant("sack+frto", "F-RTO w/ SACK"),
        Variant("sack+eifel", "Eifel w/ SACK"),
        Variant("newreno", "Regular NewReno"),
        Variant("newreno+frto", "F-RTO w/ NewReno"),
    )
    return Experiment(
        id="frto2002/applications",
        title="Pages of a browser over F-RTO",
        source="report C-2002-07, section 6",
        says=(
            "F-RTO's performance where commonly used applications generate the traffic is future "
            "work."
        ),
        did=(
            "Table 1's link and delays with pages of 10 KB, one every 20 s on one connection. In "
            "such short transfers the sender often has no new data to send after a timeout, and "
            "F-RTO then cannot decide."
        ),
        scenario="frto2002-pages",
        variants=senders,
        metrics=(ATCT, REXMITS, UNNEEDED),
        checks=our_own(
            *(
                ratio(
                    f"mean time of a page, F-RTO / Regular, {recovery}",
                    ATCT,
                    (f"{base}+frto", base),
                    {MANY: Bounds(high=1.02)},
                )
                for base, recovery in RECOVERIES.items()
            ),
            *(
                ratio(
                    f"rexmits, F-RTO / Regular, {recovery}",
                    REXMITS,
                    (f"{base}+frto", base),
                    {MANY: Bounds(high=1)},
                )
                for base, recovery in RECOVERIES.items()
            ),
        ),
        assumptions=(
            *(a for a in SET_R if not a.name.startswith("flow.")),
            *DELAYS,
            interpreted("pages", "20 of 10 KB, one every 20 s", "not stated"),
        ),
        ours=True,
    )


EXTENT = (without_limited_transmit(), segment_sizes(), applications())
"""The experiments, in the order of the report."""
