"""Measuring one's own path: a client that sends probes, and a server that answers them."""

from rtolab.paths.recording.analysis import Measurement, measured_path
from rtolab.paths.recording.client import Plan, record
from rtolab.paths.recording.server import serve

__all__ = ["Measurement", "Plan", "measured_path", "record", "serve"]
