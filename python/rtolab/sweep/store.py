"""The folder of a sweep: its finished chunks, its failures, and a manifest of what it holds.

    chunks/KEY/             a finished chunk: one Parquet file a table, and what it is
    set-aside/KEY/          finished chunks that the sweep as it is now has no place for
    failures/KEY.json       what went wrong
    manifest.json           the finished chunks in the order of the sweep

A chunk is written into `unfinished/` and its folder renamed when all of it is on the disk, so that
it is in `chunks/` whole or not at all.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from rtolab._rtolab import Error
from rtolab.sweep.chunks import Piece
from rtolab.sweep.compute import Packed

RECORD, MANIFEST, LOCK = "chunk.json", "manifest.json", "lock"


class NotKeptError(Error):
    """A result cannot be written: the disk is full, or the folder not ours."""


@dataclass(frozen=True)
class Failure:
    """A chunk that could not be computed.

    Attributes:
        key: of the chunk.
        about: the chunk in a few words.
        error: what went wrong.
    """

    key: str
    about: str
    error: str


class Store:
    """The folder of a sweep; several threads may use it at a time, and one process.

    Attributes:
        out: the folder.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self._chunks, self._aside = out / "chunks", out / "set-aside"
        self._failures, self._unfinished = out / "failures", out / "unfinished"

    @contextmanager
    def opened(self, workers: int) -> Iterator[None]:
        """The folder made, and this process's alone; `workers` says how many are at work.

        Raises:
            NotKeptError: it cannot be made or written, or another process is at work in it.
        """
        with _keeping(self.out, "the folder of the sweep"):
            for folder in (self._chunks, self._aside, self._failures):
                folder.mkdir(parents=True, exist_ok=True)
            # Without a buffer: what cannot be written is told here, not when it is closed.
            lock = (self.out / LOCK).open("ab", buffering=0)
        with lock:
            if not _locked(lock):
                raise NotKeptError(f"{self.out}: another `rtolab sweep` is at work here")
            with _keeping(self.out, "the folder of the sweep"):
                lock.truncate(0)
                lock.write(str(workers).encode())
                shutil.rmtree(self._unfinished, ignore_errors=True)
                self._unfinished.mkdir()
            yield
            with suppress(OSError):
                self._unfinished.rmdir()

    def workers(self) -> int:
        """How many workers of another process are at work here; 0 if there is none."""
        try:
            with (self.out / LOCK).open(encoding="utf-8") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return int(lock.read() or "1")
        except (OSError, ValueError):
            pass
        return 0

    def has(self, piece: Piece) -> bool:
        """Is the chunk finished?"""
        return self._whole(self._chunks / piece.key, piece)

    def fetch(self, piece: Piece) -> bool:
        """Is the chunk finished? One that was set aside is taken back."""
        if self.has(piece):
            return True
        aside, place = self._aside / piece.key, self._chunks / piece.key
        with _keeping(self.out, piece.chunk.about):
            shutil.rmtree(place, ignore_errors=True)  # Somebody took a file out of it.
            if self._whole(aside, piece):
                aside.rename(place)
                return True
        return False

    def write(self, piece: Piece, packed: Packed) -> None:
        """Write a chunk where unfinished ones are.

        Raises:
            NotKeptError: it cannot be written; nothing is left of it.
        """
        chunk = piece.chunk
        record = {
            "set": dict(chunk.set),
            "sender": chunk.sender,
            "seeds": [chunk.seeds[0], chunk.seeds[-1]],
            "seconds": round(packed.seconds, 3),
        }
        with self._whole_or_not(piece) as folder:
            folder.mkdir(exist_ok=True)
            for name, content in packed.files.items():
                _write(folder / f"{name}.parquet", content)
            _write(folder / RECORD, json.dumps(record).encode())

    def finish(self, piece: Piece) -> None:
        """Wait until a chunk that was written is on the disk; then it is finished.

        Raises:
            NotKeptError: the disk does not take it; nothing is left of it.
        """
        with self._whole_or_not(piece) as folder:
            for file in folder.iterdir():
                _sync(file)
            folder.rename(self._chunks / piece.key)
            self._failure(piece).unlink(missing_ok=True)

    def fail(self, piece: Piece, error: str) -> None:
        """Record what went wrong with a chunk."""
        told = {"about": piece.chunk.about, "error": error}
        with _keeping(self.out, piece.chunk.about):
            _write_whole(self._failure(piece), json.dumps(told))

    def failure(self, piece: Piece) -> Failure | None:
        """What went wrong with a chunk when it was last tried."""
        told = _read(self._failure(piece))
        return Failure(piece.key, told["about"], told["error"]) if told else None

    def column(self, piece: Piece, table: str, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of a finished chunk."""
        return pl.read_parquet(
            self._chunks / piece.key / f"{table}.parquet", columns=list(columns), glob=False
        )

    def seconds(self, piece: Piece) -> float:
        """How long a finished chunk took to compute."""
        return float(_read(self._chunks / piece.key / RECORD).get("seconds", 0.0))

    def write_manifest(self, pieces: Sequence[Piece], facts: Mapping[str, Any]) -> None:
        """Write what there is of the sweep."""
        manifest = {**facts, "chunks": [piece.key for piece in pieces]}
        with _keeping(self.out, MANIFEST):
            _write_whole(self.out / MANIFEST, json.dumps(manifest, indent=1) + "\n")

    def set_aside(self, used: Collection[str]) -> None:
        """Move all other chunks out of the way of who reads `chunks/`, and forget old failures."""
        with _keeping(self.out, str(self._aside)):
            for left in self._chunks.iterdir():
                if left.name not in used:
                    shutil.rmtree(self._aside / left.name, ignore_errors=True)
                    left.rename(self._aside / left.name)

    @contextmanager
    def _whole_or_not(self, piece: Piece) -> Iterator[Path]:
        folder = self._unfinished / piece.key
        with _keeping(self.out, piece.chunk.about):
            try:
                yield folder
            except OSError:
                shutil.rmtree(folder, ignore_errors=True)
                raise

    def _whole(self, folder: Path, piece: Piece) -> bool:
        return all((folder / f"{table}.parquet").is_file() for table in piece.chunk.tables)

    def _failure(self, piece: Piece) -> Path:
        return self._failures / f"{piece.key}.json"


def manifest(out: Path) -> dict[str, Any]:
    """The manifest of a sweep's folder.

    Raises:
        Error: there is none.
    """
    found = _read(out / MANIFEST)
    if not found:
        raise Error(f"{out}: found no {MANIFEST}; expected the folder of a sweep that has ended")
    return found


def read(out: str | Path, table: str = "connections") -> pl.LazyFrame:
    """A table of a sweep: its finished chunks, in the order of the sweep.

    Args:
        out: the folder of the sweep.
        table: one that the sweep keeps.

    Raises:
        Error: there is no such sweep or table.
    """
    found = manifest(Path(out))
    if table not in found["tables"]:
        raise Error(f"no table `{table}`: the sweep keeps {', '.join(found['tables'])}")
    files = [Path(out) / "chunks" / key / f"{table}.parquet" for key in found["chunks"]]
    if not files:
        raise Error(f"{out}: no chunk of the sweep is finished")
    return pl.scan_parquet(files, glob=False)


@contextmanager
def _keeping(out: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotKeptError(f"{out}: {what} cannot be written: {error.strerror or error}") from error


def _locked(lock: IO[bytes]) -> bool:
    """Is the lock ours now? Who only asks whether it is held, holds it for a moment."""
    for pause in (0.05, 0.05, 0.0):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(pause)
        else:
            return True
    return False


def _write(path: Path, content: bytes | memoryview) -> None:
    with path.open("wb") as file:
        file.write(content)


def _sync(path: Path) -> None:
    """Wait until a file is on the disk: only there does a network's file system find it full."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _write_whole(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.unfinished")
    _write(unfinished, text.encode())
    _sync(unfinished)
    unfinished.replace(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
