"""Binary encoding of columns of numbers, the data of the figures.

An answer is the length of its head in four bytes (little endian), the head as JSON, and the
columns. The head refers to a column as `{"type": "f8", "at": 16, "count": 3}`: three doubles that
begin 16 bytes after the head. Columns begin at multiples of eight bytes, so that a browser can map
them without a copy; the head is padded with blanks for the same reason.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

Column = dict[str, Any]

WORD = 8


@dataclass
class Packing:
    """The columns of an answer."""

    _parts: list[bytes] = field(default_factory=list)
    _length: int = 0

    def numbers(self, series: pl.Series) -> Column:
        """A column of doubles; nulls become NaN."""
        values = series.cast(pl.Float64).to_numpy()
        return self._add("f8", np.ascontiguousarray(values, dtype="<f8"))

    def codes(self, series: pl.Series, names: Sequence[str]) -> Column:
        """A column of names, each as its index in `names`."""
        places = {name: place for place, name in enumerate(names)}
        found = series.replace_strict(places, return_dtype=pl.UInt8)
        return self._add("u1", np.ascontiguousarray(found.to_numpy(), dtype="u1"))

    def _add(self, kind: str, values: np.ndarray[Any, Any]) -> Column:
        column = {"type": kind, "at": self._length, "count": len(values)}
        part = values.tobytes()
        self._parts.append(part + bytes(-len(part) % WORD))
        self._length += len(self._parts[-1])
        return column

    def answer(self, head: dict[str, Any]) -> bytes:
        """The encoded head and columns."""
        text = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-(4 + len(text)) % WORD)
        return b"".join([len(text).to_bytes(4, "little"), text, *self._parts])
