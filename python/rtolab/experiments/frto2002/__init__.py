"""Sarolahti, Kojo, Raatikainen: "F-RTO", University of Helsinki report C-2002-07, February 2002."""

from rtolab.experiments.base import of_the_paper
from rtolab.experiments.frto2002.bursts import BURSTS
from rtolab.experiments.frto2002.channel import CHANNEL
from rtolab.experiments.frto2002.claims import CLAIMS
from rtolab.experiments.frto2002.compression import COMPRESSION
from rtolab.experiments.frto2002.extent import EXTENT
from rtolab.experiments.frto2002.fairness import FAIRNESS
from rtolab.experiments.frto2002.figures import FIGURES
from rtolab.experiments.frto2002.sections import SECTIONS
from rtolab.experiments.frto2002.tables import TABLES

EXPERIMENTS = tuple(
    of_the_paper(experiment)
    for experiment in (
        *(*TABLES, *BURSTS, *FIGURES, *SECTIONS, *FAIRNESS, *CLAIMS, *EXTENT),
        *(*COMPRESSION, *CHANNEL),
    )
)

__all__ = [
    "BURSTS",
    "CHANNEL",
    "CLAIMS",
    "COMPRESSION",
    "EXPERIMENTS",
    "EXTENT",
    "FAIRNESS",
    "FIGURES",
    "SECTIONS",
    "TABLES",
]
