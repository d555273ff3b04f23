"""What prototypes have in common: a name."""

import re


class Named:
    """A class that is known by a name: its own in small letters, unless it says another.

    Attributes:
        name: by which it is known to the laboratory.
    """

    name: str

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
