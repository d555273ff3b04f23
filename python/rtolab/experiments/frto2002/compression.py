"""Section 2: header compression and timestamps."""

import polars as pl

from rtolab.experiments.base import (
    REXMITS,
    TIME,
    TIMEOUTS,
    UNNEEDED,
    Bounds,
    Check,
    Experiment,
    Metric,
    Variant,
    from_paper,
    interpreted,
    our_own,
)
from rtolab.experiments.explanation import Explanation, demonstrated
from rtolab.experiments.frto2002.set_r import SET_R
from rtolab.experiments.frto2002.tables import VARIANTS
from rtolab.experiments.measured import ALL_COMPLETE, ExperimentRuns, Runs, ratio

MANY = 100
SAME_TICK = demonstrated(
    "an ACK releases two segments in one tick of the clock, and the second has the timestamps of "
    "the first: only the first one's header is sent in full",
    "rtolab reproduce frto2002/header-compression --runs 10 --assume receiver.ack_every=1",
    "if an ACK releases one segment, both checks pass: 286.7 B instead of 294.7 B a packet with "
    "SACK, 287.3 B instead of 294.7 B with NewReno",
)
KINDS = {"none": "no compression", "rfc1144": "RFC 1144", "rfc2507": "RFC 2507"}
PLACES = {"frto2002-delays": "sudden delays", "frto2002-loss": "packet losses"}
LATE, LOSSY = PLACES.values()


def bytes_per_packet(runs: Runs) -> pl.Series:
    """Bytes that the wireless link sent towards the receiver, per packet, by run."""
    data = (pl.col("link") == "wireless") & (pl.col("direction") == "forward")
    links = runs.links.filter(data)
    return links["transmitted_bytes"] / links["transmissions"]


DAMAGED = Metric(
    "damaged",
    "Wrong headers",
    "",
    lambda runs: runs.connections["lost_corrupt"].cast(pl.Float64),
)
ON_LINK = Metric("on_link", "A data packet", "B", bytes_per_packet, digits=1)


def condition(kind: str, place: str) -> str:
    """The condition of the variants with that compression."""
    return f"{KINDS[kind]}, {place}"


def pair(sender: str, kind: str, place: str) -> tuple[str, str]:
    """A sender with a compression, and without one."""
    with_, without = (f"{sender} @ {condition(one, place)}" for one in (kind, "none"))
    return with_, without


def saves(
    sender: str, kind: str, bounds: Bounds, failure_cause: Explanation | None = None
) -> Check:
    """Bytes per data packet with a compression over those without."""

    def measure(measured: ExperimentRuns) -> float | None:
        above, below = (measured.median(key, ON_LINK) for key in pair(sender, kind, LATE))
        return above / below if above and below else None

    name = f"bytes a packet, {KINDS[kind]} / none, {sender}"
    return Check(name, "ratio", measure, {1: bounds}, failure_cause=failure_cause)


def header_compression() -> Experiment:
    """Section 2's objection to timestamps, and what a loss does to compressed headers."""
    variants = tuple(
        Variant(
            one.sender,
            one.label,
            condition(kind, place),
            {"link.wireless.header_compression": kind},
            scenario,
        )
        for scenario, place in PLACES.items()
        for kind in KINDS
        for one in VARIANTS
    )
    slower = {MANY: Bounds(low=1, strict=True)}
    return Experiment(
        id="frto2002/header-compression",
        title="Header compression, and what timestamps do to it",
        source="report C-2002-07, section 2",
        says=(
            "On links of low bandwidth timestamps make the headers larger, and the specifications "
            "of header compression (RFC 1144 and RFC 2507) do not support them."
        ),
        did=(
            "Tables 1 and 2 over a link that compresses headers. RFC 1144 sends each header as its "
            "difference to the one before; a changed option has the whole header sent. RFC 2507 "
            "sends changed options beside the difference, tries a difference twice after a loss, "
            "and requests a full header if that fails."
        ),
        scenario="frto2002-delays",
        variants=variants,
        metrics=(TIME, REXMITS, UNNEEDED, TIMEOUTS, DAMAGED, ON_LINK),
        checks=(
            *from_paper(
                saves("sack+eifel", "rfc1144", Bounds(low=0.97), SAME_TICK),
                saves("newreno+eifel", "rfc1144", Bounds(low=0.97), SAME_TICK),
            ),
            *our_own(
                saves("sack", "rfc1144", Bounds(high=0.9)),
                saves("sack+frto", "rfc1144", Bounds(high=0.9)),
                saves("sack+eifel", "rfc2507", Bounds(high=0.93)),
                ratio(
                    f"time, {LOSSY}, RFC 1144, Eifel / Regular, SACK",
                    TIME,
                    (
                        f"sack+eifel @ {condition('rfc1144', LOSSY)}",
                        f"sack @ {condition('rfc1144', LOSSY)}",
                    ),
                    {MANY: Bounds(high=1, strict=True)},
                ),
                *(
                    ratio(
                        f"time, {LOSSY}, {KINDS['rfc1144']} / none, {sender}",
                        TIME,
                        pair(sender, "rfc1144", LOSSY),
                        slower,
                    )
                    for sender in ("sack", "newreno", "sack+frto")
                ),
                *(
                    ratio(
                        f"time, {LOSSY}, RFC 1144 / RFC 2507, {sender}",
                        TIME,
                        (
                            f"{sender} @ {condition('rfc1144', LOSSY)}",
                            f"{sender} @ {condition('rfc2507', LOSSY)}",
                        ),
                        slower,
                    )
                    for sender in ("sack", "newreno", "sack+frto")
                ),
            ),
            ALL_COMPLETE,
        ),
        assumptions=(
            *SET_R,
            interpreted("what disturbs the link", "as in Tables 1 and 2", "sections 5.1 and 5.2"),
            interpreted(
                "where headers are compressed", "before the queue", "as mobile networks do"
            ),
        ),
        runs=MANY,
        note=(
            "wrong headers: packets whose header the decompressor could not restore, so that "
            "TCP's checksum fails"
        ),
    )


COMPRESSION = (header_compression(),)
"""The experiment on header compression."""
