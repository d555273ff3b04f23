"""Pages on a phone: wide tables scroll by themselves, and the page does not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from rtolab.conform.page import PAGE
from rtolab.diagnosis import diagnose
from rtolab.diagnosis.page import write
from rtolab.diagnosis.what_if import what_if

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
MATRIX = ROOT / "docs" / "conform-matrix.html"
CAPTURE = ROOT / "tests" / "captures" / "stall-3s-none-frto-off.sender.pcapng.gz"
PHONE = 390
"""The width of a phone, in CSS pixels."""


def width(browser: Browser, file: Path) -> int:
    """The width of a page on a phone."""
    context = browser.new_context(viewport={"width": PHONE, "height": 844})
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_function("document.readyState === 'complete'")
    found = page.evaluate("document.documentElement.scrollWidth")
    context.close()
    return int(found)


def test_a_diagnosis_fits(browser: Browser, tmp_path: Path) -> None:
    capture = tmp_path / f"{'stall_3s_' * 5}.pcapng.gz"
    shutil.copy(CAPTURE, capture)
    found = diagnose(capture)
    found.document["what_if"] = what_if(found, str(capture))
    assert width(browser, write([found], tmp_path / "page.html")) == PHONE


def test_the_matrix_fits(browser: Browser) -> None:
    assert width(browser, MATRIX) == PHONE


def test_the_matrix_of_the_guide_looks_as_one_that_is_written() -> None:
    style = PAGE.template.partition("<style>")[2].partition("</style>")[0]
    assert style in MATRIX.read_text(encoding="utf-8")
