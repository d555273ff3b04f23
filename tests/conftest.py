"""Fixtures that tests share."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prerequisites import require_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

    from handmade_tables import Simulator
    from rtolab.serve.limits import Limits

pytest_plugins = ["browser_fixtures", "guide_fixtures"]
"""What tests in a browser and tests of the guide share."""


ROOT = Path(__file__).parent

SLOW = {
    "test_control",
    "test_hangs",
    "test_live_figures",
    "test_notebook",
    "test_recorded",
    "test_site",
}
"""Modules whose tests take minutes."""


def pytest_configure() -> None:
    """Lets signals end programs under test although the tests run in the background.

    There a shell or nohup has them ignored, which programs inherit; a handler they do not.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what can be left out, see CONTRIBUTING, by its fixtures and modules.

    Tests of one group run in one process: those of a module, whose fixtures they share, and all
    that need the site.
    """
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        group = "site" if "site" in fixtures else item.path.relative_to(ROOT).as_posix()
        item.add_marker(pytest.mark.xdist_group(group))
        marks = {"root": "hosts" in fixtures, "browser": "browser" in fixtures}
        for mark, is_one in (marks | {"slow": item.path.stem in SLOW}).items():
            if is_one:
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
