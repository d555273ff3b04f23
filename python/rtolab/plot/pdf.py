"""PDF files whose bytes depend on their content alone.

The renderer numbers and orders some objects differently from call to call. Here they get numbers in
the order in which a reader meets them.
"""

import re
from itertools import pairwise

ENTRIES = re.compile(rb"(?:^ +/[A-Za-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)
"""Neighbouring entries of a dictionary of fonts, pictures and the like."""
START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")
TABLE = re.compile(rb"xref\n0 \d+\n(?:\d{10} \d{5} [nf]..)+", re.DOTALL)
IN_USE = re.compile(rb"(\d{10}) \d{5} n")
REFERENCE = re.compile(rb"(?<![\d.])(\d+) 0 R\b")
NUMBER = re.compile(rb"\d+ 0 obj")


def canonical(pdf: bytes) -> bytes:
    """The PDF with objects in the order of their use; unchanged if its form is unknown.

    Args:
        pdf: a file with one table of cross-references, as the renderer writes it.
    """
    start = START.search(pdf)
    table = TABLE.match(pdf, int(start[1])) if start else None
    if table is None:
        return pdf
    begins = [int(offset) for offset in IN_USE.findall(table[0])]
    places = sorted([*begins, table.start()])
    after = dict(pairwise(places))
    objects = {
        number: _Object(pdf[begin : after[begin]]) for number, begin in enumerate(begins, start=1)
    }
    trailer = pdf[table.end() :]
    numbers = _numbers(trailer, objects)
    head = pdf[: places[0]]
    written = [objects[old].numbered(new, numbers) for old, new in numbers.items()]
    offsets, at = [], len(head)
    for one in written:
        offsets.append(at)
        at += len(one)
    entries = b"".join(b"%010d 00000 n\r\n" % offset for offset in offsets)
    table_ = b"xref\n0 %d\n0000000000 65535 f\r\n" % (len(written) + 1) + entries
    ending = _renumbered(re.sub(rb"startxref\s+\d+", b"startxref\n%d" % at, trailer), numbers)
    ending = re.sub(rb"/Size \d+", b"/Size %d" % (len(written) + 1), ending)
    return head + b"".join(written) + table_ + ending


class _Object:
    """An object: its dictionary, and a stream that may follow."""

    def __init__(self, text: bytes) -> None:
        dictionary, mark, stream = text.partition(b">>\nstream\n")
        self.dictionary = ENTRIES.sub(_sorted, dictionary)
        self.stream = mark + stream

    def uses(self) -> list[int]:
        return [int(number) for number in REFERENCE.findall(self.dictionary)]

    def numbered(self, number: int, numbers: dict[int, int]) -> bytes:
        dictionary = NUMBER.sub(b"%d 0 obj" % number, self.dictionary, count=1)
        return _renumbered(dictionary, numbers) + self.stream


def _numbers(trailer: bytes, objects: dict[int, _Object]) -> dict[int, int]:
    """The new number of each object that is used, by its old one."""
    numbers: dict[int, int] = {}
    left = [int(number) for number in reversed(REFERENCE.findall(trailer))]
    while left:
        old = left.pop()
        if old not in numbers:
            numbers[old] = len(numbers) + 1
            left += reversed(objects[old].uses())
    return numbers


def _renumbered(text: bytes, numbers: dict[int, int]) -> bytes:
    return REFERENCE.sub(lambda found: b"%d 0 R" % numbers[int(found[1])], text)


def _sorted(entries: re.Match[bytes]) -> bytes:
    return b"".join(sorted(entries[0].splitlines(keepends=True)))
