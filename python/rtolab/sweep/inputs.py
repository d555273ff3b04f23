"""Snapshot of a scenario and of the files that it names, taken when a sweep begins.

Workers receive the snapshot. Edits during the sweep have no effect, and workers on other machines
need no shared folder.
"""

import atexit
import hashlib
import json
import os
import shutil
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtolab._rtolab import Error
from rtolab.sweep.definition import Sweep


@dataclass(frozen=True)
class Inputs:
    """The files that runs read.

    Attributes:
        root: the folder of the files, for messages.
        files: their contents, by path relative to the folder, the scenario first.
        key: a hash of the contents.
    """

    root: str
    files: tuple[tuple[str, bytes], ...]
    key: str

    def unpacked(self) -> Path:
        """The path of the scenario in a temporary folder, with the files that it names."""
        with _lock:
            if self.files not in _folders:
                _folders[self.files] = self._unpack()
        return self._below(_folders[self.files]) / self.files[0][0]

    def place(self, message: str) -> str:
        """A message with the original paths of the files."""
        folder = _folders.get(self.files)
        return message.replace(str(self._below(folder)), self.root) if folder else message

    def _unpack(self) -> str:
        folder = tempfile.mkdtemp(prefix="rtolab-sweep-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, content in self.files:
            path = self._below(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder

    @staticmethod
    def _below(folder: str) -> Path:
        return Path(folder) / "inputs"


_lock = threading.Lock()
_folders: dict[tuple[tuple[str, bytes], ...], str] = {}


def inputs(sweep: Sweep) -> Inputs:
    """The files that a sweep reads.

    Every string in the scenario or in the set values that is the relative path of a file counts,
    so there may be too many files, but never too few.

    Raises:
        Error: a file has an absolute path, which may not exist on another machine.
        OSError: a file cannot be read.
    """
    scenario = Path(os.path.abspath(sweep.scenario))  # noqa: PTH100  (links are not followed)
    try:
        named = set(_texts(tomllib.loads(scenario.read_text(encoding="utf-8"))))
    except tomllib.TOMLDecodeError as error:
        raise Error(f"{sweep.scenario}: {error}; expected TOML 1.0") from None
    for value in {value for point in sweep.points for _, value in point.set}:
        named |= set(_texts(tomllib.loads(f"value = {value}")))
    beside = {name: path for name in sorted(named) if (path := _file(scenario.parent, name))}
    for name in beside:
        if Path(name).is_absolute():
            expected = "expected a path relative to the scenario: the file is sent with it"
            raise Error(f"{sweep.scenario}: found the absolute path {name}; {expected}")
    root = os.path.commonpath([scenario.parent, *(path.parent for path in beside.values())])
    paths = dict.fromkeys([scenario, *beside.values()])
    files = tuple((os.path.relpath(path, root), path.read_bytes()) for path in paths)
    contents = {str(path): _hash(content) for path, (_, content) in zip(paths, files, strict=True)}
    read = {name: contents[str(path)] for name, path in beside.items()}
    key = _hash(json.dumps([contents[str(scenario)], read], sort_keys=True).encode())
    return Inputs(root, files, key)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from _texts(one)
        case dict():
            for one in value.values():
                yield from _texts(one)


def _file(folder: Path, name: str) -> Path | None:
    path = Path(os.path.normpath(folder / name))
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):  # Too long for a path, or contains a zero byte.
        return None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
