"""The command `rtolab mcp`."""

from importlib.util import find_spec

from rtolab._rtolab import Error


def mcp() -> None:
    """Serve diagnose, what-if, run and explain as tools of an assistant (MCP), over stdio.

    An assistant starts this command by itself; the guide has its configuration.
    """
    if find_spec("mcp") is None:
        raise Error("mcp is missing; install the extra:  pip install 'rtolab[mcp]'")
    from rtolab.mcp import server  # noqa: PLC0415

    server().run()
