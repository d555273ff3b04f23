"""The command line: a module for each large command; `commands` has the others and the entry."""

from rtolab.cli.commands import app, main

__all__ = ["app", "main"]
