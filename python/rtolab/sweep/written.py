"""A TOML file with the lines of its keys, for error messages."""

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rtolab import _rtolab
from rtolab._rtolab import Error

Key = tuple[str, ...]

MOST_BYTES = 4 << 20
"""The largest file of a sweep, in bytes."""
LONGEST = 900
"""The longest part of a message, in characters."""
BARE = re.compile(r"[A-Za-z0-9_-]+")


class TomlFile:
    """A TOML file, read key by key.

    Attributes:
        file: its path.
        document: its content.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            with file.open("rb") as opened:
                # A device such as /dev/zero never ends.
                content = opened.read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                raise Error(f"{file}: found more than {MOST_BYTES >> 20} MiB; expected a sweep")
            text = content.decode()
            lines = _rtolab.lines(text, str(file))
            self.document = tomllib.loads(text)
        except FileNotFoundError:
            raise Error(f"{file}: found no such file; expected a sweep (TOML)") from None
        except IsADirectoryError:
            raise Error(f"{file}: found a directory; expected a sweep (TOML)") from None
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            found = f"found the byte 0x{error.object[error.start]:02x}; expected UTF-8 text"
            raise Error(f"{file}:{line}: {found}") from None
        except ValueError as error:
            # Python reads TOML 1.0, and rejects integers of thousands of digits.
            raise Error(f"{file}: not TOML: {error}") from None
        # A scenario key may be quoted as a whole: "link.a.loss".
        self._lines = {tuple(".".join(steps).split(".")): line for steps, line in reversed(lines)}

    def wrong(self, key: Key, problem: str) -> Error:
        """An error about `key`, with its line."""
        above = (key[:steps] for steps in range(len(key), 0, -1))
        line = next((self._lines[key] for key in above if key in self._lines), None)
        place = f"{self.file}:{line}" if line else str(self.file)
        return Error(f"{place}: {_cut(dotted(key))}: {_cut(problem)}")

    def only(self, table: Key, known: Collection[str]) -> None:
        """Raises Error if the table has any other keys."""
        for name in self.table(table):
            if name not in known:
                expected = _rtolab.suggest(name, [*known])
                raise self.wrong((*table, name), f"found an unknown key; expected {expected}")

    def table(self, key: Key) -> Mapping[str, Any]:
        """A table; an empty one if there is none."""
        found: Any = self.document
        for step in key:
            found = found.get(step, {})
        if not isinstance(found, dict):
            raise self.wrong(key, f"found {shown(found)}; expected a table")
        return found

    def text(self, key: Key) -> str | None:
        """A string that is not empty, or None."""
        found = self._value(key)
        if found is not None and (not isinstance(found, str) or not found.strip()):
            raise self.wrong(key, f"found {shown(found)}; expected a text")
        return found

    def texts(self, key: Key, example: str) -> tuple[str, ...]:
        """A list of different strings; empty if the key is absent."""
        found = self._value(key)
        if found is None:
            return ()
        if not isinstance(found, list) or not found:
            raise self.wrong(key, f"found {shown(found)}; expected a list such as {example}")
        for one in found:
            if not isinstance(one, str):
                expected = f"expected a list of texts such as {example}"
                raise self.wrong(key, f"found {shown(one)} in it; {expected}")
        self.once(key, found)
        return tuple(found)

    def once(self, key: Key, values: Sequence[Any]) -> None:
        """Raises Error if a value occurs twice, since its runs would, too."""
        seen = set()
        for value in values:
            # 1 and 1.0 have different texts, but are the same value of a scenario key.
            one = shown(float(value) if type(value) is int else value)
            if one in seen:
                raise self.wrong(key, f"found {shown(value)} twice; expected each value once")
            seen.add(one)

    def integer(self, key: Key, *, least: int, largest: int) -> int | None:
        """An integer from `least` to `largest`, or None."""
        found = self._value(key)
        if found is not None and (type(found) is not int or not least <= found <= largest):
            expected = f"expected an integer from {least} to {largest}"
            raise self.wrong(key, f"found {shown(found)}; {expected}")
        return found

    def number(self, key: Key) -> float | None:
        """A number above 0 and below infinity, or None."""
        found = self._value(key)
        if found is None:
            return None
        if type(found) not in (int, float) or not 0 < found < float("inf"):
            raise self.wrong(key, f"found {shown(found)}; expected a number above 0")
        return float(found)

    def _value(self, key: Key) -> Any:
        *table, last = key
        return self.table(tuple(table)).get(last)


def _cut(text: str) -> str:
    """The text with its middle cut out if it is too long for a message."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"


def dotted(key: Key) -> str:
    """A key as in messages and after --set."""
    return ".".join(key)


def shown(value: object) -> str:
    """A value as TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return "[" + ", ".join(map(shown, value)) + "]"
        case dict():
            keys = {key: key if BARE.fullmatch(key) else shown(key) for key in value}
            entries = (f"{keys[key]} = {shown(one)}" for key, one in value.items())
            return "{ " + ", ".join(entries) + " }"
        case int() if value.bit_length() > 64:
            return hex(value)  # Python refuses to print thousands of decimal digits.
        case _:
            return str(value)
