"""Fixtures that tests share."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from prerequisites import require_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

    from handmade_tables import Simulator
    from rtolab.serve.limits import Limits

pytest_plugins = ["browser_fixtures", "guide_fixtures"]
"""What tests in a browser and tests of the guide share."""

OF_THE_SITE = {"test_accessibility", "test_live_figures", "test_site"}
"""Modules whose tests share the site."""


class ByModule(LoadScopeScheduling):  # type: ignore[misc]  # It has no types.
    """Runs the tests of a module in one process, as they share fixtures; so those of the site.

    Marks of groups (`--dist loadgroup`) have no effect with pytest 9.2 (pytest-xdist 3.8, #1386).
    """

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return "the site" if Path(module).stem in OF_THE_SITE else module


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByModule:
    """How pytest-xdist distributes the tests."""
    return ByModule(config, log)


def pytest_configure() -> None:
    """Lets signals end programs under test although the tests run in the background.

    There a shell or nohup has them ignored, which programs inherit; a handler they do not.
    """
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, lambda *_: None),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what can be left out, see CONTRIBUTING, by its fixtures."""
    for item in items:
        for mark, fixture in {"root": "hosts", "browser": "browser"}.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(mark)


@pytest.fixture
def hosts() -> None:
    """What tests of emulated hosts need."""
    require_hosts()


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
