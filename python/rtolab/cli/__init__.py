"""The command line: a module a command, `commands` over all of them."""

from rtolab.cli.commands import app, main

__all__ = ["app", "main"]
