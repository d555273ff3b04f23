"""Fu, Atiquzzaman: "DualRTT: Detecting Spurious Timeouts in Wireless Mobile Environments", 2004."""

from rtolab.experiments.dualrtt2004.congestion import CONGESTION
from rtolab.experiments.dualrtt2004.detection import DETECTION
from rtolab.experiments.dualrtt2004.efficiency import EFFICIENCY
from rtolab.experiments.dualrtt2004.equation import EQUATION
from rtolab.experiments.dualrtt2004.errors import ERRORS
from rtolab.experiments.dualrtt2004.figures import FIGURES
from rtolab.experiments.dualrtt2004.model import MODEL
from rtolab.experiments.dualrtt2004.parking_lot import PARKING_LOT
from rtolab.experiments.dualrtt2004.protection import PROTECTION
from rtolab.experiments.dualrtt2004.round_trips import ROUND_TRIPS
from rtolab.experiments.dualrtt2004.tables import TABLES

EXPERIMENTS = (
    *(*FIGURES, *ROUND_TRIPS, *DETECTION, *CONGESTION, *PROTECTION),
    *(*TABLES, *MODEL, *EQUATION, *ERRORS),
    *(*PARKING_LOT, *EFFICIENCY),
)
"""The experiments, in the order of the paper."""
