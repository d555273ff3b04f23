"""Takes the pictures of the explorer in the guide, in Chromium.

    python tools/guide/screenshots.py

Writes docs/images/explorer.png and explorer-phone.png.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from explorer_client import server  # noqa: E402

IMAGES = ROOT / "docs" / "images"
MARGINS = (62, 10)
"""Left and right of the first figure's time axis, in px."""
END_S = 11.96
"""The end of that axis."""
TIMEOUT_S = 2.077664
"""When NewReno's timer expires in `hold`."""


def desk(browser: Browser, address: str) -> None:
    """Two senders, the path, and the details of a retransmission."""
    page = browser.new_page(viewport={"width": 1280, "height": 1010}, color_scheme="light")
    page.goto(address)
    page.wait_for_selector("body[data-runs]")
    canvas = page.locator("#picture canvas").first
    box = canvas.bounding_box()
    assert box
    left, right = MARGINS
    x = left + (box["width"] - left - right) * TIMEOUT_S / END_S
    for y in range(120, 180, 3):
        canvas.hover(position={"x": x, "y": y})
        if page.locator(".tip").is_visible():
            break
    page.screenshot(path=IMAGES / "explorer.png")


def phone(browser: Browser, address: str) -> None:
    """The figures in the dark theme."""
    page = browser.new_page(
        viewport={"width": 390, "height": 844},
        color_scheme="dark",
        has_touch=True,
        is_mobile=True,
    )
    page.goto(address)
    page.wait_for_selector("body[data-runs]")
    page.locator("#picture canvas").first.evaluate("(one) => one.scrollIntoView()")
    page.evaluate("scrollBy(0, -40)")
    page.screenshot(path=IMAGES / "explorer-phone.png")


def main() -> None:
    """Serve the explorer, and take its pictures."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("Install Chromium:  apt-get install chromium")
    with server() as (address, _), sync_playwright() as playwright:
        # Chromium's own sandbox needs rights that a container does not give to root.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        desk(browser, address)
        phone(browser, address)


if __name__ == "__main__":
    main()
