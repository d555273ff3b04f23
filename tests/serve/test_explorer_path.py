"""The path of a run, its time cursor, and the comparison of runs, in a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser_fixtures import keep, looking, open_, runs, settled, until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PHONE = {"width": 390, "height": 844}


def waiting(page: Page) -> int:
    """How many packets of the first sender's data wait."""
    text = page.locator("#path-view .lane-there .count").first.inner_text()
    found = re.fullmatch(r"(\d+) waiting, \d+ in transit", text)
    assert found, text
    return int(found[1])


def move_cursor(page: Page, seconds: float) -> None:
    """Move the slider of the cursor with its own event."""
    page.locator("#cursor").evaluate(
        """(slider, share) => {
            slider.value = String(share);
            slider.dispatchEvent(new Event("input"));
        }""",
        round(1000 * seconds / 11.96),
    )


def line(page: Page) -> float:
    box = page.locator("#picture .cursor").bounding_box()
    assert box
    return box["x"]


def test_the_queue_fills_during_a_stall_and_drains_after_it(page: Page) -> None:
    hosts = page.locator("#path-view .host").all_inner_texts()
    assert hosts == ["near", "far"]
    # The cursor begins at the first timeout.
    assert page.locator(".path-time output").inner_text() == "2.078 s"
    assert waiting(page) == 21
    assert page.locator("#path-view .state").inner_text() == "stalled"
    keep(page, "path")
    before = line(page)
    move_cursor(page, 9)
    assert line(page) > before + 200
    assert waiting(page) < 15
    assert page.locator("#path-view .state").inner_text() == ""
    assert "radio" in (page.locator("#cursor").get_attribute("aria-valuetext") or "")


def test_the_pointer_and_the_keys_move_the_cursor_of_all(page: Page) -> None:
    canvas = page.locator("#picture canvas").nth(1)
    box = canvas.bounding_box()
    assert box
    canvas.hover(position={"x": 62 + (box["width"] - 72) / 4, "y": 30})
    time = page.locator(".path-time output")
    until(lambda: abs(float(time.inner_text().split()[0]) - 11.96 / 4) < 0.1)
    assert abs(line(page) - (box["x"] + 62 + (box["width"] - 72) / 4)) < 2
    page.locator("#picture canvas").first.focus()
    page.keyboard.press("n")
    until(lambda: float(time.inner_text().split()[0]) < 1)
    page.locator("#cursor").focus()
    at = time.inner_text()
    page.keyboard.press("ArrowRight")
    assert time.inner_text() != at


def test_the_cursor_plays_and_pauses(page: Page) -> None:
    time = page.locator(".path-time output")
    before = time.inner_text()
    page.get_by_role("button", name="Play").click()
    until(lambda: time.inner_text() != before)
    page.get_by_role("button", name="Pause").click()
    after = time.inner_text()
    page.wait_for_timeout(100)
    assert time.inner_text() == after


def test_senders_are_compared_by_overlay(page: Page, browser: Browser) -> None:
    canvases = page.locator("#picture canvas")
    assert canvases.count() == 5
    page.get_by_role("button", name="Overlay").click()
    until(lambda: canvases.count() == 4)
    assert page.get_by_role("button", name="Overlay").get_attribute("aria-pressed") == "true"
    captions = page.locator("#picture .captioned").all_inner_texts()
    assert captions == ["newreno", "newreno+frto"]
    keep(page, "overlay")
    canvases.first.focus()
    page.keyboard.press("n")
    said = page.locator("[aria-live=polite].visually-hidden").inner_text()
    assert said.startswith("Sender: newreno. Segment: 1 to 1461")
    until(lambda: "overlay=1" in str(page.evaluate("location.hash")))
    other = browser.new_page()
    open_(other, page.url)
    assert other.locator("#picture canvas").count() == 4
    other.close()


def test_runs_are_kept_beside_later_ones(page: Page) -> None:
    page.get_by_role("button", name="Keep runs").click()
    before = runs(page)
    page.locator("#stall-for-text").fill("4 s")
    settled(page, before)
    rows = page.locator("#totals-table tbody tr")
    until(lambda: rows.count() == 4)
    names = [row.split()[0] for row in rows.all_inner_texts()]
    assert names == ["newreno", "newreno+frto", "newreno", "newreno+frto"]
    times = page.locator("[data-total='Time (s)']").all_inner_texts()
    assert times[2:] == ["11.283", "10.891"]
    assert float(times[0]) > 12
    # The tables of timeouts are those of the new runs.
    assert page.locator("[data-timeouts]").count() == 2
    keep(page, "kept-runs")
    page.get_by_role("button", name="Keep runs").click()
    until(lambda: rows.count() == 2)
    until(lambda: "kept=" not in str(page.evaluate("location.hash")))


def test_an_address_restores_the_kept_runs(page: Page, browser: Browser) -> None:
    """Also those of an edited scenario, with values of its own."""
    before = runs(page)
    page.locator("#controls summary", has_text="Edit").click()
    text = page.locator("#toml").input_value()
    page.locator("#toml").fill(text.replace('"1 MB"', '"300 kB"'))
    settled(page, before)
    page.get_by_role("button", name="Keep runs").click()
    before = runs(page)
    page.locator("#scenario").select_option("tail")
    settled(page, before)
    rows = page.locator("#totals-table tbody tr")
    until(lambda: rows.count() == 4)
    totals = rows.all_inner_texts()
    until(lambda: "kept=" in str(page.evaluate("location.hash")))
    until(lambda: "scenario=tail" in str(page.evaluate("location.hash")))
    other = browser.new_page()
    open_(other, page.url)
    assert other.locator("#totals-table tbody tr").all_inner_texts() == totals
    button = other.get_by_role("button", name="Keep runs")
    assert button.get_attribute("aria-pressed") == "true"
    other.close()


def test_kept_runs_that_cannot_run_are_reported(page: Page) -> None:
    kept = "scenario%3Dhold%26sender%3Dnewrino"
    page.evaluate(f"location.hash = 'scenario=tail&sender=sack&kept={kept}'")
    page.locator("#fault").get_by_text("the kept runs: ").wait_for()
    assert "newreno" in page.locator("#fault").inner_text()
    assert page.locator("#totals-table tbody tr").count() == 1
    button = page.get_by_role("button", name="Keep runs")
    assert button.get_attribute("aria-pressed") == "false"


def test_endless_flows_and_cut_runs_say_so(page: Page) -> None:
    before = runs(page)
    page.locator("#scenario").select_option("dumbbell")
    settled(page, before)
    cell = page.locator("[data-total='Time (s)']").first
    until(lambda: cell.inner_text() == "endless, cut at 60 s")
    assert float(page.locator("[data-total='kbit/s']").first.inner_text()) > 100
    hops = page.locator("#path-view .link-name").all_inner_texts()
    assert [name.strip() for name in hops] == ["bulk-1 access", "bottleneck"]
    keep(page, "path-dumbbell")
    page.evaluate("location.hash = 'scenario=hold&sender=sack&set=duration%3D5+s'")
    until(lambda: cell.inner_text() == "not finished, cut at 5 s")


def test_the_path_is_legible_on_a_phone(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE, color_scheme="dark")  # type: ignore[arg-type]
    page = context.new_page()
    open_(page, address)
    page.get_by_role("button", name="Overlay").click()
    page.locator("#path-view").scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert looking(page, "faint") == []
    keep(page, "path-phone")
    context.close()
