"""The explorer and a live figure of the guide by the rules of axe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from browser_fixtures import open_, until
from prerequisites import lack

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


def violations(page: Page, within: str | None = None) -> list[str]:
    """What axe finds wrong: the rule, and the first element that breaks it."""
    try:
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415
    except ImportError:
        lack("axe-playwright-python is missing; install it:  make")
    found = Axe().run(page, context=within).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found]


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> Literal["light", "dark"]:
    found: Literal["light", "dark"] = request.param
    return found


@pytest.mark.parametrize("size", SIZES)
def test_the_explorer_breaks_no_rule(
    browser: Browser, address: str, scheme: Literal["light", "dark"], size: str
) -> None:
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    open_(page, address)
    assert violations(page) == []
    page.get_by_role("button", name="Overlay").click()
    page.get_by_role("button", name="Keep runs").click()
    page.get_by_role("button", name="What if the timeout").first.click()
    until(lambda: page.get_by_text("if it had not fired").count() > 0)
    assert violations(page) == []
    page.close()


def test_a_live_figure_breaks_no_rule(
    browser: Browser, live_site: Path, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto(f"file://{live_site}/why.html")
    live = page.locator(".live").first
    live.scroll_into_view_if_needed()
    until(lambda: live.get_attribute("data-runs") is not None)
    assert violations(page, ".live[data-runs]") == []
    page.close()
