"""Study of back-off policies: resume delay after outages against probes during them."""

from rtolab.experiments.outages.slower import SLOWER_PATH
from rtolab.experiments.outages.study import OUTAGE_STUDY

EXPERIMENTS = (OUTAGE_STUDY, SLOWER_PATH)
"""The study, and the same policies on a path that becomes slower."""
