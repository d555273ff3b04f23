"""What tests share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

    from handmade_tables import Simulator
    from rtolab.serve.limits import Limits

pytest_plugins = ["browser_fixtures"]
"""What tests of the explorer in a browser share."""
RequireTool = Callable[[str, str], str]


@pytest.fixture(scope="session")
def require_tool() -> RequireTool:
    """Returns the path of a program, or skips the test; with CI set, a missing program fails it.

    The arguments are the program's name and the Debian package that has it.
    """

    def find(name: str, package: str) -> str:
        path = shutil.which(name)
        if path is not None:
            return path
        message = f"{name} is missing; install it:  sudo apt-get install {package}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)

    return find


@pytest.fixture
def hosts(require_tool: RequireTool) -> None:
    """Skips the test where this machine cannot be made several hosts; with CI set, fails it."""
    import kernel_runs  # noqa: PLC0415

    require_tool("ip", "iproute2")
    kernel_runs.require()


@pytest.fixture
def simulator(monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """Stands in for the simulator, and answers what the F-RTO report published."""
    from handmade_tables import PUBLISHED, Simulator  # noqa: PLC0415

    simulator = Simulator.installed(monkeypatch)
    simulator.medians = dict(PUBLISHED)
    return simulator


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """The explorer, asked without a network."""
    from rtolab.serve.limits import Limits  # noqa: PLC0415

    yield from _asked(Limits())


@pytest.fixture(scope="module")
def strict() -> Iterator[TestClient]:
    """One that allows little."""
    from rtolab.serve.limits import Limits  # noqa: PLC0415

    yield from _asked(Limits(at_once=1, run_s=3, capture=10_000, request=20_000, packets=100))


def _asked(limits: Limits) -> Iterator[TestClient]:
    from starlette.testclient import TestClient  # noqa: PLC0415

    from explorer_client import HOST  # noqa: PLC0415
    from rtolab.serve.app import Explorer  # noqa: PLC0415

    with TestClient(Explorer(limits).app(), base_url=HOST) as client:
        yield client
