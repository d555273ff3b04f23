"""Sarolahti, Kojo, Raatikainen: "F-RTO", University of Helsinki report C-2002-07, February 2002."""

from rtolab.experiments.frto2002.figures import FIGURES
from rtolab.experiments.frto2002.tables import TABLES

EXPERIMENTS = TABLES + FIGURES
