"""Reading of files that other programs wrote."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from rtolab._rtolab import Error

LARGEST = 256 << 20
"""The largest file, in bytes, as for the traces of scenarios."""


def read_text(path: Path) -> str:
    """The text of a file, which may be packed by gzip.

    Raises:
        Error: too large, not UTF-8, or damaged.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Error(f"{path}: a damaged gzip file ({error})") from None
    if len(content) > LARGEST:
        raise Error(f"{path}: found more than {LARGEST >> 20} MiB; expected a recorded series")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise Error(f"{path}:{line}: found the byte 0x{byte:02x}; expected UTF-8 text") from None


def numbered(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not empty, with their numbers from 1."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            yield number, line.strip()


def wrong(path: Path, line: int, found: str, expected: str) -> Error:
    """An error about a line."""
    return Error(f"{path}:{line}: found {found[:60]!r}; expected {expected}")
