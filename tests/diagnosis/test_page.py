"""The HTML page of a diagnosis in a browser."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

import program

CAPTURE = Path(__file__).parents[1] / "captures" / "stall-3s-sack-frto-off.sender.pcapng.gz"
LUMINANCE = """() => {
    const color = getComputedStyle(document.body).color.match(/\\d+/g).slice(0, 3).map(Number);
    return Math.max(...color);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_prints_dark_text_on_white_paper(
    browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    html = tmp_path / "page.html"
    program.run("diagnose", str(CAPTURE), "--html", str(html))
    page = browser.new_page(color_scheme=scheme)
    page.goto(html.as_uri())
    page.wait_for_selector(".chart svg, .chart canvas")
    assert (page.evaluate(LUMINANCE) > 200) == (scheme == "dark")
    page.emulate_media(media="print", color_scheme=scheme)
    assert page.evaluate(LUMINANCE) < 50
    # A chart that was drawn for the dark screen is inverted.
    chart = page.locator(".chart").first
    inverts = "invert" in chart.evaluate("(chart) => getComputedStyle(chart).filter")
    assert inverts == (scheme == "dark")
    page.close()
