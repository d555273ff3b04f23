"""Texts of SVG files keep their widths in viewers without the font of figures."""

from __future__ import annotations

import html
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import vl_convert
from test_sequences import three

from prerequisites import lack, require_tool
from rtolab.plot import Figure, time_sequence
from rtolab.plot.style import save_spec
from rtolab.plot.widths import BOLD, REGULAR, text_width, with_widths

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SYSTEM_FONTS = Path("/usr/share/fonts")
OTHER = "DejaVu Sans"
"""A font that is wider."""


@pytest.fixture(scope="module")
def figure() -> Figure:
    return time_sequence(three(), title="11 senders & their 111 s")


@pytest.mark.parametrize(("weight", "widths"), [("normal", REGULAR), ("bold", BOLD)])
def test_the_widths_are_those_that_the_renderer_draws(
    weight: str, widths: dict[int, str], tmp_path: Path
) -> None:
    tool = require_tool("pdftotext", "poppler-utils")
    if any(SYSTEM_FONTS.rglob("LiberationSans-Regular.ttf")):
        lack("the renderer draws this system's Liberation Sans, not its own", ci_has_it=False)
    signs = [sign for each in widths.values() for sign in each if sign != " "]
    lines = "".join(
        f'<text x="10" y="{40 * at + 40}" font-family="Liberation Sans" font-size="20px" '
        f'font-weight="{weight}">{html.escape(f"H{sign}H")}</text>'
        for at, sign in enumerate([*signs, "11"])
    )
    size = f'width="400" height="{40 * len(signs) + 100}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{lines}</svg>'
    (tmp_path / "signs.pdf").write_bytes(vl_convert.svg_to_pdf(svg))
    done = subprocess.run(
        [tool, "-bbox", tmp_path / "signs.pdf", "-"], capture_output=True, text=True, check=True
    )
    words = re.findall(r'xMin="([\d.]+)".*xMax="([\d.]+)".*>(.*)</word>', done.stdout)
    assert len(words) == len(signs) + 1
    for left, right, word in words:
        ours = text_width(html.unescape(word), 20, bold=weight == "bold")
        assert float(right) - float(left) == pytest.approx(ours, abs=0.03), word


def test_every_text_says_how_wide_it_is(figure: Figure) -> None:
    texts = re.findall(r"<text ([^>]*)>([^<]{2,})</text>", figure.svg())
    assert len(texts) > 10
    assert [text for looks, text in texts if "textLength" not in looks] == []
    assert any("&amp;" in text for _, text in texts)


@pytest.mark.slow
def test_texts_in_another_font_or_with_unknown_signs_stay(figure: Figure) -> None:
    assert "textLength" not in figure.properties(font="DejaVu Serif").svg()
    text = '<text font-family="sans-serif" font-size="10px">Überlast</text>'
    assert with_widths(text) == text
    assert "textLength" in with_widths(text.replace("Ü", "U"))


def test_every_line_of_a_text_says_how_wide_it_is() -> None:
    lines = '<tspan>sack,</tspan><tspan x="0" dy="9.2">loss 0.02</tspan>'
    text = f'<text font-family="sans-serif" font-size="10px">{lines}</text>'
    assert re.findall(r'textLength="([\d.]+)"', with_widths(text)) == ["23.34", "40.02"]


def test_figures_of_reports_say_it_too(tmp_path: Path) -> None:
    text = {"text": {"value": "some words"}}
    spec = {"data": {"values": [{}]}, "mark": "text", "encoding": text}
    svg = save_spec(spec, tmp_path / "words")
    assert "textLength" in svg.read_text(encoding="utf-8")


def test_without_the_font_nothing_is_cut_or_wider(
    figure: Figure, browser: Browser, tmp_path: Path
) -> None:
    svg = figure.svg().replace("Liberation Sans, Arial, Helvetica, sans-serif", OTHER)
    assert OTHER in svg
    (tmp_path / "figure.svg").write_text(svg, encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "figure.svg").as_uri())
    boxes = page.evaluate(
        """() => [...document.querySelectorAll("text")].map((one) => {
            const { left, right, top, bottom } = one.getBoundingClientRect();
            return { text: one.textContent, own: one.getBBox().width,
                     left, right, top, bottom, bold: one.getAttribute("font-weight") === "bold",
                     size: parseFloat(one.getAttribute("font-size")) };
        })"""
    )
    page.close()
    width, height = (96 * float(side) for side in re.findall(r'="([\d.]+)in"', svg)[:2])
    for box in boxes:
        assert box["left"] >= -0.5, box
        assert box["top"] >= -0.5, box
        assert box["right"] <= width + 0.5, box
        assert box["bottom"] <= height + 0.5, box
        if len(box["text"]) > 1:
            expected = text_width(box["text"], box["size"], bold=box["bold"])
            assert box["own"] == pytest.approx(expected, rel=0.05), box
