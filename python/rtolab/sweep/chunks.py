"""The chunks of a sweep: a point of the grid, a sender and a block of seeds each."""

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
"""The version of the format on disk; another version computes everything again."""


@dataclass(frozen=True)
class Chunk:
    """A unit of work: everything that its result depends on, except scenario and program.

    Attributes:
        set: TOML values that replace those of the scenario, by dotted key.
        columns: the point, as columns of the tables.
        numbers: the quantities of the point in base units, as more columns.
        sender: a sender specification; empty for the scenario's own.
        first: the number of the first run at this point and sender, from 0.
        seeds: one per run.
        tables: those that are stored.
        judge: passive detectors.
        what_if: senders that replay the rest of the run from every timeout.
        prototypes: detectors, responses and stages written in Python that may be named.
    """

    set: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, Scalar], ...]
    numbers: tuple[tuple[str, float], ...]
    sender: str
    first: int
    seeds: tuple[int, ...]
    tables: tuple[str, ...]
    judge: tuple[str, ...]
    what_if: tuple[str, ...]
    prototypes: tuple[Source, ...]

    @property
    def about(self) -> str:
        """A short description of the chunk."""
        values = [f"{key}={value}" for key, value in self.columns]
        seeds = f"seeds {self.seeds[0]} to {self.seeds[-1]}"
        return ", ".join([*values, self.sender or "the scenario's sender", seeds])


@dataclass(frozen=True)
class PlannedChunk:
    """A chunk with its place in the sweep.

    Attributes:
        chunk: the work.
        key: a hash of everything that the result depends on.
        cell: the number of its cell, from 0.
        block: its number within the cell, from 0.
    """

    chunk: Chunk
    key: str
    cell: int
    block: int


@dataclass(frozen=True)
class Plan:
    """All chunks of a sweep.

    A cell is a point with a sender. Its blocks of seeds do not depend on other cells, so a sweep
    that grows keeps its finished chunks.

    Attributes:
        sweep: the definition.
        made_of: hashes of the program and of the scenario with the files that it reads.
    """

    sweep: Sweep
    made_of: tuple[str, ...]

    @property
    def cells(self) -> int:
        """The number of cells; senders vary faster than points."""
        return len(self.sweep.points) * len(self.sweep.senders)

    @property
    def blocks(self) -> int:
        """The largest number of blocks in a cell."""
        return -(-len(self.sweep.seeds) // self.sweep.block)

    def chunks(self) -> Iterator[PlannedChunk]:
        """All chunks, cell by cell."""
        for cell in range(self.cells):
            yield from (self.chunk(cell, block) for block in range(self.blocks))

    def chunk(self, cell: int, block: int) -> PlannedChunk:
        """One block of one cell."""
        sweep = self.sweep
        point = sweep.points[cell // len(sweep.senders)]
        first = block * sweep.block
        chunk = Chunk(
            set=point.set,
            columns=point.columns,
            numbers=point.numbers,
            sender=sweep.senders[cell % len(sweep.senders)],
            first=first,
            seeds=tuple(sweep.seeds[first : first + sweep.block]),
            tables=sweep.tables,
            judge=sweep.judge,
            what_if=sweep.what_if,
            prototypes=sweep.prototypes,
        )
        return PlannedChunk(chunk, self._key(chunk), cell, block)

    def _key(self, chunk: Chunk) -> str:
        # The text of a prototype matters, its path does not.
        prototypes = [(source.kind, source.text) for source in chunk.prototypes]
        parts = [FORMAT, *self.made_of, asdict(chunk) | {"prototypes": prototypes}]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
