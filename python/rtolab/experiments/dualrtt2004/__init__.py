"""Fu, Atiquzzaman: "DualRTT: Detecting Spurious Timeouts in Wireless Mobile Environments", 2004."""

from rtolab.experiments.dualrtt2004.figures import FIGURES

EXPERIMENTS = FIGURES
