"""The papers' tables and figures as data; a package per paper."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.experiments.base import Experiment

PACKAGES = (
    "frto2002",
    "arq2002",
    "minrto2007",
    "dualrtt2004",
    "delays2001",
    "detectors",
    "outages",
    "today",
    "liars",
)
"""The modules with experiments, in the order in which `rtolab reproduce` runs them. All ids of a
module begin with its name."""

if TYPE_CHECKING:
    EXPERIMENTS: tuple[Experiment, ...]
    """Every experiment, in the order in which `rtolab reproduce` runs them."""


def __getattr__(name: str) -> Any:
    # One experiment does not need the modules of all others, which take long to load.
    if name == "EXPERIMENTS":
        return _all()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _all() -> tuple[Experiment, ...]:
    return tuple(experiment for package in PACKAGES for experiment in _of(package))


@cache
def _of(package: str) -> tuple[Experiment, ...]:
    """The experiments of a module."""
    found: tuple[Experiment, ...] = import_module(f"{__name__}.{package}").EXPERIMENTS
    return found


def find(ids: list[str]) -> list[Experiment]:
    """Finds experiments by id or alias, or all below an id such as `frto2002`; without ids, all.

    The result is in the order of the ids, without repetitions.

    Raises:
        Error: an id is unknown.
    """
    if not ids:
        return list(_all())
    found = (experiment for name in ids for experiment in _named(name.strip("/")))
    return list({experiment.id: experiment for experiment in found}.values())


def _named(name: str) -> list[Experiment]:
    package = name.partition("/")[0]
    experiments = _of(package) if package in PACKAGES else _all()
    matching = [
        experiment
        for experiment in experiments
        if name in (experiment.id, *experiment.aliases) or experiment.id.startswith(f"{name}/")
    ]
    if not matching:
        known = [i for e in experiments for i in (e.id, *e.aliases)]
        papers = dict.fromkeys(i.split("/")[0] for i in known)
        of_paper = package in PACKAGES
        near = _rtolab.suggest(name, known if of_paper else [*known, *papers])
        listed = "`rtolab list experiments` has all"
        raise Error(f"found no experiment {name!r}; expected {near}; {listed}")
    return matching
