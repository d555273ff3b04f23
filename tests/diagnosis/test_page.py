"""The HTML page of a diagnosis in a browser."""

import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

import program
from browser_fixtures import looking
from prerequisites import require_tool

CAPTURE = Path(__file__).parents[1] / "captures" / "stall-3s-sack-frto-off.sender.pcapng.gz"
LUMINANCE = """() => {
    const color = getComputedStyle(document.body).color.match(/\\d+/g).slice(0, 3).map(Number);
    return Math.max(...color);
}"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a capture."""
    html = tmp_path_factory.mktemp("diagnosed") / "page.html"
    program.run_here("diagnose", str(CAPTURE), "--html", str(html))
    return html


def test_each_retransmission_has_its_evidence_on_the_page(written: Path) -> None:
    columns = ["frame", "at (s)", "from", "bytes", "trigger", "verdict", "confidence", "evidence"]
    page = written.read_text()
    assert "".join(f"<th>{name}</th>" for name in columns) in page
    assert len(re.findall(r"<td>(?:un)?needed</td><td>[01]\.\d\d</td>", page)) == 46


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_prints_dark_text_on_white_paper(
    browser: Browser, written: Path, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto(written.as_uri())
    page.wait_for_selector(".chart svg, .chart canvas")
    assert (page.evaluate(LUMINANCE) > 200) == (scheme == "dark")
    page.emulate_media(media="print", color_scheme=scheme)
    assert page.evaluate(LUMINANCE) < 50
    fills = page.locator(".chart svg text").evaluate_all(
        "(texts) => [...new Set(texts.map((text) => getComputedStyle(text).fill))]"
    )
    assert fills
    assert all(max(map(int, re.findall(r"\d+", fill))) < 120 for fill in fills), fills
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_fit_a_phone_and_text_is_legible(
    browser: Browser, written: Path, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 844})
    page.goto(written.as_uri())
    page.wait_for_selector(".chart svg")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    drawn, shown = page.locator(".chart svg").first.evaluate(
        "(svg) => [Number(svg.getAttribute('width')), svg.getBoundingClientRect().width]"
    )
    assert 250 < shown <= 390
    assert shown > 0.9 * drawn, "a figure is drawn for the phone, not shrunk"
    assert looking(page, "faint") == []
    page.close()


@pytest.mark.slow
def test_a_printed_page_has_its_figures_as_vectors(browser: Browser, written: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(written.as_uri())
    page.wait_for_selector(".chart svg")
    pdf = written.with_suffix(".pdf")
    page.pdf(path=pdf)
    page.close()
    said = program.execute(require_tool("pdftotext", "poppler-utils"), pdf, "-").stdout
    assert {"sequence number (bytes)", "time (s)"} <= set(said.split("\n")), "axes of the figure"
    assert "Save as SVG" not in said
