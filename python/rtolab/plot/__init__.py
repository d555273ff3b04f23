"""Figures of runs, sweeps and experiments.

>>> from rtolab import plot, run
>>> result = run("frto2002-delays", sender=["sack", "sack+frto"], trace=True)
>>> plot.time_sequence(result, column="acm").save("fig.pdf")
"""

from rtolab.plot.distributions import boxes, cdf
from rtolab.plot.lines import sweep
from rtolab.plot.paper import COLUMNS, Figure
from rtolab.plot.results import Results, read
from rtolab.plot.sequences import time_sequence
from rtolab.plot.style import save, save_spec, sharing, styled, warm_up
from rtolab.plot.trace_plot import Plots
from rtolab.plot.views import Folder

__all__ = [
    "COLUMNS",
    "Figure",
    "Folder",
    "Plots",
    "Results",
    "boxes",
    "cdf",
    "read",
    "save",
    "save_spec",
    "sharing",
    "styled",
    "sweep",
    "time_sequence",
    "warm_up",
]
