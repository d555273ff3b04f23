"""Runs that experiments have in common: the second experiment takes them from the first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rtolab.result import Result

FAMILIES = (
    ("dualrtt2004/fig15", "dualrtt2004/fig13", "dualrtt2004/fig14"),
    (
        "arq2002/fig10-delays",
        "arq2002/fig4-delays",
        "arq2002/fig4",
        "arq2002/fig6",
        "arq2002/fig10",
        "arq2002/fig5",
        "arq2002/scenarios",
        "arq2002/gain",
        "arq2002/packet-size",
        "arq2002/claim",
    ),
)
"""Experiments with common runs. Where some have more runs of a variant, they come first.

With `--quick` they have other numbers of runs, and may have none in common.
"""


@dataclass(frozen=True)
class Cell:
    """Everything that the runs of one sender depend on, except their number.

    Runs with traces, windows or digests are not shared.

    Attributes:
        scenario: the name of the scenario.
        sender: the sender specification.
        settings: the values that replace the scenario's, with their keys.
        judges: the passive detectors.
        seed: the first seed.
    """

    scenario: str
    sender: str
    settings: frozenset[tuple[str, str]]
    judges: tuple[str, ...]
    seed: int


@dataclass(frozen=True)
class SharedRuns:
    """The runs of experiments with common runs. They stay in memory as long as this object."""

    _found: dict[Cell, tuple[Result, int, int]] = field(default_factory=dict)

    def find(self, cell: Cell | None, runs: int) -> tuple[Result, int] | None:
        """A result with at least `runs` runs of this cell, and the number of the first of them."""
        if cell is None or cell not in self._found:
            return None
        result, first, count = self._found[cell]
        return (result, first) if count >= runs else None

    def add(self, cell: Cell | None, result: Result, first: int, count: int) -> None:
        """Keeps the runs of a cell: `count` from number `first` of this result on."""
        if cell is not None:
            self._found[cell] = (result, first, count)


def is_order_free(settings: Mapping[str, str]) -> bool:
    """Can these settings be applied in any order? Not if one key is part of another's path."""
    keys = sorted(settings)
    return not any(_is_below(key, keys) for key in keys)


def _is_below(key: str, keys: Iterable[str]) -> bool:
    parents = {key[:place] for place, character in enumerate(key) if character in ".["}
    return not parents.isdisjoint(keys)


def families(ids: Iterable[str]) -> list[list[str]]:
    """The ids, in their order, with those of a family together in the family's order."""
    wanted = list(dict.fromkeys(ids))
    lists: dict[str, list[str]] = {}
    for id_ in wanted:
        family = next((family for family in FAMILIES if id_ in family), (id_,))
        lists.setdefault(family[0], [member for member in family if member in wanted])
    return list(lists.values())
