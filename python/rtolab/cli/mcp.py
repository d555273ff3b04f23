"""The command `rtolab mcp`."""

import sys

from rtolab._rtolab import Error

NEEDED = "mcp>=2.3,<3"


def mcp() -> None:
    """Serve diagnose, what-if, run and explain as tools of an assistant (MCP), over stdio.

    An assistant starts this command by itself; the guide has its configuration.
    """
    try:
        from rtolab.mcp import server  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(("mcp", "pydantic")):
            raise
        raise Error(
            f"{error.name} is missing; install what the tools need:  "
            f"{sys.executable} -m pip install '{NEEDED}'"
        ) from None

    server().run()
