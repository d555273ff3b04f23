"""Atomic writing of files: complete or not at all, and never over an input."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rtolab._rtolab import Error

if TYPE_CHECKING:
    import polars as pl


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary path that is renamed to `path` at the end, and deleted after an error.

    Raises:
        OSError: the file cannot be written; names `path`.
    """
    # Keep symbolic links; a device such as /dev/stdout cannot be replaced.
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


def check_targets(targets: Iterable[tuple[str, Path | None]], inputs: Iterable[str | Path]) -> None:
    """Check, before anything is written, that no target is an input, also through links.

    Args:
        targets: options as given, for the message, each with a file that it writes.
        inputs: the files that are read; `-` is standard input.

    Raises:
        Error: a target is an input.
    """
    # `Path.resolve` would fail on a loop of links.
    read = {os.path.realpath("/dev/stdin" if str(one) == "-" else one) for one in inputs}
    for option, target in targets:
        if target is not None and os.path.realpath(target) in read:
            raise Error(
                f"{option}: would overwrite {target}, which is an input; expected another file"
            )


def stem(text: str) -> str:
    """A name as part of a file name, without blanks, slashes and colons."""
    return re.sub(r"[^\w.+-]+", "-", text).strip("-")


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write a file atomically; raises OSError if this fails."""
    with whole(path) as unfinished:
        unfinished.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Write text to a file, like `write_bytes`."""
    write_bytes(path, text.encode())


def write_table(path: Path, table: pl.DataFrame) -> None:
    """Write a table to a Parquet file, like `write_bytes`."""
    packed = io.BytesIO()
    # The default, level 3, takes 30 % longer for files that are 9 % smaller (benches/traced.py).
    table.write_parquet(packed, compression="zstd", compression_level=1)
    write_bytes(path, packed.getbuffer())
