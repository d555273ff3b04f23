"""Source files of prototypes."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from rtolab._rtolab import Error, PrototypeError
from rtolab.prototype import Detector, Prototype, Response, Stage


@dataclass(frozen=True)
class Source:
    """The source of a prototype, with the text of its file at the time of reading.

    A different text is a different prototype. The source can be sent to another machine; the file
    need not exist there, but its imports must.

    Attributes:
        file: a path, or the name of a module.
        kind: the name of the class.
        text: the content of the file.
    """

    file: str
    kind: str
    text: str

    @classmethod
    def read(cls, place: str, folder: Path | None = None) -> Source:
        """Reads the file of a prototype.

        Args:
            place: `early.py:Early`, or `package.module:Early` for a module.
            folder: the base of relative paths; by default the current one.

        Raises:
            PrototypeError: `place` has another form, or the file or module does not exist.
        """
        file, _, kind = place.rpartition(":")
        if not file or not kind.isidentifier():
            raise PrototypeError(f"found {place}; expected a file and a class: early.py:Early")
        if not file.endswith(".py"):
            return cls(file, kind, _module_text(file))
        path = (folder or Path()) / file
        try:
            return cls(str(path), kind, path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise PrototypeError(f"{path}: {why}; expected a file with a prototype") from None

    def load(self) -> type[Prototype]:
        """The class; raises PrototypeError if it is missing, or if the file raises."""
        found = getattr(_module(self.file, self.text), self.kind, None)
        if isinstance(found, type) and issubclass(found, (Detector, Response, Stage)):
            return found
        expected = "rtolab.Detector, Response or Stage"
        raise PrototypeError(f"{self.file}: found no class {self.kind} under {expected}")


def load(place: str) -> type[Prototype]:
    """The class at a place such as `early.py:Early`; raises PrototypeError as `Source`."""
    return Source.read(place).load()


@cache
def _module(file: str, text: str) -> ModuleType:
    """The module of a file, executed once per text."""
    try:
        if not file.endswith(".py"):
            return importlib.import_module(file)
        name = f"rtolab_prototype_{hashlib.sha256(f'{file}:{text}'.encode()).hexdigest()}"
        spec = importlib.util.spec_from_loader(name, loader=None, origin=file)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        module.__file__ = file
        sys.modules[name] = module  # Where dataclasses and copies look for their module.
        exec(compile(text, file, "exec"), module.__dict__)  # noqa: S102  (the user's own file)
    except Error:
        raise
    except Exception as error:
        raise PrototypeError(f"{file}: {type(error).__name__}: {error}") from error
    return module


def _module_text(name: str) -> str:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        expected = "expected a file such as early.py, or a module that can be imported"
        raise PrototypeError(f"found no module {name}; {expected}")
    return Path(spec.origin).read_text(encoding="utf-8")
