"""A finger on the explorer: it drags the stall, and scrolls the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser_fixtures import keep, open_, swipe, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

LEFT, RIGHT = 62, 10
"""The margins of a panel, in px."""
END_S = 11.96


@pytest.fixture
def phone(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    context.set_default_timeout(300_000)
    page = context.new_page()
    open_(page, address)
    page.locator("#picture canvas").first.evaluate("(one) => one.scrollIntoView({block: 'center'})")
    yield page
    context.close()


def middle(page: Page, name: str) -> tuple[float, float]:
    """The place of a handle of the stall."""
    box = page.get_by_role("slider", name=name).bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def per_second(page: Page) -> float:
    """The px of a second in the panels."""
    box = page.locator("#picture canvas").first.bounding_box()
    assert box
    return (box["width"] - LEFT - RIGHT) / END_S


def seconds(page: Page, name: str) -> float:
    """What a text field beside a slider has, in seconds."""
    number, unit = page.locator(f"#{name}-text").input_value().split()
    return float(number) * {"s": 1.0, "ms": 1e-3}[unit]


def timeouts(page: Page) -> int:
    cell = page.locator('tr[data-sender="newreno"] td[data-total="Timeouts"]')
    return int(cell.inner_text().splitlines()[-1])


def test_a_finger_drags_the_handles_of_the_stall(phone: Page) -> None:
    x, y = middle(phone, "Stall ends")
    # Not level: a finger never is.
    swipe(phone, [(x, y), (x + 2 * per_second(phone), y + 40)])
    until(lambda: timeouts(phone) == 2)
    assert seconds(phone, "stall-for") == pytest.approx(4, abs=0.2)
    assert seconds(phone, "stall-at") == 1
    x, y = middle(phone, "Whole stall")
    scrolled = phone.evaluate("scrollY")
    swipe(phone, [(x, y), (x + 30, y - 60), (x + 20, y)])
    until(lambda: seconds(phone, "stall-at") > 1.3)
    assert seconds(phone, "stall-for") == pytest.approx(4, abs=0.2)
    assert phone.evaluate("scrollY") == scrolled, "a dragged handle does not scroll the page"
    keep(phone, "phone-dragged")


def test_a_handle_is_large_enough_for_a_finger(phone: Page) -> None:
    x, y = middle(phone, "Stall ends")
    swipe(phone, [(x + 22, y + 16), (x + 22 + 2 * per_second(phone), y + 16)])
    until(lambda: seconds(phone, "stall-for") > 3)


def test_a_finger_drags_the_shaded_stall_itself(phone: Page) -> None:
    canvas = phone.locator("#picture canvas").first.bounding_box()
    assert canvas
    x, y = canvas["x"] + LEFT + 2.2 * per_second(phone), canvas["y"] + 100
    swipe(phone, [(x, y), (x + 1.5 * per_second(phone), y)])
    until(lambda: seconds(phone, "stall-at") > 2)
    assert seconds(phone, "stall-for") == pytest.approx(2, abs=0.01)


def test_a_finger_across_the_figure_scrolls_the_page(phone: Page) -> None:
    canvas = phone.locator("#picture canvas").first.bounding_box()
    assert canvas
    x, y = canvas["x"] + 250, canvas["y"] + 120
    before = phone.evaluate("scrollY")
    swipe(phone, [(x, y), (x, y - 150)])
    until(lambda: bool(phone.evaluate("scrollY") > before + 50))
    assert seconds(phone, "stall-at") == 1
    assert "view=" not in str(phone.evaluate("location.hash"))
