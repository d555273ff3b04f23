"""Study of all detectors as passive detectors: misses and false detections."""

from rtolab.experiments.detectors.study import STUDY

EXPERIMENTS = STUDY
"""The study, and its versions with losses or reordering."""
