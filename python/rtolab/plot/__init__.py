"""Pictures of runs and experiments, and how they are saved."""

from rtolab.plot.style import save, save_spec, styled
from rtolab.plot.trace_plot import Plots

__all__ = ["Plots", "save", "save_spec", "styled"]
