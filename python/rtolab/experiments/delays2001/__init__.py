"""Gurtov: "Effect of Delays on TCP Performance", IFIP Personal Wireless Communications, 2001."""

from rtolab.experiments.delays2001.gprs import gprs
from rtolab.experiments.delays2001.hiccup import hiccups
from rtolab.experiments.delays2001.remedies import remedies
from rtolab.experiments.delays2001.systems import systems

EXPERIMENTS = hiccups() + gprs() + systems() + remedies()
"""By kind of network and question."""
