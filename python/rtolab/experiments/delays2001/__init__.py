"""Gurtov: "Effect of Delays on TCP Performance", IFIP Personal Wireless Communications, 2001."""

from rtolab.experiments.base import of_the_paper
from rtolab.experiments.delays2001.gprs import gprs
from rtolab.experiments.delays2001.hiccup import hiccups
from rtolab.experiments.delays2001.remedies import remedies
from rtolab.experiments.delays2001.sources import sources
from rtolab.experiments.delays2001.systems import systems

EXPERIMENTS = tuple(map(of_the_paper, sources() + hiccups() + gprs() + systems() + remedies()))
"""The experiments, by kind of network and question."""
