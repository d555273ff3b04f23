"""The pieces that a sweep's work is cut into: a point, a sender and a block of seeds each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rtolab.prototype.source import Source
from rtolab.sweep.definition import Sweep

if TYPE_CHECKING:
    from rtolab.sweep.definition import Scalar

FORMAT = 1
"""Of what is kept: another number computes all anew."""


@dataclass(frozen=True)
class Chunk:
    """A piece of work, with all that its result depends on but scenario and program.

    Attributes:
        set: what replaces the scenario's, as TOML, by dotted key.
        columns: what the tables say of the point.
        sender: a sum of policies; empty for the scenario's own.
        first: which run of the sender at this point the first seed is, from 0.
        seeds: one a run.
        tables: which are kept.
        judge: detectors that ride along.
        what_if: senders that go on from every timeout.
        prototypes: detectors, responses and stages written in Python that may be named.
    """

    set: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, Scalar], ...]
    sender: str
    first: int
    seeds: tuple[int, ...]
    tables: tuple[str, ...]
    judge: tuple[str, ...]
    what_if: tuple[str, ...]
    prototypes: tuple[Source, ...]

    @property
    def about(self) -> str:
        """The chunk in a few words."""
        values = [f"{key}={value}" for key, value in self.columns]
        seeds = f"seeds {self.seeds[0]} to {self.seeds[-1]}"
        return ", ".join([*values, self.sender or "the scenario's sender", seeds])


@dataclass(frozen=True)
class Piece:
    """A chunk in its place in the sweep.

    Attributes:
        chunk: what is computed.
        key: names that and the result: another key, another result.
        cell: which cell it belongs to.
        block: which of the cell's, from 0.
    """

    chunk: Chunk
    key: str
    cell: int
    block: int


@dataclass(frozen=True)
class Plan:
    """All that a sweep may have to compute.

    A cell is a point with a sender. Its blocks of seeds are the same whatever else there is, so
    that a sweep that grows keeps what it has.

    Attributes:
        sweep: what is to be computed.
        made_of: names the scenario, with the files that it reads, and the program.
    """

    sweep: Sweep
    made_of: tuple[str, ...]

    @property
    def cells(self) -> int:
        """How many cells there are: senders vary faster than points."""
        return len(self.sweep.points) * len(self.sweep.senders)

    @property
    def blocks(self) -> int:
        """How many blocks a cell has, at most."""
        return -(-len(self.sweep.seeds) // self.sweep.block)

    def pieces(self) -> Iterator[Piece]:
        """All there may be, cell by cell."""
        for cell in range(self.cells):
            yield from (self.piece(cell, block) for block in range(self.blocks))

    def piece(self, cell: int, block: int) -> Piece:
        """One block of one cell."""
        sweep = self.sweep
        point = sweep.points[cell // len(sweep.senders)]
        first = block * sweep.block
        chunk = Chunk(
            set=point.set,
            columns=point.columns,
            sender=sweep.senders[cell % len(sweep.senders)],
            first=first,
            seeds=tuple(sweep.seeds[first : first + sweep.block]),
            tables=sweep.tables,
            judge=sweep.judge,
            what_if=sweep.what_if,
            prototypes=sweep.prototypes,
        )
        return Piece(chunk, self._key(chunk), cell, block)

    def _key(self, chunk: Chunk) -> str:
        # Where a prototype is written makes no difference; what is written there does.
        prototypes = [(source.kind, source.text) for source in chunk.prototypes]
        parts = [FORMAT, *self.made_of, asdict(chunk) | {"prototypes": prototypes}]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
