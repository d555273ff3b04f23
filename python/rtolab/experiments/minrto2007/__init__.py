"""Psaras and Tsaoussidis: "The TCP Minimum RTO Revisited", 2007."""

from rtolab.experiments.minrto2007.claims import CLAIMS
from rtolab.experiments.minrto2007.clocks import CLOCKS
from rtolab.experiments.minrto2007.machine import MACHINE
from rtolab.experiments.minrto2007.pages import PAGES_TABLES
from rtolab.experiments.minrto2007.pauses import PAUSES
from rtolab.experiments.minrto2007.sweeps import SWEEPS
from rtolab.experiments.minrto2007.transfers import TRANSFERS

EXPERIMENTS = PAGES_TABLES + CLOCKS + MACHINE + PAUSES + TRANSFERS + SWEEPS + CLAIMS

__all__ = ["EXPERIMENTS"]
