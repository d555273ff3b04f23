"""Every detector as a judge: what it finds and what it takes for what it is not."""

from rtolab.experiments.detectors.study import STUDY

EXPERIMENTS = STUDY
"""The study, and the same where packets are lost or reordered."""
