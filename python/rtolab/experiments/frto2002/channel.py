"""Section 5.1's reference for its outages: a wireless channel as a Markov process."""

from rtolab.experiments.base import (
    LOST,
    REXMITS,
    TIME,
    TIMEOUTS,
    UNNEEDED,
    Bounds,
    Check,
    Experiment,
    Variant,
    assumed,
)
from rtolab.experiments.frto2002.set_r import SET_R
from rtolab.experiments.frto2002.tables import RECOVERIES, VARIANTS
from rtolab.experiments.measured import ALL_COMPLETE, ratio

MANY = 100

LOSSES = {"everything lost": "1", "half lost": "0.5"}
"""The probability that the lossy state loses a packet, by a short description."""

STATES = (
    assumed("link.wireless.loss", "0", "the error-free state"),
    assumed(
        "link.wireless.states.good.exponential", "10.05 s", "as long on average as Table 3's 0.1-20"
    ),
    assumed("link.wireless.states.bad.exponential", "3.5 s", "as long as Table 3's"),
    assumed("link.wireless.states.shared", "true", "as Table 3's: both directions at once"),
)


def variants() -> tuple[Variant, ...]:
    """The six senders with each lossy state."""
    return tuple(
        Variant(one.sender, one.label, condition, {"link.wireless.bad.loss": loss})
        for condition, loss in LOSSES.items()
        for one in VARIANTS
    )


def checks() -> tuple[Check, ...]:
    """What Table 3 shows: F-RTO does not differ from the regular recovery, Eifel is slower."""
    found = []
    for condition in LOSSES:
        for base, name in RECOVERIES.items():
            regular = f"{base} @ {condition}"
            frto, eifel = (f"{base}+{detector} @ {condition}" for detector in ("frto", "eifel"))
            found += [
                ratio(
                    f"time, F-RTO / Regular, {name}, {condition}",
                    TIME,
                    (frto, regular),
                    {MANY: Bounds(0.85, 1.05)},
                ),
                ratio(
                    f"time, Eifel / Regular, {name}, {condition}",
                    TIME,
                    (eifel, regular),
                    {MANY: Bounds(low=1, strict=True)},
                ),
            ]
    return tuple(found)


CHANNEL = (
    Experiment(
        id="frto2002/channel",
        title="Table 3 over a channel with two Markov states",
        source="report C-2002-07, section 5.1, which cites Konrad, Zhao, Joseph and Ludwig (2001)",
        says=(
            "Konrad and others (2001) found the lengths of loss periods of a wireless link to be "
            "exponential. Their model has an error-free and a lossy state. The report takes the "
            "exponential length from it; its good times are uniform, and its outages lose all."
        ),
        did=(
            "Table 3's six senders with both states exponential, as long on average as Table 3's. "
            "The lossy state loses everything, or each packet with a probability of one half. (In "
            "their model losses within the lossy state depend on the ones before; here they do "
            "not. We know the model from its description.) The bounds are those of Table 3."
        ),
        scenario="frto2002-loss",
        variants=variants(),
        metrics=(TIME, LOST, REXMITS, UNNEEDED, TIMEOUTS),
        checks=(*checks(), ALL_COMPLETE),
        assumptions=(*SET_R, *STATES),
        runs=MANY,
        ours=True,
    ),
)
"""The channel that the report cites."""
