"""The commands of `rtolab`, for the man pages and the reference."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer

from rtolab.cli import app


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes:
        name: the word after `rtolab`.
        usage: the rest of the usage line.
        about: the paragraphs of the description.
        parameters: the names, each with its meaning.
        examples: command lines.
    """

    name: str
    usage: str
    about: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    examples: tuple[str, ...]


def commands() -> Iterator[Command]:
    """All commands, in the order of `rtolab --help`."""
    root: Any = typer.main.get_command(app)
    for name, command in root.commands.items():
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        shown = [f"{_metavar(one)}" if one.required else f"[{_metavar(one)}]" for one in arguments]
        yield Command(
            name=name,
            usage=" ".join(["[OPTIONS]", *shown]),
            about=tuple(" ".join(part.split()) for part in (command.help or "").split("\n\n")),
            parameters=tuple((_names(one), _meaning(one)) for one in command.params),
            examples=tuple(re.findall(r"\[bold\](.*?)\[/bold\]", command.epilog or "", re.DOTALL)),
        )


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return _metavar(parameter)
    names = ", ".join((*parameter.opts, *parameter.secondary_opts))
    return names if parameter.is_flag else f"{names} {_metavar(parameter)}"


def _meaning(parameter: Any) -> str:
    meaning, default = str(parameter.help or ""), parameter.default
    if isinstance(parameter.show_default, str):
        return f"{meaning} Default: {parameter.show_default}."
    default = getattr(default, "value", default)
    if default in (None, "", False, (), []) or callable(default) or parameter.required:
        return meaning
    return f"{meaning} Default: {'yes' if default is True else default}."
