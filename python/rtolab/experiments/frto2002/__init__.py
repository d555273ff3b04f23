"""Sarolahti, Kojo, Raatikainen: "F-RTO", University of Helsinki report C-2002-07, February 2002."""

from rtolab.experiments.frto2002.bursts import BURSTS
from rtolab.experiments.frto2002.claims import CLAIMS
from rtolab.experiments.frto2002.fairness import FAIRNESS
from rtolab.experiments.frto2002.figures import FIGURES
from rtolab.experiments.frto2002.sections import SECTIONS
from rtolab.experiments.frto2002.tables import TABLES

EXPERIMENTS = TABLES + BURSTS + FIGURES + SECTIONS + FAIRNESS + CLAIMS

__all__ = ["BURSTS", "CLAIMS", "EXPERIMENTS", "FAIRNESS", "FIGURES", "SECTIONS", "TABLES"]
