"""Pan, Mark and Shen: "TCP Performance and Behaviors with Local Retransmissions", 2002."""

from rtolab.experiments.arq2002 import (
    competing,
    costs,
    endpoints,
    gains,
    links,
    stated,
    timer,
    tolerance,
    variants,
)

EXPERIMENTS = (
    variants.EXPERIMENTS
    + gains.EXPERIMENTS
    + links.EXPERIMENTS
    + stated.EXPERIMENTS
    + competing.EXPERIMENTS
    + costs.EXPERIMENTS
    + timer.EXPERIMENTS
    + endpoints.EXPERIMENTS
    + tolerance.EXPERIMENTS
)
"""The experiments, in the order of the paper, except that related ones stand together."""
