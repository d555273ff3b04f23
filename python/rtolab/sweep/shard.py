"""Shards: parts of a sweep that separate processes compute in one shared folder."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass

from rtolab._rtolab import Error

MOST_SHARDS = 1_000_000
WRITTEN = re.compile(r"([0-9]{1,7})/([0-9]{1,7})", re.ASCII)


@dataclass(frozen=True)
class Shard:
    """One of several parts of a sweep.

    Attributes:
        number: of this part, from 1.
        of: the number of parts.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """A shard written as `number/of`, such as 3/8.

        Raises:
            Error: it is not, or the number is not from 1 to `of`.
        """
        found = WRITTEN.fullmatch(text)
        number, of = (int(part) for part in found.groups()) if found else (0, 0)
        if 1 <= number <= of <= MOST_SHARDS:
            return cls(number, of)
        expected = "expected i/n with i from 1 to n, such as 3/8 for the third of eight shards"
        if found and of > MOST_SHARDS:
            expected = f"expected at most {MOST_SHARDS} shards"
        raise Error(f"--shard: found {text!a}; {expected}")

    @property
    def name(self) -> str:
        """Its name in the folder of the sweep."""
        return f"{self.number}-of-{self.of}"

    def part(self, blocks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """This shard's part of all blocks of seeds, each a cell and its block.

        Neighbours in the grid take about the same time, so each shard has blocks from everywhere.
        The parts differ by one block at most.
        """
        shuffled = list(blocks)
        random.Random(0).shuffle(shuffled)  # noqa: S311  (no secret)
        return sorted(shuffled[self.number - 1 :: self.of])
