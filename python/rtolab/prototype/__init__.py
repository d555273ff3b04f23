"""Detectors, responses and stages written in Python.

They are slower than those of the engine, and otherwise like them.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rtolab._rtolab import PrototypeError
from rtolab.prototype.detector import Blind, Detector, Verdict
from rtolab.prototype.response import Response, ResponseAction
from rtolab.prototype.stage import FrameAction, Hold, Stage

Prototype = Detector | Response | Stage

Given = type[Detector] | type[Response] | type[Stage] | Prototype
"""A class, or an object of it if it has parameters."""

__all__ = [
    "Blind",
    "Detector",
    "FrameAction",
    "Hold",
    "Made",
    "Response",
    "ResponseAction",
    "Stage",
    "Verdict",
    "made",
]


@dataclass(frozen=True)
class PrototypeKind:
    """A kind of prototype.

    Attributes:
        kind: its name in the engine.
        base: the base class.
        needed: the required method.
        methods: the optional methods.
    """

    kind: str
    base: type[Prototype]
    needed: str
    methods: tuple[str, ...] = ()


BASES = (
    PrototypeKind("detector", Detector, "on_ack", ("on_retransmission", "on_probe", "at_end")),
    PrototypeKind("response", Response, "on_spurious", ("on_genuine",)),
    PrototypeKind("stage", Stage, "on_frame"),
)


@dataclass(frozen=True)
class EnginePrototype:
    """A prototype in the form that the engine expects.

    Attributes:
        name: its name.
        kind: "detector", "response" or "stage".
        make: creates a new object.
        methods: the optional methods that it has.
    """

    name: str
    kind: str
    make: Callable[[], Prototype]
    methods: list[str]


def made(prototypes: Iterable[Given]) -> list[EnginePrototype]:
    """The prototypes in the form that the engine expects; objects are copied.

    Raises:
        PrototypeError: one is not a prototype.
    """
    return [_made(one) for one in prototypes]


def _made(given: Given) -> EnginePrototype:
    kind = given if isinstance(given, type) else type(given)
    base = _base(kind)
    if not isinstance(given.name, str):
        raise PrototypeError(f"{kind.__name__}.name: found {given.name!r}; expected a string")
    methods = [name for name in base.methods if _has(kind, base, name)]
    if isinstance(given, type):
        return EnginePrototype(kind.name, base.kind, given, methods)
    return EnginePrototype(given.name, base.kind, lambda: copy.deepcopy(given), methods)


def _base(kind: type) -> PrototypeKind:
    """The kind of a class; raises PrototypeError if it lacks the required method."""
    bases = [base for base in BASES if issubclass(kind, base.base)] or BASES
    for base in bases:
        if issubclass(kind, base.base) and _has(kind, base, base.needed):
            return base
    expected = " or ".join(f"rtolab.{base.base.__name__} with {base.needed}" for base in bases)
    raise PrototypeError(f"{kind.__name__}: expected a subclass of {expected}")


def _has(kind: type, base: PrototypeKind, method: str) -> bool:
    return getattr(kind, method) is not getattr(base.base, method)
