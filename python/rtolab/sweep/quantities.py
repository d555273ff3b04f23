"""Numbers of quantities that are written with a unit, such as `100 ms`."""

import re
from collections.abc import Sequence
from decimal import Decimal

UNITS = {
    "ns": ("s", Decimal("1e-9")),
    "us": ("s", Decimal("1e-6")),
    "µs": ("s", Decimal("1e-6")),
    "ms": ("s", Decimal("1e-3")),
    "s": ("s", Decimal(1)),
    "min": ("s", Decimal(60)),
    "h": ("s", Decimal(3600)),
    "bit/s": ("bps", Decimal(1)),
    "kbit/s": ("bps", Decimal(10**3)),
    "Mbit/s": ("bps", Decimal(10**6)),
    "Gbit/s": ("bps", Decimal(10**9)),
    "B": ("bytes", Decimal(1)),
    "kB": ("bytes", Decimal(10**3)),
    "MB": ("bytes", Decimal(10**6)),
    "GB": ("bytes", Decimal(10**9)),
    "KiB": ("bytes", Decimal(2**10)),
    "MiB": ("bytes", Decimal(2**20)),
    "GiB": ("bytes", Decimal(2**30)),
}
"""The units of scenarios, each with the suffix of a column in base units and its size in these."""
QUANTITY = re.compile(rf"(\d+(?:\.\d+)?) *({'|'.join(sorted(UNITS, key=len, reverse=True))})\b")


def numbers(texts: Sequence[str]) -> tuple[str, list[float]] | None:
    """The quantity in which the texts differ, in base units.

    Args:
        texts: TOML values such as `100 ms` or `{ constant = "1 s" }`.

    Returns:
        The suffix of a column, `s`, `bps` or `bytes`, with a number for each text; `None` unless
        the texts differ in one quantity only.
    """
    parts = [QUANTITY.split(text) for text in texts]
    if len({tuple(part[::3]) for part in parts}) != 1:
        return None
    written = zip(*(zip(part[1::3], part[2::3], strict=True) for part in parts), strict=True)
    found = [[_base(*quantity) for quantity in one] for one in written]
    varying = [one for one in found if len(set(one)) > 1] or found
    if len(varying) != 1 or len({suffix for suffix, _ in varying[0]}) != 1:
        return None
    return varying[0][0][0], [float(number) for _, number in varying[0]]


def canonical(text: str) -> str:
    """The text with its quantities in base units: `400 ms` and `0.4 s` are equal then."""

    def in_base(found: re.Match[str]) -> str:
        suffix, number = _base(*found.groups())
        return f"{number.normalize()} {suffix}"

    return QUANTITY.sub(in_base, text)


def base_number(text: str, suffix: str) -> float | None:
    """The number of a quantity in base units; `None` unless its unit is of this suffix."""
    found = QUANTITY.fullmatch(text.strip())
    if found is None:
        return None
    of, number = _base(*found.groups())
    return float(number) if of == suffix else None


def _base(number: str, unit: str) -> tuple[str, Decimal]:
    suffix, size = UNITS[unit]
    return suffix, Decimal(number) * size
