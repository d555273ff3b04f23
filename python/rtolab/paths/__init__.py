"""Measured paths as scenarios: importers of recorded series, and a recorder of one's own path."""

from rtolab.paths.formats import FORMATS, read_path
from rtolab.paths.measured import MeasuredPath, OneWay
from rtolab.paths.scenario import Stated, write_scenario

__all__ = ["FORMATS", "MeasuredPath", "OneWay", "Stated", "read_path", "write_scenario"]
