"""Study of all detectors as passive detectors, and of the loss detections of TCP and QUIC."""

from rtolab.experiments.detectors.recoveries import RECOVERIES
from rtolab.experiments.detectors.study import STUDY

EXPERIMENTS = (*STUDY, RECOVERIES)
"""The study, its versions with losses or reordering, and the loss detections."""
