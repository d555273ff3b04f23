"""Words of messages."""


def counted(number: int, thing: str) -> str:
    """A number with its noun: `1 run`, `2 runs`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
