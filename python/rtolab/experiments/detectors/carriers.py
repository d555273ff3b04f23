"""Senders that carry the passive detectors, in 168 configurations under four conditions.

Most detectors observe the same sender, which ignores their verdicts, so that its behaviour favours
none. A detector that needs a certain behaviour after the timeout cannot decide there. It observes a
sender with that behaviour, which ignores the verdicts, too.
"""

from dataclasses import replace

from rtolab import _rtolab
from rtolab.experiments.base import Variant
from rtolab.experiments.dualrtt2004.model import GRID, Combination, named
from rtolab.experiments.dualrtt2004.spikes import path, stamped

DETECTORS = tuple(detector["name"] for detector in _rtolab.detectors())
"""The names of all detectors."""

FORWARD = tuple(
    policy["name"]
    for policy in _rtolab.policies()
    if policy["question"] == "timeout" and policy["name"] in DETECTORS
)
"""Detectors with a forward step: they need a sender that sends new data after the first ACK."""

PART_OF = {"originals": "frto:linux"}
"""A detector that is part of one with a forward step: it cannot decide after a go-back-N, which
retransmits everything."""

PASSIVE = tuple(name for name in DETECTORS if name not in (*FORWARD, *PART_OF))
"""Detectors that can observe any sender."""

LATE = 0.01
"""The share of late packets, in the condition with reordering."""

THRESHOLDS = (0.01, 0.025, 0.04, 0.08, 0.1, 0.2, 0.4, 0.6, 0.9)
"""Of DualRTT: the seven of Table V, and two more where it has wide steps."""

CARRIER = "sack+eifel:rxt+none"
"""A sender with go-back-N, SACK, timestamps and marked retransmissions that ignores verdicts."""


def at(tau: float) -> str:
    """DualRTT with this threshold, as a detector."""
    return f"dualrtt:{tau:g}"


def sender_of(detector: str) -> str:
    """The sender that a detector observes."""
    step = PART_OF.get(detector, detector)
    return f"sack+{step}+none" if step in FORWARD else CARRIER


def network(where: Combination) -> dict[str, str]:
    """The settings of a configuration, by scenario key; DualRTT's models receive the path."""
    bandwidth, delay, size = where
    return {
        **path(bandwidth, delay),
        **stamped(size),
        "receiver.echo": "rfc7323",
        "tcp.dualrtt.path_rate": f"{bandwidth} bit/s",
        "tcp.dualrtt.path_delay": f"{delay:g} s",
    }


def carrier(where: Combination) -> Variant:
    """The sender with all detectors of `PASSIVE`, and DualRTT with every threshold."""
    judges = (*PASSIVE, *map(at, THRESHOLDS))
    return Variant(CARRIER, "Carrier", named(where), network(where), judges=judges)


def forward(where: Combination) -> tuple[Variant, ...]:
    """The senders of the detectors with a forward step."""
    condition = f"{named(where)}, forward step"
    judges = (*FORWARD, *PART_OF)
    return tuple(
        Variant(sender_of(name), name, condition, network(where), judges=judges) for name in FORWARD
    )


VARIANTS = tuple(variant for where in GRID for variant in (carrier(where), *forward(where)))
"""The carrier and the senders with a forward step, in every configuration."""


def late(variant: Variant) -> Variant:
    """The variant with reordering: single packets are late by up to the one-way delay."""
    delay = variant.set["link.path.delay"]
    length = f'{{ uniform = ["0 s", "{delay}"] }}'
    spikes = f"{{ probability = {LATE}, length = {length} }}"
    return replace(variant, set={**variant.set, "link.path.spikes": spikes})
