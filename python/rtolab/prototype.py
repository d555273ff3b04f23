"""Detectors written in Python: slower than those of the engine, and otherwise like them."""

from __future__ import annotations

import copy
import hashlib
import importlib
import importlib.util
import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rtolab._rtolab import Error, PrototypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from rtolab._rtolab import Ack, Episode, Sent


class Verdict(StrEnum):
    """What a detector says of a retransmission."""

    OPEN = "open"
    """Nothing yet; `None` says the same."""
    SPURIOUS = "spurious"
    """It was not needed: the original was only late."""
    GENUINE = "genuine"
    """No sign of that: it is taken for needed."""


@dataclass(frozen=True)
class Blind:
    """A verdict, too: what the sender did makes the question unanswerable.

    Attributes:
        why: the reason, one of a few, as the table `verdicts` shows it.
    """

    why: str


class Detector:
    """Was that retransmission wrong? The base of detectors that are written in Python.

    One object is made for each host of each run, without arguments, and is asked about one episode
    after the other: a timeout or fast retransmit, until data are acknowledged that were sent after
    its last retransmission. What it is to remember are attributes of the object. It may be copied
    with `copy.deepcopy` in the middle of a run, and must not depend on anything but what it is
    told: no clock, no random number.

    Times are whole nanoseconds since the run began; sequence numbers count from the SYN, which
    is 0.

    Attributes:
        name: by which it is known to `judge` and in senders; by default that of the class, in small
            letters.

    Example:
        >>> class Early(rtolab.Detector):
        ...     def on_ack(self, ack, episode):
        ...         if ack.is_new and episode.min_rtt:
        ...             early = 4 * (ack.at - episode.began) < episode.min_rtt
        ...             return Verdict.SPURIOUS if early else Verdict.GENUINE
        >>> result = rtolab.run("frto2002-delays", runs=20, judge=[Early, "eifel"])
    """

    name: str

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    def on_retransmission(self, sent: Sent, episode: Episode) -> None:
        """A segment was sent again in this episode, the first one included."""

    def on_probe(self, sent: Sent, episode: Episode) -> None:
        """A tail loss probe has sent a segment again, in this episode or before it."""

    def on_ack(self, ack: Ack, episode: Episode) -> Verdict | Blind | None:
        """An acknowledgment arrived in this episode, about which it has said nothing yet."""
        raise NotImplementedError

    def at_end(self, episode: Episode) -> Verdict | Blind | None:
        """The episode ends, and it has said nothing: what is left to say of it."""


METHODS = ("on_retransmission", "on_probe", "at_end")
"""Those that a detector may do without."""


@dataclass(frozen=True)
class Made:
    """A detector as the engine takes it.

    Attributes:
        name: its name.
        make: makes one that has seen nothing yet.
        methods: those that it has, of those that it may do without.
    """

    name: str
    make: Callable[[], Detector]
    methods: list[str]


def made(prototypes: Iterable[type[Detector] | Detector]) -> list[Made]:
    """The detectors as the engine takes them; of an object, copies of it.

    Raises:
        PrototypeError: one is no detector.
    """
    return [_made(one) for one in prototypes]


def _made(given: type[Detector] | Detector) -> Made:
    kind: type = given if isinstance(given, type) else type(given)
    if not issubclass(kind, Detector) or kind.on_ack is Detector.on_ack:
        expected = "expected a subclass of rtolab.Detector with a method on_ack"
        raise PrototypeError(f"{_shown(given)}: {expected}")
    methods = [name for name in METHODS if getattr(kind, name) is not getattr(Detector, name)]
    if isinstance(given, type):
        return Made(kind.name, given, methods)
    return Made(given.name, lambda: copy.deepcopy(given), methods)


def _shown(given: object) -> str:
    return given.__name__ if isinstance(given, type) else repr(given)


@dataclass(frozen=True)
class Source:
    """Where a detector is written, with the text as it was when it was read.

    Another text is another detector. It can be sent to another machine, where a file need not be;
    what the file imports must.

    Attributes:
        file: as it was named: a path, or the name of a module.
        kind: the name of the class in it.
        text: what the file holds.
    """

    file: str
    kind: str
    text: str

    @classmethod
    def read(cls, place: str, folder: Path | None = None) -> Source:
        """What is written at a place.

        Args:
            place: `early.py:Early`, or `package.module:Early` for what can be imported.
            folder: what a path is relative to; by default the current one.

        Raises:
            PrototypeError: it is no such place, or there is no such file or module.
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
            raise PrototypeError(f"{path}: {why}; expected a file with a detector") from None

    def load(self) -> type[Detector]:
        """The class.

        Raises:
            PrototypeError: there is none, or the file raises when it is executed.
        """
        found = getattr(_module(self.file, self.text), self.kind, None)
        if isinstance(found, type) and issubclass(found, Detector):
            return found
        raise PrototypeError(f"{self.file}: found no class {self.kind} under rtolab.Detector")


def load(place: str) -> type[Detector]:
    """The detector that is written at a place such as `early.py:Early`.

    Raises:
        PrototypeError: there is none, or the file raises when it is executed.
    """
    return Source.read(place).load()


@cache
def _module(file: str, text: str) -> ModuleType:
    """The file, executed once for each text."""
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
