"""The live figures of the guide, whose reader drags a stall. Needs a Rust target and Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from browser_fixtures import keep, looking, swipe, until
from live_figures import LIVE
from live_pages import explorer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.slow

PHONE = {"width": 390, "height": 844}
PAPERS = ("delays2001", "frto2002", "arq2002", "dualrtt2004", "minrto2007")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    said: list[str] = []
    requested: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: requested.append(request.url))
    yield page
    page.close()
    assert said == []
    assert [url for url in requested if not url.startswith(("file:", "data:", "blob:"))] == []


def figure(page: Page, live_site: Path, name: str, number: int = 0) -> Locator:
    """A page's figure, once it runs."""
    page.goto(f"file://{live_site}/{name}.html")
    found = page.locator(".live").nth(number)
    found.scroll_into_view_if_needed()
    until(lambda: found.get_attribute("data-runs") is not None)
    found.scroll_into_view_if_needed()
    return found


def unneeded(figure: Locator, sender: str = "sack") -> int:
    total = figure.locator(f'[data-sender="{sender}"]')
    return int(total.get_attribute("data-unneeded") or "")


def test_every_page_of_a_paper_has_a_live_figure(live_site: Path) -> None:
    for name in ("why", "tutorial", *(f"papers/{paper}" for paper in PAPERS)):
        assert 'class="live"' in (live_site / f"{name}.html").read_text(), name
    assert {*PAPERS, "sack", "frto", "tutorial"} == LIVE.keys()


def test_the_stall_is_dragged_with_the_mouse(page: Page, live_site: Path) -> None:
    live = figure(page, live_site, "why")
    assert unneeded(live) == 44
    end = live.get_by_role("slider", name="Stall ends")
    begin = live.get_by_role("slider", name="Stall begins")
    keep(page, "live-why")
    from_, to = end.bounding_box(), begin.bounding_box()
    assert from_
    assert to
    y = from_["y"] + from_["height"] / 2
    page.mouse.move(from_["x"] + 12, y)
    page.mouse.down()
    # A stall of half a second ends before the timer expires.
    page.mouse.move(to["x"] + 12 + (from_["x"] - to["x"]) / 6, y, steps=8)
    until(lambda: unneeded(live) == 0)
    page.mouse.up()
    assert end.get_attribute("aria-valuetext") != "7 s"
    keep(page, "live-why-dragged")
    live.get_by_role("button", name="Restore").click()
    until(lambda: unneeded(live) == 44)
    assert end.get_attribute("aria-valuetext") == "7 s"


def test_the_stall_is_dragged_with_a_finger(browser: Browser, live_site: Path) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)  # type: ignore[arg-type]
    page = context.new_page()
    live = figure(page, live_site, "why")
    assert unneeded(live) == 44
    end = live.get_by_role("slider", name="Stall ends")
    end.evaluate("(one) => one.scrollIntoView({block: 'center'})")
    from_, to = end.bounding_box(), live.get_by_role("slider", name="Stall begins").bounding_box()
    assert from_
    assert to
    y = from_["y"] + 12
    # A stall of half a second ends before the timer expires.
    swipe(page, [(from_["x"] + 12, y), (to["x"] + 12 + (from_["x"] - to["x"]) / 6, y + 25)])
    until(lambda: unneeded(live) == 0)
    assert end.get_attribute("aria-valuetext") != "7 s"
    keep(page, "live-why-phone-dragged")
    context.close()


def test_the_stall_is_moved_with_keys(page: Page, live_site: Path) -> None:
    live = figure(page, live_site, "why")
    live.get_by_role("slider", name="Stall ends").focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    until(lambda: unneeded(live) > 0 and unneeded(live) != 44)
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    end = live.get_by_role("slider", name="Stall ends")
    assert end.get_attribute("aria-valuetext") == "4.8 s"
    until(lambda: unneeded(live) == 0)
    live.get_by_role("slider", name="Whole stall").focus()
    page.keyboard.press("Shift+ArrowRight")
    assert end.get_attribute("aria-valuetext") == "4.81 s"


def test_a_slider_changes_the_run(page: Page, live_site: Path) -> None:
    live = figure(page, live_site, "papers/minrto2007")
    assert unneeded(live, "sack+frto") == 1
    assert unneeded(live, "sack+frto+minrto") == 0
    live.get_by_role("slider", name="Minimum RTO").focus()
    page.keyboard.press("End")
    until(lambda: unneeded(live, "sack+frto") == 0)


def test_the_engine_is_loaded_once_and_only_when_a_figure_is_seen(
    page: Page, live_site: Path
) -> None:
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url.rpartition("/")[2]))
    page.goto(f"file://{live_site}/papers/delays2001.html")
    page.wait_for_load_state()
    assert "files.js" not in loaded
    figure(page, live_site, "why", 0)
    loaded.clear()
    second = page.locator(".live").nth(1)
    second.scroll_into_view_if_needed()
    until(lambda: second.get_attribute("data-runs") is not None)
    assert loaded.count("files.js") == 0


def test_the_link_opens_the_same_run_in_the_explorer(page: Page, live_site: Path) -> None:
    live = figure(page, live_site, "why")
    live.get_by_role("link", name="Open in the explorer").click()
    page.wait_for_selector("body[data-runs]")
    assert page.locator("[data-total=Unneeded]").inner_text() == "44"


def test_without_scripts_there_is_the_picture(browser: Browser, live_site: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"file://{live_site}/why.html")
    picture = page.locator(".live img").first
    box = picture.bounding_box()
    assert box
    assert box["height"] > 100
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_live_figures_are_legible(
    page: Page, live_site: Path, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    for name in ("why", "papers/minrto2007"):
        live = figure(page, live_site, name)
        live.locator("summary").click()
        faint = [one for one in looking(page, "faint") if "Skip to content" not in one]
        assert faint == []
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        keep(page, f"live-{name.replace('/', '-')}-{scheme}")


def test_without_the_toolchain_the_guide_has_pictures_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert explorer() == {}
    said = capsys.readouterr().err
    assert "pictures in place of live figures: Rust is missing" in said
    assert "rustup" in said
