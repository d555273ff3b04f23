"""Who carries the judges, where, and under what: 168 configurations and four conditions.

A judge cannot be told apart from another by what its sender does, for all ride on one sender that
does nothing about what it is told. A detector that needs its sender to go on in a way of its own is
blind there, and judges a sender that does go on so, but makes nothing of the answer either.
"""

from dataclasses import replace

from rtolab import _rtolab
from rtolab.experiments.base import Variant
from rtolab.experiments.dualrtt2004.model import GRID, Combination, named
from rtolab.experiments.dualrtt2004.spikes import path, stamped

DETECTORS = tuple(detector["name"] for detector in _rtolab.detectors())
"""All that there are."""

FORWARD = tuple(
    policy["name"]
    for policy in _rtolab.policies()
    if policy["question"] == "timeout" and policy["name"] in DETECTORS
)
"""Those with a forward step: they need a sender that sends new data after the first ACK."""

PART_OF = {"originals": "frto:linux"}
"""A detector that is a part of one with a forward step: nothing is left to see for it where the
sender goes back N, for there everything is sent again."""

RIDING = tuple(name for name in DETECTORS if name not in (*FORWARD, *PART_OF))
"""Those that judge any sender."""

LATE = 0.01
"""The part of the packets that are late, where packets are reordered."""

THRESHOLDS = (0.01, 0.025, 0.04, 0.08, 0.1, 0.2, 0.4, 0.6, 0.9)
"""Of DualRTT: the seven of Table V, and two more where it has wide steps."""

CARRIER = "sack+eifel:rxt+none"
"""It goes back N, offers SACK and timestamps, marks retransmissions, and responds to nothing."""


def at(tau: float) -> str:
    """DualRTT with this threshold, as a detector."""
    return f"dualrtt:{tau:g}"


def sender_of(detector: str) -> str:
    """Whom it judges."""
    step = PART_OF.get(detector, detector)
    return f"sack+{step}+none" if step in FORWARD else CARRIER


def network(where: Combination) -> dict[str, str]:
    """A configuration, by keys of the scenario; DualRTT's models are told of the path."""
    bandwidth, delay, size = where
    return {
        **path(bandwidth, delay),
        **stamped(size),
        "receiver.echo": "rfc7323",
        "tcp.dualrtt.path_rate": f"{bandwidth} bit/s",
        "tcp.dualrtt.path_delay": f"{delay:g} s",
    }


def carrier(where: Combination) -> Variant:
    """The sender that carries those that judge any, and DualRTT with every threshold."""
    judges = (*RIDING, *map(at, THRESHOLDS))
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
    """The same where single packets are late by up to the one-way delay, and others pass them."""
    delay = variant.set["link.path.delay"]
    length = f'{{ uniform = ["0 s", "{delay}"] }}'
    spikes = f"{{ probability = {LATE}, length = {length} }}"
    return replace(variant, set={**variant.set, "link.path.spikes": spikes})
