"""The papers' tables and figures as data; a package per paper."""

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.experiments import (
    arq2002,
    delays2001,
    detectors,
    dualrtt2004,
    frto2002,
    liars,
    minrto2007,
    outages,
    today,
)
from rtolab.experiments.base import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    frto2002.EXPERIMENTS
    + arq2002.EXPERIMENTS
    + minrto2007.EXPERIMENTS
    + dualrtt2004.EXPERIMENTS
    + delays2001.EXPERIMENTS
    + detectors.EXPERIMENTS
    + outages.EXPERIMENTS
    + today.EXPERIMENTS
    + liars.EXPERIMENTS
)
"""Every experiment, in the order in which `rtolab reproduce` runs them."""


def find(ids: list[str]) -> list[Experiment]:
    """Finds experiments by id or alias, or all below an id such as `frto2002`; without ids, all.

    The result is in the order of the ids, without repetitions.

    Raises:
        Error: an id is unknown.
    """
    if not ids:
        return list(EXPERIMENTS)
    found = dict.fromkeys(experiment.id for name in ids for experiment in _named(name.strip("/")))
    by_id = {experiment.id: experiment for experiment in EXPERIMENTS}
    return [by_id[name] for name in found]


def _named(name: str) -> list[Experiment]:
    matching = [
        experiment
        for experiment in EXPERIMENTS
        if name in (experiment.id, *experiment.aliases) or experiment.id.startswith(f"{name}/")
    ]
    if not matching:
        known = [i for e in EXPERIMENTS for i in (e.id, *e.aliases)]
        of_paper = [i for i in known if i.startswith(f"{name.partition('/')[0]}/")]
        papers = dict.fromkeys(i.split("/")[0] for i in known)
        near = _rtolab.one_of(name, of_paper or [*known, *papers])
        listed = "`rtolab list experiments` has all"
        raise Error(f"found no experiment {name!r}; expected {near}; {listed}")
    return matching
