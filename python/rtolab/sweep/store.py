"""The folder of a sweep: finished chunks, failures, and a manifest.

    chunks/KEY/             a finished chunk: a Parquet file per table, and a record
    set-aside/KEY/          finished chunks that the current definition does not contain
    failures/KEY.json       the error of a failed chunk
    manifest.json           the finished chunks in the order of the sweep

A chunk is written into `unfinished/`, that of a shard into a folder of its own there. Its folder is
then renamed, so that `chunks/` contains only complete chunks. The system writes them to disk later.
If the power fails before, a file is empty or ends too early, and the chunk counts as unfinished.

A sweep locks the folder for itself. Shards share that lock, and each has another one of its own.
"""

import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from rtolab._rtolab import Error
from rtolab.sweep.chunks import PlannedChunk
from rtolab.sweep.compute import ChunkFiles
from rtolab.sweep.shard import Shard

_NAME = re.compile(r"[\w-]+", re.ASCII)
RECORD, MANIFEST, LOCK = "chunk.json", "manifest.json", "lock"
PARQUET_END = b"PAR1"


class NotKeptError(Error):
    """A result cannot be written: the disk is full, or the folder is not writable."""


@dataclass(frozen=True)
class Failure:
    """A chunk that failed.

    Attributes:
        key: of the chunk.
        about: a short description of the chunk.
        error: the message.
    """

    key: str
    about: str
    error: str


class Store:
    """The folder of a sweep, for one process with any number of threads.

    Attributes:
        out: the folder.
        shard: the part of the sweep that the process computes; None for the whole.
    """

    def __init__(self, out: Path, shard: Shard | None = None) -> None:
        self.out, self.shard = out, shard
        self._chunks, self._aside = out / "chunks", out / "set-aside"
        self._failures, self._shards = out / "failures", out / "unfinished"
        self._unfinished = self._shards / shard.name if shard else self._shards

    @contextmanager
    def opened(self, workers: int) -> Iterator[None]:
        """Creates and locks the folder, or a shard's part; `workers` is shown by `status`.

        Raises:
            NotKeptError: it cannot be created or written, or another process has locked it.
        """
        with _keeping(self.out, "the folder of the sweep"):
            for folder in (self._chunks, self._aside, self._failures):
                folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as locks:
            other = "another `rtolab sweep` is at work here"
            if self.shard is None:
                lock = self._lock(locks, self.out / LOCK, fcntl.LOCK_EX, other)
            else:
                self._lock(locks, self.out / LOCK, fcntl.LOCK_SH, f"{other}, without --shard")
                with _keeping(self.out, "the folder of the shards"):
                    self._shards.mkdir(exist_ok=True)
                mine, number = self._shards / f"{self.shard.name}.lock", self.shard.number
                other = f"another process computes shard {number}/{self.shard.of} here"
                lock = self._lock(locks, mine, fcntl.LOCK_EX, other)
            with _keeping(self.out, "the folder of the sweep"):
                lock.truncate(0)
                lock.write(str(workers).encode())
                shutil.rmtree(self._unfinished, ignore_errors=True)
                self._unfinished.mkdir()
            yield
            with suppress(OSError):
                self._unfinished.rmdir()

    def _lock(self, locks: ExitStack, path: Path, how: int, other: str) -> IO[bytes]:
        """Opens and locks a file; `other` is the error if another process has locked it."""
        with _keeping(self.out, "the folder of the sweep"):
            # Unbuffered, so that a failed write raises here and not on close. NFS grants a shared
            # lock only to a file that is also read.
            lock = locks.enter_context(path.open("ab+", buffering=0))
        try:
            free = _locked(lock, how)
        except OSError as error:
            expected = "expected a file system with locks, as NFS 4, or Lustre with -o flock"
            raise NotKeptError(f"{path}: {error.strerror or error}; {expected}") from error
        if not free:
            raise NotKeptError(f"{self.out}: {other}")
        return lock

    def workers(self) -> int:
        """The number of workers of the processes that have locked the folder."""
        return _workers(self.out / LOCK) or sum(map(_workers, self._shards.glob("*.lock")))

    def has(self, planned: PlannedChunk) -> bool:
        """Is the chunk finished?"""
        return self._whole(self._chunks / planned.key, planned)

    def is_kept(self, planned: PlannedChunk) -> bool:
        """Is the chunk finished, or set aside, so that the next run moves it back?"""
        return self._place(planned) is not None

    def fetch(self, planned: PlannedChunk) -> bool:
        """Is the chunk finished? Moves it back if it was set aside."""
        if self.has(planned):
            return True
        aside, place = self._aside / planned.key, self._chunks / planned.key
        with _keeping(self.out, planned.chunk.about):
            shutil.rmtree(place, ignore_errors=True)  # Somebody has removed a file.
            if self._whole(aside, planned):
                aside.rename(place)
                return True
        return False

    def write(self, planned: PlannedChunk, packed: ChunkFiles) -> None:
        """Write a chunk into `unfinished/`, and move it into `chunks/`.

        Raises:
            NotKeptError: it cannot be written; its files are removed.
        """
        chunk = planned.chunk
        record = {
            "set": dict(chunk.set),
            "sender": chunk.sender,
            "seeds": [chunk.seeds[0], chunk.seeds[-1]],
            "seconds": round(packed.seconds, 3),
        }
        folder = self._unfinished / planned.key
        with _keeping(self.out, chunk.about):
            try:
                folder.mkdir(exist_ok=True)
                for name, content in packed.files.items():
                    _write(folder / f"{name}.parquet", content)
                _write(folder / RECORD, json.dumps(record).encode())
                self._finish(planned, folder)
            except OSError:
                shutil.rmtree(folder, ignore_errors=True)
                raise

    def _finish(self, planned: PlannedChunk, folder: Path) -> None:
        try:
            folder.rename(self._chunks / planned.key)
        except OSError:
            # With another number of shards, two may have the same chunk.
            if not self.has(planned):
                raise
            shutil.rmtree(folder)
        self._failure(planned).unlink(missing_ok=True)

    def fail(self, planned: PlannedChunk, error: str) -> None:
        """Record the error of a chunk."""
        record = {"about": planned.chunk.about, "error": error}
        with _keeping(self.out, planned.chunk.about):
            _write_whole(self._failure(planned), json.dumps(record))

    def failure(self, planned: PlannedChunk) -> Failure | None:
        """The error of the last attempt at a chunk."""
        record = _read(self._failure(planned))
        return Failure(planned.key, record["about"], record["error"]) if record else None

    def column(self, planned: PlannedChunk, table: str, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of a chunk that is kept."""
        folder = self._place(planned) or self._chunks / planned.key
        return pl.read_parquet(folder / f"{table}.parquet", columns=list(columns), glob=False)

    def seconds(self, planned: PlannedChunk) -> float:
        """The time that a chunk that is kept took to compute."""
        folder = self._place(planned) or self._chunks / planned.key
        return float(_read(folder / RECORD).get("seconds", 0.0))

    def write_manifest(self, chunks: Sequence[PlannedChunk], facts: Mapping[str, Any]) -> None:
        """Write the manifest of the finished chunks."""
        manifest = {**facts, "chunks": [planned.key for planned in chunks]}
        with _keeping(self.out, MANIFEST):
            _write_whole(self.out / MANIFEST, json.dumps(manifest, indent=1) + "\n")

    def set_aside(self, used: Collection[str]) -> None:
        """Move all other chunks out of `chunks/`, and delete the records of old failures."""
        with _keeping(self.out, str(self._aside)):
            for left in self._chunks.iterdir():
                if left.name not in used:
                    shutil.rmtree(self._aside / left.name, ignore_errors=True)
                    left.rename(self._aside / left.name)

    def _place(self, planned: PlannedChunk) -> Path | None:
        """The folder of a chunk that is kept."""
        places = (self._chunks / planned.key, self._aside / planned.key)
        return next((place for place in places if self._whole(place, planned)), None)

    def _whole(self, folder: Path, planned: PlannedChunk) -> bool:
        return all(_is_whole(folder / f"{table}.parquet") for table in planned.chunk.tables)

    def _failure(self, planned: PlannedChunk) -> Path:
        return self._failures / f"{planned.key}.json"


def manifest(out: Path) -> dict[str, Any]:
    """The manifest of a sweep's folder."""
    found = _read(out / MANIFEST)
    if not found:
        expected = "expected the folder of a sweep that has ended, and whose shards are joined"
        raise Error(f"{out}: found no {MANIFEST}; {expected}")
    for name in ("tables", "chunks"):
        # They become paths: others may have written the manifest.
        values = found.get(name)
        values = values if isinstance(values, list) else [values]
        strange = [one for one in values if not isinstance(one, str) or not _NAME.fullmatch(one)]
        if strange:
            place = f"{out / MANIFEST}: {name}"
            raise Error(f"{place}: found {ascii(strange[0])[:60]}; expected names as in `chunks/`")
    return found


def read(out: str | Path, table: str = "connections") -> pl.LazyFrame:
    """A table of a sweep: its finished chunks, in the order of the sweep.

    Args:
        out: the folder of the sweep.
        table: one that the sweep stores.

    Raises:
        Error: there is no such sweep or table.
    """
    found = manifest(Path(out))
    if table not in found["tables"]:
        raise Error(f"no table `{table}`: the sweep keeps {', '.join(found['tables'])}")
    files = [Path(out) / "chunks" / key / f"{table}.parquet" for key in found["chunks"]]
    if not files:
        raise Error(f"{out}: no chunk of the sweep is finished")
    if damaged := next((file for file in files if not _is_whole(file)), None):
        again = "the command that made the folder computes it again"
        raise Error(f"{damaged} cannot be read: it is no complete Parquet file; {again}")
    return pl.scan_parquet(files, glob=False)


def tables(out: str | Path) -> tuple[str, ...]:
    """The names of the tables that a sweep keeps."""
    return tuple(manifest(Path(out))["tables"])


@contextmanager
def _keeping(out: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotKeptError(f"{out}: {what} cannot be written: {error.strerror or error}") from error


def _workers(lock: Path) -> int:
    """The number of workers of the process that has locked a file for itself; 0 if there is none.

    A shared lock has no number.
    """
    try:
        with lock.open(encoding="utf-8") as opened:
            try:
                fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(opened.read() or "1")
    except (OSError, ValueError):
        pass
    return 0


def _locked(lock: IO[bytes], how: int) -> bool:
    """Takes the lock if it is free; a caller that only tests it releases it at once."""
    for pause in (0.05, 0.05, 0.0):
        try:
            fcntl.flock(lock, how | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(pause)
        else:
            return True
    return False


def _write(path: Path, content: bytes | memoryview) -> None:
    with path.open("wb") as file:
        file.write(content)


def _is_whole(path: Path) -> bool:
    """Does a Parquet file end as one?"""
    try:
        with path.open("rb") as file:
            file.seek(-len(PARQUET_END), os.SEEK_END)
            return file.read() == PARQUET_END
    except OSError:
        return False


def _write_whole(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.unfinished")
    with unfinished.open("wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
