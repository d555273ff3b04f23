"""Names of prototypes."""

import re


class NamedPrototype:
    """A class with a name, by default its own in kebab case.

    Attributes:
        name: its name in specifications and scenarios.
    """

    name: str

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
