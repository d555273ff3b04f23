"""Words of messages."""

from collections.abc import Mapping

CONTROL_PICTURES = 0x2400
"""The first of Unicode's pictures of control characters."""
DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Characters that change the direction of a text."""
_SHOWN: Mapping[int, int] = {
    **{code: CONTROL_PICTURES + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys([*range(0x80, 0xA0), *DIRECTIONS], 0xFFFD),
}


def counted(number: int, thing: str) -> str:
    """A number with its noun: `1 run`, `2 runs`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def visible(text: str) -> str:
    """The text with its control characters as pictures, so that none of them acts on a terminal.

    Names of files, texts of scenarios and strings in captures can hold such characters. Tabs and
    ends of lines stay.
    """
    return text if text.isprintable() else text.translate(_SHOWN)
