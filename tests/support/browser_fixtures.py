"""Fixtures for tests in a browser. `RTOLAB_SCREENSHOTS` names a folder for screenshots."""

from __future__ import annotations

import os
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from explorer_client import server
from prerequisites import require_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from playwright.sync_api import Browser, Page


PATIENCE_S = 300
"""Time that a busy machine may need for a step that takes a tenth of a second on an idle one."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with server() as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    path = require_tool("chromium", "chromium")
    with sync_playwright() as playwright:
        # Chromium's own sandbox needs rights that a container does not give to root.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page at 1280x800 in the light theme; an error that it reports fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    context.set_default_timeout(PATIENCE_S * 1000)
    page = context.new_page()
    said: list[str] = []
    requested: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "console", lambda message: said.append(message.text) if message.type == "error" else None
    )
    page.on("request", lambda request: requested.append(request.url))
    open_(page, address)
    yield page
    context.close()
    # Chromium reports the status of a refusal as an error in the console.
    assert [one for one in said if "status of 4" not in one] == []
    assert [url for url in requested if not url.startswith((address, "blob:", "data:"))] == []


def looking(page: Page, what: str) -> Any:
    """The result of a function of explorer_looks.js on a page."""
    text = Path(__file__).with_name("explorer_looks.js").read_text(encoding="utf-8")
    return page.evaluate(f"{text}.{what}()")


def open_(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("body[data-runs]")


def runs(page: Page) -> int:
    return int(page.evaluate("document.body.dataset.runs"))


def until(holds: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    """Wait until it holds. Playwright's own function needs `eval`, which the page forbids."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "the page did not reach the expected state in time"
        time.sleep(0.02)


def settled(page: Page, before: int) -> None:
    """Wait until a change is shown."""
    until(lambda: runs(page) > before)
    page.wait_for_selector("body:not(.running)")


def swipe(page: Page, places: Sequence[tuple[float, float]], *, lift: bool = True) -> None:
    """Move a finger from place to place, in px of the window, as a touch screen reports it."""
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        touching = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touching})

    touch("touchStart", places[0])
    for (left, top), (right, bottom) in pairwise(places):
        for step in range(1, 9):
            share = step / 8
            touch("touchMove", (left + share * (right - left), top + share * (bottom - top)))
            page.wait_for_timeout(20)
    if lift:
        touch("touchEnd")
    session.detach()


def keep(page: Page, name: str) -> None:
    folder = os.environ.get("RTOLAB_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png")
