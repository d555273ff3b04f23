"""The explorer in a browser."""

from __future__ import annotations

import base64
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import rtolab
from browser_fixtures import keep, open_, runs, settled, until
from explorer_client import server
from rtolab import sweep
from sweep_runs import CUT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CAPTURE = Path(__file__).parents[1] / "captures" / "stall-3s-acks-sack-frto-off.sender.pcapng.gz"
SLOWEST_S = 60.0
"""From a drag to its picture at the median, which is 0.05 s where nothing else runs."""


def hash_(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def stands(page: Page) -> bool:
    """Have the address and the runs been stable for longer than the page waits for input?"""
    before = (hash_(page), runs(page))
    page.wait_for_timeout(600)
    return before == (hash_(page), runs(page)) and page.locator("body.running").count() == 0


def total(page: Page, sender: str, what: str) -> float:
    cell = page.locator(f'tr[data-sender="{sender}"] td[data-total="{what}"]')
    return float(cell.inner_text())


def drag(page: Page, parameter: str, part: float, steps: int = 10) -> None:
    """Drag a slider by its thumb with the mouse."""
    slider = page.locator(f"#{parameter}")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box
    now = float(slider.input_value()) / 1000
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8 + now * (box["width"] - 16), y)
    page.mouse.down()
    page.mouse.move(box["x"] + 8 + part * (box["width"] - 16), y, steps=steps)
    page.mouse.up()


def test_the_totals_of_frto_differ_from_newrenos_and_follow_the_stall(page: Page) -> None:
    keep(page, "light")
    assert total(page, "newreno", "Unneeded") == 31
    assert total(page, "newreno+frto", "Unneeded") == 1
    before = runs(page)
    drag(page, "stall-for", 0.45)
    settled(page, before)
    assert page.locator("#stall-for-text").input_value() != "2 s"
    # A longer stall: the timer expires more than once, and the transfer ends later.
    until(lambda: total(page, "newreno", "Timeouts") > 1)
    until(lambda: total(page, "newreno", "Time (s)") > 14)
    assert total(page, "newreno+frto", "Unneeded") < total(page, "newreno", "Unneeded")
    keep(page, "dragged")


def test_a_drag_soon_draws_a_new_figure(page: Page) -> None:
    before = runs(page)
    drag(page, "stall-for", 0.6, steps=40)
    drag(page, "rate", 0.7, steps=40)
    drag(page, "delay", 0.5, steps=40)
    settled(page, before)
    entries = page.evaluate(
        "performance.getEntriesByName('drag to picture').map((e) => e.duration)"
    )
    assert len(entries) >= 3
    median = statistics.median(entries) / 1000
    print(f"from a drag to its picture: {1000 * median:.0f} ms at the median of {len(entries)}")  # noqa: T201
    assert median < SLOWEST_S


def test_the_stall_can_be_dragged_in_the_figure(page: Page) -> None:
    canvas = page.locator("#picture canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    left, width, end = box["x"] + 62, box["width"] - 72, 11.96
    y = box["y"] + 60
    before = runs(page)
    page.mouse.move(left + width * 3.0 / end, y)
    page.mouse.down()
    page.mouse.move(left + width * 5.0 / end, y, steps=12)
    settled(page, before)
    page.mouse.up()
    settled(page, before)
    assert page.locator("#stall-at-text").input_value() == "1 s"
    length = float(page.locator("#stall-for-text").input_value().split()[0])
    assert length == pytest.approx(4, abs=0.1)
    until(lambda: total(page, "newreno", "Timeouts") == 2)


def test_a_seed_is_any_number_of_64_bits(page: Page) -> None:
    fault = page.locator("#seed-fault")
    before = runs(page)
    for wrong in ("abc", "-1", "4.5", "", "18446744073709551616"):
        page.locator("#seed").fill(wrong)
        assert f'found "{wrong}"; expected a whole number from 0 to 2^64 - 1' in fault.inner_text()
        assert page.locator("#seed").get_attribute("aria-invalid") == "true"
    assert runs(page) == before
    page.locator("#scenario").select_option("stall")
    settled(page, before)
    before = runs(page)
    page.locator("#seed").fill("18446744073709551615")
    settled(page, before)
    assert fault.is_hidden()
    until(lambda: "seed=18446744073709551615" in hash_(page))
    [row] = rtolab.run("stall", sender="newreno", seed=2**64 - 1).connections.to_dicts()
    assert total(page, "newreno", "Time (s)") == pytest.approx(row["elapsed_s"], abs=0.005)


def test_what_is_wrong_with_an_address_is_said(page: Page, address: str) -> None:
    fault = page.locator("#address-fault")
    before = runs(page)
    page.goto(f"{address}#scenario=nosuch&sender=sack&seed=-1")
    settled(page, before)
    assert 'the scenario "nosuch", which this page does not have' in fault.inner_text()
    assert 'Seed: found "-1"; expected a whole number' in fault.inner_text()
    before = runs(page)
    page.locator("#seed").fill("2")
    settled(page, before)
    assert fault.is_hidden()
    before = runs(page)
    page.goto(f"{address}#sender=linux&sender=rack")
    settled(page, before)
    assert fault.is_hidden()
    assert page.locator("tr[data-sender]").evaluate_all(
        "(rows) => [...new Set(rows.map((row) => row.dataset.sender))]"
    ) == ["linux", "rack"]


def test_panels_zoom_and_pan_together(page: Page) -> None:
    pictures = page.locator("#picture canvas")

    def drawn() -> list[str]:
        return [pictures.nth(at).evaluate("(one) => one.toDataURL()") for at in range(4)]

    whole = drawn()
    pictures.first.focus()
    for key in ("+", "+", "ArrowLeft"):
        page.keyboard.press(key)
    until(lambda: "view=" in hash_(page))
    assert all(a != b for a, b in zip(whole, drawn(), strict=True))
    page.keyboard.press("0")
    until(lambda: "view=" not in hash_(page))
    assert drawn() == whole


def test_details_of_a_packet_are_shown_by_pointer_and_by_keyboard(page: Page) -> None:
    canvas = page.locator("#picture canvas").first
    box = canvas.bounding_box()
    assert box
    x = 62 + (box["width"] - 72) * 2.077664 / 11.96
    # The retransmission for the timeout is the lowest mark at that time, but for its height.
    for y in range(120, 180, 3):
        canvas.hover(position={"x": x, "y": y})
        if page.locator(".tip").is_visible():
            break
    tip = page.locator(".tip").inner_text()
    assert "retransmitted after a timeout" in tip
    assert "the timeout at 2.078 s was spurious" in tip
    assert "unneeded: an earlier copy had delivered all of it" in tip
    assert "held by the link" in tip
    keep(page, "tip")
    page.mouse.move(5, 5)
    canvas.focus()
    page.keyboard.press("n")
    assert (
        "sent for the first time" in page.locator("[aria-live=polite].visually-hidden").inner_text()
    )


def test_what_if_it_had_not_fired_or_the_sender_were_another(page: Page) -> None:
    page.locator('table[data-timeouts="newreno"] button[aria-label^="What if"]').click()
    reported = page.locator('table[data-timeouts="newreno"] td.details').nth(1)
    reported.get_by_text("Without this timeout the transfer").wait_for()
    text = reported.inner_text()
    assert "0.514 s sooner, with 31 segments fewer" in text
    assert "newreno+frto" in text
    assert "-30" in text
    reported.locator(".branch[data-branch='']").wait_for()
    captions = reported.locator("figcaption").all_inner_texts()
    assert captions[:2] == ["newreno, the actual run", "newreno, if it had not fired"]
    without = reported.locator("canvas").nth(1).screenshot()
    reported.scroll_into_view_if_needed()
    keep(page, "what-if")
    reported.get_by_label("The actual run, and the run").select_option("newreno+frto")
    reported.locator(".branch[data-branch='newreno+frto']").wait_for()
    assert reported.locator("figcaption").nth(1).inner_text() == "newreno+frto from there on"
    assert reported.locator("canvas").nth(1).screenshot() != without
    reported.locator(".branch").scroll_into_view_if_needed()
    keep(page, "what-if-another")
    page.set_viewport_size({"width": 390, "height": 844})
    keep(page, "what-if-phone")


def test_the_theme_is_switched_and_kept(page: Page) -> None:
    def paper() -> str:
        return str(
            page.evaluate("getComputedStyle(document.querySelector('header')).backgroundColor")
        )

    light = page.locator("#picture canvas").first.screenshot()
    assert paper() == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Theme: auto").click()
    page.get_by_role("button", name="Theme: light").click()
    assert paper() == "rgb(20, 24, 28)"
    assert page.locator("#picture canvas").first.screenshot() != light
    page.reload()
    page.wait_for_selector("body[data-runs]")
    assert paper() == "rgb(20, 24, 28)"
    keep(page, "dark")


def test_an_address_holds_the_whole_state(page: Page, browser: Browser) -> None:
    before = runs(page)
    page.locator("#new-sender").fill("sack+eifel")
    page.locator("#new-sender").press("Enter")
    drag(page, "delay", 0.4)
    page.locator("#controls summary", has_text="Edit").click()
    text = page.locator("#toml").input_value()
    page.locator("#toml").fill(text.replace('"1 MB"', '"300 kB"'))
    settled(page, before)
    until(lambda: "toml=" in hash_(page) and "sack%2Beifel" in hash_(page))
    until(lambda: stands(page))
    rows = page.locator("#totals-table").inner_text()
    assert "sack+eifel" in rows
    other = browser.new_context().new_page()
    open_(other, page.url)
    assert other.locator("#totals-table").inner_text() == rows
    delay = other.locator("#delay-text").input_value()
    assert delay == page.locator("#delay-text").input_value() != "100 ms"
    assert '"300 kB"' in other.locator("#toml").input_value()
    other.context.close()


def test_an_invalid_scenario_is_reported_while_it_is_typed(page: Page) -> None:
    page.locator("#controls summary", has_text="Edit").click()
    editor = page.locator("#toml")
    text = editor.input_value()
    editor.fill(text.replace('rate = "1 Mbit/s"', 'rate = "1 Mbitt/s"'))
    fault = page.locator("#toml-fault")
    fault.wait_for()
    line = 1 + text[: text.index('rate = "1 Mbit/s"')].count("\n")
    assert fault.inner_text().startswith(f"line {line}: link.radio.rate: found")
    assert 'such as "28.8 kbit/s"' in fault.inner_text()
    assert editor.get_attribute("aria-invalid") == "true"
    fault.scroll_into_view_if_needed()
    keep(page, "wrong")
    editor.fill(text.replace("1 Mbit/s", "2 Mbit/s"))
    fault.wait_for(state="hidden")
    until(lambda: total(page, "newreno", "Time (s)") < 10)


def test_an_invalid_sender_and_an_invalid_value_are_reported_in_place(page: Page) -> None:
    page.locator("#new-sender").fill("newrino")
    page.locator("#new-sender").press("Enter")
    fault = page.locator("#sender-fault")
    fault.wait_for()
    assert "newreno" in fault.inner_text()
    assert page.locator("#senders .chip", has_text="newrino").count() == 0
    assert page.locator("#new-sender").input_value() == "newrino"
    page.locator("#new-sender").fill("newreno+eifel")
    page.locator("#new-sender").press("Enter")
    fault.wait_for(state="hidden")
    page.locator("#senders .chip", has_text="newreno+eifel").wait_for()
    page.locator("#rate-text").fill("fast")
    wrong = page.locator(".parameter", has=page.locator("#rate")).locator(".fault")
    wrong.wait_for()
    assert 'found "fast"' in wrong.inner_text()
    page.get_by_role("button", name="Rate: restore the scenario's value").click()
    wrong.wait_for(state="hidden")


def test_a_capture_is_dropped_and_diagnosed(page: Page, tmp_path: Path) -> None:
    content = base64.b64encode(CAPTURE.read_bytes()).decode()
    transfer = page.evaluate_handle(
        """([content, name]) => {
            const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
            const transfer = new DataTransfer();
            transfer.items.add(new File([bytes], name));
            return transfer;
        }""",
        [content, "slow.pcapng.gz"],
    )
    page.dispatch_event("body", "drop", {"dataTransfer": transfer})
    page.locator("#diagnosis").get_by_text("the retransmission timer expired").first.wait_for()
    assert page.locator("#diagnosis canvas").count() == 1
    assert "spurious" in page.locator("#diagnosis [data-timeouts]").inner_text()
    keep(page, "capture")
    (tmp_path / "a.txt").write_text("no", encoding="ascii")
    page.locator("#file").set_input_files(tmp_path / "a.txt")
    page.get_by_text("neither pcap nor pcapng").wait_for()


def test_a_report_is_kept_and_opens_without_a_server(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    with page.expect_download() as kept:
        page.locator("#download summary").click()
        page.get_by_role("button", name="Page (HTML)").click()
    path = tmp_path / "report.html"
    kept.value.save_as(path)
    with page.expect_download() as picture:
        page.locator("#download summary").click()
        page.get_by_role("button", name="Picture (PNG)").click()
    picture.value.save_as(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    alone = browser.new_context(offline=True).new_page()
    said: list[str] = []
    alone.on("pageerror", lambda error: said.append(str(error)))
    alone.on("console", lambda message: said.append(message.text))
    alone.goto(path.as_uri())
    alone.wait_for_selector("#totals-table")
    assert alone.locator("canvas").count() == 5
    assert alone.locator("#path-view .host").count() == 2
    assert "10.891" in alone.locator("#totals-table").inner_text()
    assert said == []
    keep(alone, "kept")
    alone.context.close()


def test_the_keyboard_alone_is_enough(page: Page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "results"
    before = runs(page)
    page.locator("#stall-for").focus()
    for _ in range(8):
        page.keyboard.press("PageUp")
    settled(page, before)
    until(lambda: total(page, "newreno", "Time (s)") > 12)
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.closest('.parameter') !== null")


def test_skipping_to_the_results_keeps_what_was_set(page: Page) -> None:
    """The link once put its own name in the place of the state."""

    def address() -> str:
        return str(page.evaluate("location.href"))

    before = runs(page)
    page.locator("#stall-for").focus()
    page.keyboard.press("End")
    settled(page, before)
    until(lambda: "stalls.scripted" in address())
    kept = address()
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "results"
    assert address() == kept
    # A change of the state in the address is read before this one is written to it.
    before = runs(page)
    page.locator("#delay").focus()
    page.keyboard.press("PageUp")
    settled(page, before)
    until(lambda: "delay" in address())
    assert "stalls.scripted" in address()


def test_the_page_is_legible_on_a_phone(browser: Browser, address: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    open_(page, address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not page.locator("#stall-for").is_visible()
    keep(page, "phone")
    page.locator("#controls > summary").click()
    page.locator("#stall-for").scroll_into_view_if_needed()
    page.locator("#picture").evaluate("(one) => one.scrollIntoView()")
    assert page.locator("#stall-for").is_visible()
    keep(page, "phone-sliders")
    page.emulate_media(color_scheme="dark")
    keep(page, "phone-dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_results_are_browsed(browser: Browser, tmp_path: Path) -> None:
    text = 'scenario = "hold"\nsenders = ["newreno", "newreno+frto"]\nruns = 2\n'
    text += '[grid]\nlink.radio.delay = ["50 ms", "100 ms"]\n'
    (tmp_path / "delays.toml").write_text(text, encoding="utf-8")
    sweep.run(sweep.load(tmp_path / "delays.toml"), tmp_path / "delays", sweep.Threads(1))
    (tmp_path / "cut.toml").write_text(CUT, encoding="utf-8")
    (tmp_path / "lossy.toml").write_text('scenario = "cut.toml"\nruns = 9\n', encoding="utf-8")
    sweep.run(sweep.load(tmp_path / "lossy.toml"), tmp_path / "lossy", sweep.Threads(1))
    ended = sweep.read(tmp_path / "lossy").collect().group_by("run").agg(pl.col("completed").all())
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    with server("--browse", str(tmp_path)) as (address, _):
        open_(page, address)
        page.get_by_role("button", name="Browse").click()
        page.locator("#measure").select_option("unneeded")
        page.get_by_text("unneeded at every point").wait_for()
        assert "1 (1 to 1), 2 runs" in page.locator("#browse").inner_text()
        keep(page, "browse")
        page.locator("#which").select_option(label="sweep: lossy")
        page.get_by_text(f", {ended['completed'].sum()} of 9 runs finished").wait_for()
    context.close()
