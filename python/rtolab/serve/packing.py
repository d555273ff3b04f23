"""Columns of numbers as bytes: what a picture is drawn from, without a digit of text.

An answer is four bytes with the length of its head (little endian), the head as JSON, and the
columns. Where the head has a column, it says `{"type": "f8", "at": 16, "count": 3}`: three doubles
that begin 16 bytes behind the head. Columns begin at multiples of eight, so that a browser can look
at them in place; the head is padded with blanks for the same reason.
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
    """Columns that are gathered into one answer."""

    _parts: list[bytes] = field(default_factory=list)
    _length: int = 0

    def numbers(self, series: pl.Series) -> Column:
        """A column of doubles; what is missing is not a number."""
        values = series.cast(pl.Float64).to_numpy()
        return self._add("f8", np.ascontiguousarray(values, dtype="<f8"))

    def codes(self, series: pl.Series, names: Sequence[str]) -> Column:
        """A column of names, each as its place among these."""
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
        """The whole: the head, in which the columns are named, and the columns."""
        text = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-(4 + len(text)) % WORD)
        return b"".join([len(text).to_bytes(4, "little"), text, *self._parts])
