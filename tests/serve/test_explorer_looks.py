"""The explorer in light and dark, on a phone, without colours and without a mouse."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

import pytest

from browser_fixtures import keep, looking, open_, settled, until
from rtolab.serve.assets import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

STYLE = (FOLDER / "figure.css").read_text(encoding="utf-8")
TEXTS = ("ink", "faint", "accent", "wrong", "needed", "unneeded")
"""Colours of text; all others are of marks, lines and edges."""
PAPERS = {"paper", "page", "grid", "line"}
"""What things are drawn on, and lines that only divide."""
PHONE = {"width": 390, "height": 844}


def luminance(color: tuple[float, float, float]) -> float:
    """The relative luminance of a colour, by WCAG 2.2."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def palette(theme: int) -> dict[str, tuple[float, float, float]]:
    """The colours of the style sheet: 0 for light, 1 for dark."""
    pairs = re.findall(r"--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\);", STYLE)
    found = {name: both[theme] for name, *both in pairs}
    return {
        name: (int(text[:2], 16) / 255, int(text[2:4], 16) / 255, int(text[4:], 16) / 255)
        for name, text in found.items()
    }


@pytest.mark.parametrize("theme", [0, 1])
def test_every_colour_has_enough_contrast(theme: int) -> None:
    colors = palette(theme)
    assert len(colors) == 32
    assert contrast(colors["accent"], colors["accent-ink"]) >= 4.5
    # A shade is its colour over the paper, as panel.js mixes it.
    shade = tuple(
        0.22 * over + 0.78 * under
        for over, under in zip(colors["stall"], colors["paper"], strict=True)
    )
    for name in colors.keys() - PAPERS - {"accent-ink"}:
        least = 4.5 if name in TEXTS else 3
        for under in ("paper", "page"):
            assert contrast(colors[name], colors[under]) >= least, (name, under)
        if name not in {"edge", "stall"}:
            assert contrast(colors[name], shade) >= 3, (name, "a stall's shade")  # type: ignore[arg-type]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_is_legible(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.locator(".meanings summary").click()
    page.locator("#editor summary").click()
    page.locator('[data-timeouts="newreno"] .said button').click()
    assert looking(page, "faint") == []
    page.get_by_role("button", name="Browse").click()
    assert looking(page, "faint") == []


def test_marks_with_different_colours_have_different_shapes(page: Page) -> None:
    for shapes in looking(page, "shapes"):
        assert len(set(shapes)) == len(shapes) >= 3
    legend = looking(page, "legend")
    assert len(set(legend)) == len(legend) == 13


def test_the_keyboard_reaches_everything_and_its_focus_is_visible(page: Page) -> None:
    visited = []
    for _ in range(80):
        page.keyboard.press("Tab")
        one = looking(page, "focused")
        if one is None:
            break
        visited.append(one)
    assert [one["what"] for one in visited if one["ring"] < 2] == []
    assert [one["what"] for one in visited if not one["name"]] == []
    reported = " ".join(f"{one['what']} {one['name']}" for one in visited)
    for needed in (
        "Simulate",
        "Browse",
        "Copy link",
        "Download",
        "new-sender",
        "scenario",
        "rto",
        "seed",
        "Edit the scenario",
        "CANVAS",
        "What if",
        "18 blind",
    ):
        assert needed in reported, needed


def test_the_focused_figure_has_a_name(page: Page) -> None:
    hint = page.locator(".for-keys")
    assert not hint.is_visible()
    page.locator("#path-view button").focus()
    page.keyboard.press("Tab")
    assert hint.is_visible()
    assert not page.locator(".for-pointer").is_visible()


def tip(page: Page) -> Locator:
    return page.locator(".tip")


def test_the_pointer_shows_the_windows_of_all_senders(page: Page) -> None:
    canvas = page.locator("#picture canvas").nth(3)
    canvas.hover(position={"x": 400, "y": 60})
    assert re.search(r"newreno\ncwnd [\d.]+kB, ssthresh [\d.]+kB", tip(page).inner_text())
    assert "newreno+frto" in tip(page).inner_text()
    page.mouse.move(5, 5)
    until(tip(page).is_hidden)
    page.locator("#picture canvas").nth(4).focus()
    page.keyboard.press("n")
    first = tip(page).inner_text()
    assert re.search(r"newreno\nRTO [\d.]+ s, SRTT", first)
    page.keyboard.press("n")
    assert tip(page).inner_text() != first
    page.keyboard.press("p")
    assert tip(page).inner_text() == first
    page.keyboard.press("Escape")
    assert tip(page).is_hidden()


def test_details_of_a_run_disappear_with_it(page: Page) -> None:
    page.locator("#picture canvas").first.focus()
    page.keyboard.press("n")
    assert tip(page).is_visible()
    before = int(page.evaluate("document.body.dataset.runs"))
    page.evaluate("location.hash = 'scenario=hold&sender=sack'")
    settled(page, before)
    assert tip(page).is_hidden()


def test_a_saved_figure_has_a_legend(page: Page, tmp_path: Path) -> None:
    page.locator("#download summary").click()
    with page.expect_download() as kept:
        page.get_by_role("button", name="Picture (PNG)").click()
    kept.value.save_as(tmp_path / "kept.png")
    encoded = base64.b64encode((tmp_path / "kept.png").read_bytes()).decode()
    first = page.evaluate(f"({PIXEL})('{encoded}', 67, 42)")
    red, green, blue = palette(0)["sender-1"]
    assert first == [round(255 * part) for part in (red, green, blue)]


PIXEL = """async (encoded, x, y) => {
  const bytes = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([bytes]));
  const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  context.drawImage(picture, 0, 0);
  return [...context.getImageData(x, y, 1, 1).data].slice(0, 3);
}"""


def test_a_wrong_verdict_is_marked_as_wrong(page: Page) -> None:
    row = page.locator('[data-timeouts="newreno"] tbody')
    assert "(wrong)" not in row.inner_text()
    row.locator(".said button").click()
    said = page.get_by_label("The verdict of each detector").locator("li")
    assert said.first.inner_text() == "dualrtt spurious, after 1.023 s"
    wrong = [text for text in said.all_inner_texts() if "(wrong)" in text]
    assert [text.split()[0] for text in wrong] == ["badrexmit", "originals"]
    assert "no timestamps" in said.nth(5).inner_text()


def test_many_timeouts_are_not_all_shown_at_once(page: Page) -> None:
    before = int(page.evaluate("document.body.dataset.runs"))
    page.locator("#scenario").select_option("frto2002-loss")
    settled(page, before)
    about = page.locator("#about")
    assert about.inner_text() == "Random losses on a slow wireless link"
    rows = page.locator('[data-timeouts="newreno"] > tbody > tr:visible')
    assert rows.count() == 12
    page.get_by_role("button", name="Show all").first.click()
    assert rows.count() > 12


def test_the_meaning_of_columns_is_shown(page: Page) -> None:
    heads = page.locator("#totals-table thead th").all_inner_texts()[1:]
    page.locator(".meanings summary").click()
    assert page.locator(".meanings dt").all_inner_texts() == heads
    # A server without results says how to get some.
    page.get_by_role("button", name="Browse").click()
    assert "rtolab serve --browse" in page.locator("#browse").inner_text()


def test_a_phone_shows_all_of_a_table_and_a_finger_is_enough(
    browser: Browser, address: str
) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)  # type: ignore[arg-type]
    page = context.new_page()
    open_(page, address)
    for name in ("#totals-table", '[data-timeouts="newreno"]'):
        whole = page.locator(".wide", has=page.locator(name))
        assert whole.evaluate("(one) => one.scrollWidth <= one.clientWidth"), name
    button = page.locator('[data-timeouts="newreno"] button[aria-label^="What if"]')
    edges = button.bounding_box()
    assert edges
    assert edges["x"] + edges["width"] <= PHONE["width"]
    assert page.locator(".for-finger").is_visible()
    canvas = page.locator("#picture canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    x = box["x"] + 62 + (box["width"] - 72) * 2.077664 / 11.96
    for y in range(150, 195, 8):
        page.touchscreen.tap(x, box["y"] + y)
        if tip(page).is_visible():
            break
    assert "retransmitted after a timeout" in tip(page).inner_text()
    keep(page, "phone-story")
    context.close()


def test_runs_that_coincide_are_all_seen(page: Page) -> None:
    """Until the stall ends, both senders do the same: neither hides the other."""
    page.get_by_role("button", name="Overlay").click()
    until(lambda: page.locator("#picture canvas").count() == 4)
    for panel in (0, 2):
        for sender in ("sender-1", "sender-2"):
            seen = (
                page.locator("#picture canvas")
                .nth(panel)
                .evaluate(
                    """(canvas, name) => {
                    const probe = document.createElement("span");
                    probe.style.color = `var(--${name})`;
                    document.body.append(probe);
                    const color = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
                    probe.remove();
                    const width = Math.round(canvas.width / 4);
                    const context = canvas.getContext("2d");
                    const { data } = context.getImageData(0, 0, width, canvas.height);
                    let count = 0;
                    for (let at = 0; at < data.length; at += 4) {
                        count += color.every((part, one) => Math.abs(data[at + one] - part) < 40);
                    }
                    return count;
                }""",
                    sender,
                )
            )
            assert seen > 60, (panel, sender)


def test_the_cursor_covers_no_text(page: Page) -> None:
    line = page.locator("#picture .cursor").bounding_box()
    canvas = page.locator("#picture canvas").last.bounding_box()
    assert line
    assert canvas
    # The last panel has the numbers of the time axis in its lowest 20 px.
    assert line["y"] + line["height"] <= canvas["y"] + canvas["height"] - 20
    above = page.evaluate(
        """() => [...document.querySelectorAll("#picture figcaption")].slice(1).map((one) => {
            const box = one.getBoundingClientRect();
            const style = getComputedStyle(one);
            return [style.backgroundColor, Number(style.zIndex), box.width];
        })"""
    )
    for background, level, width in above:
        assert background == "rgb(255, 255, 255)"
        assert level > 2
        assert width < canvas["width"] / 2
