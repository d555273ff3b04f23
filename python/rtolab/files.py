"""Files that are there whole or not at all, whatever ends the writing."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Where to write what is then renamed to `path`; if that fails nothing is left of it.

    Raises:
        OSError: it cannot be written; names `path`.
    """
    # A link stays one, and what is no plain file, such as /dev/stdout, cannot be replaced.
    target = path.resolve()
    if target.exists() and not target.is_file():
        unfinished = target
    else:
        unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        yield unfinished
        if unfinished != target:
            unfinished.replace(target)
    except BaseException as error:
        if unfinished != target:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write a file, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    with whole(path) as unfinished:
        unfinished.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """As `write_bytes`, of a text."""
    write_bytes(path, text.encode())


def write_table(path: Path, table: pl.DataFrame) -> None:
    """As `write_bytes`, of a table as Parquet."""
    packed = io.BytesIO()
    table.write_parquet(packed)
    write_bytes(path, packed.getbuffer())
