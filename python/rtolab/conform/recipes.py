"""Recipes of stacks: how to build a client and a server on a stack, and how to run them.

A recipe is a folder with a `stack.toml`. rtolab's own are in the folder `stacks` of its source
tree, and not in the wheel.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from rtolab._rtolab import Error, suggest
from rtolab.conform.run import Stack

FILE = "stack.toml"
"""The file of a recipe."""
KERNEL = "linux"
"""The name of the kernel's own TCP, which needs no recipe."""
HERE = "{stack}"
"""What stands for the folder of the built stack in its commands."""
FAILURE_LINES = 20
"""The last lines of a failed build that its error shows."""
_BUILT = ".built"
_KINDS: dict[str, tuple[type, ...]] = {
    "title": (str,),
    "build": (str,),
    "programs": (dict,),
    "server": (str,),
    "client": (str,),
    "set": (dict,),
}
_REQUIRED = ("title", "server", "client")
_OF_BUILDS = ("target", "venv", "__pycache__")


@dataclass(frozen=True)
class Recipe:
    """A recipe.

    Attributes:
        name: the name of its folder.
        folder: its folder.
        title: the stack and its version, as results name it.
        server: a command line for `sh`, as of `conform --server`; `{stack}` is the folder of the
            built stack.
        client: the command line of the client, likewise.
        build: a command line for `sh` that builds the stack in its folder; empty for none.
        programs: the programs that it needs, each with what installs it.
        set: kernel settings, by dotted key.
    """

    name: str
    folder: Path
    title: str
    server: str
    client: str
    build: str = ""
    programs: Mapping[str, str] = field(default_factory=dict)
    set: Mapping[str, object] = field(default_factory=dict)

    def stack(self, folder: Path) -> Stack:
        """The stack as it was built in a folder."""
        server, client = (line.replace(HERE, str(folder)) for line in (self.server, self.client))
        return Stack(self.title, dict(self.set), server, shlex.split(client))


def known() -> dict[str, Path]:
    """The folders of rtolab's own recipes, by name; none without its source tree."""
    folder = Path(__file__).resolve().parents[3] / "stacks"
    return {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{FILE}"))}


def find(which: str) -> Recipe:
    """The recipe of a name, or of a path: that of its folder or of its `stack.toml`.

    `linux` is the TCP of the kernel that runs; its recipe has no commands and no title.

    Raises:
        Error: there is none, or it is invalid.
        OSError: it cannot be read.
    """
    path, own = Path(which), known()
    if which == KERNEL:
        return Recipe(KERNEL, path, title="", server="", client="")
    if which in own:
        return read(own[which] / FILE)
    if path.is_dir():
        path /= FILE
    if path.name.endswith(".toml") and path.is_file():
        return read(path)
    if not own:
        raise Error(
            f"--stack {which}: found no such file; rtolab's own recipes are in the folder "
            "`stacks` of its source tree: copy it, and name the path of a recipe"
        )
    near = suggest(which, [KERNEL, *own])
    raise Error(f"--stack {which}: expected the path of a {FILE}, or {near}")


def read(path: Path) -> Recipe:
    """Read a `stack.toml`.

    Raises:
        Error: it is no TOML, or a key is unknown, missing or has another type.
        OSError: it cannot be read.
    """
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Error(f"{path}: {error}") from error
    for key, value in found.items():
        if key not in _KINDS:
            raise Error(f"{path}: found the key {key}; expected {suggest(key, [*_KINDS])}")
        if not isinstance(value, _KINDS[key]):
            kind = "a string" if _KINDS[key] == (str,) else "a table"
            raise Error(f"{path}: {key}: found {value!r}; expected {kind}")
    for key in _REQUIRED:
        if not found.get(key):
            raise Error(f"{path}: {key} is missing")
    for program, how in found.get("programs", {}).items():
        if not isinstance(how, str):
            raise Error(f"{path}: programs.{program}: found {how!r}; expected what installs it")
    folder = path.resolve().parent
    try:
        shlex.split(found["client"])
    except ValueError as error:
        raise Error(f"{path}: client: {error}") from error
    return Recipe(folder.name, folder, **found | {"set": _dotted(found.get("set", {}))})


def _dotted(tables: Mapping[str, Any], before: str = "") -> dict[str, object]:
    values: dict[str, object] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            values |= _dotted(value, f"{before}{key}.")
        else:
            values[f"{before}{key}"] = value
    return values


def cache() -> Path:
    """The folder of built stacks."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "rtolab" / "stacks"


def shown(stack: Stack) -> dict[str, str]:
    """The commands of a stack as results show them, without the folder of a built one."""
    commands = {"server": stack.server, "client": shlex.join(stack.client)}
    built = re.escape(str(cache())) + r"/[^/ ]+"
    return {name: re.sub(built, HERE, line.strip()) for name, line in commands.items()}


def build(recipe: Recipe, say: Callable[[str], object] = lambda _: None) -> Stack:
    """Build a stack in the cache, unless it is there as its recipe stands now.

    Args:
        recipe: its recipe.
        say: called with what is done next.

    Raises:
        Error: a program is missing, or the build fails; its last lines are shown.
        OSError: the cache cannot be written.
    """
    missing = [how for name, how in recipe.programs.items() if not shutil.which(name)]
    if missing:
        raise Error(f"{recipe.title} needs other programs: {'; '.join(missing)}")
    if not recipe.build:
        return recipe.stack(recipe.folder)
    folder = cache() / f"{recipe.name}-{_digest(recipe.folder)[:12]}"
    cache().mkdir(parents=True, exist_ok=True)
    with _locked(cache() / f"{recipe.name}.lock"):
        if not (folder / _BUILT).is_file():
            say(f"building {recipe.title}")
            _build(recipe, folder)
    return recipe.stack(folder)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Waits until no other process builds this stack."""
    with path.open("w") as file:
        # Windows has no such locks, and no guests.
        if sys.platform != "win32":
            import fcntl  # noqa: PLC0415

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(recipe: Recipe, folder: Path) -> None:
    for other in cache().glob(f"{recipe.name}-" + "?" * 12):
        shutil.rmtree(other)
    shutil.copytree(recipe.folder, folder, ignore=shutil.ignore_patterns(*_OF_BUILDS))
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        words = ["sh", "-c", recipe.build]
        done = subprocess.run(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
        )
        if done.returncode:
            log.seek(0)
            last = "\n".join(f"  {line.rstrip()}" for line in log.readlines()[-FAILURE_LINES:])
            raise Error(
                f"{recipe.title} cannot be built: `{recipe.build}` in {folder} ended with exit "
                f"code {done.returncode}; its last lines:\n{last}"
            )
    (folder / _BUILT).touch()


def _digest(folder: Path) -> str:
    """A digest of the files of a recipe."""
    found = sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not set(inside.parts) & set(_OF_BUILDS):
            found.update(f"{inside}\0{path.stat().st_size}\0".encode())
            found.update(path.read_bytes())
    return found.hexdigest()
