"""Figures of runs and experiments."""

from rtolab.plot.style import save, save_spec, sharing, styled, warm_up
from rtolab.plot.trace_plot import Plots

__all__ = ["Plots", "save", "save_spec", "sharing", "styled", "warm_up"]
