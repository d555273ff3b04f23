"""The site of the guide builds without a warning, has no dead link and loads nothing elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser

from browser_fixtures import looking
from rtolab import _rtolab

pytestmark = pytest.mark.slow

LOADED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}
"""The attributes that a browser fetches by itself; `link` also has the relations below."""
REFERENCES = {"canonical", "next", "prev", "alternate"}


class Page(HTMLParser):
    """The references of a page, and the targets in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        self.names |= {found[key] for key in ("id", "name") if key in found}
        for key in ("href", "src"):
            if key in found:
                self.links.append(found[key])
                if (tag, key) in LOADED and found.get("rel") not in REFERENCES:
                    self.loaded.append(found[key])


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Page]:
    found = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    assert len(found) > 30
    return found


def test_no_link_is_dead(site: Path, pages: dict[Path, Page]) -> None:
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            target = target.resolve()
            known = pages.get(target)
            name = unquote(parts.fragment)
            if not target.is_file() or (name and known and name not in known.names):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert dead == []


def test_nothing_is_loaded_from_other_hosts(site: Path, pages: dict[Path, Page]) -> None:
    elsewhere = re.compile(r"^(?!data:)([a-z]+:)?//")
    for path, page in pages.items():
        assert not [link for link in page.loaded if elsewhere.match(link)], path
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//|@import", style.read_text()), style


def test_a_browser_loads_nothing_else_and_reports_no_error(site: Path, browser: Browser) -> None:
    requested, complaints = [], []
    page = browser.new_page(color_scheme="dark")
    page.on("request", lambda request: requested.append(request.url))
    page.on("console", lambda said: complaints.append(said.text))
    for name in ("index", "why", "tutorial", "reference/python", "notebooks/write-a-detector"):
        page.goto(f"file://{site}/{name}.html")
        page.wait_for_selector("h1")
    page.close()
    assert [url for url in requested if not url.startswith(("file:", "data:", "blob:"))] == []
    assert complaints == []


def test_the_search_works_from_a_folder(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"file://{site}/reference/cli.html")
    page.locator(".md-search__input").focus()
    page.keyboard.type("early detector")
    found = page.locator(".md-search-result__link")
    found.first.wait_for()
    places = [found.nth(at).get_attribute("href") or "" for at in range(found.count())]
    page.close()
    assert any("detector.html" in place for place in places), places


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_guide_is_legible_in_light_and_dark_and_on_a_phone(
    site: Path, browser: Browser, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 844})
    for name in ("index", "detector", "reference/senders", "notebooks/diagnose-a-capture"):
        page.goto(f"file://{site}/{name}.html")
        page.wait_for_selector("h1")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        faint = [one for one in looking(page, "faint") if "Skip to content" not in one]
        assert faint == [], name
    page.close()


def test_the_reference_is_complete(site: Path) -> None:
    def text(name: str) -> str:
        return (site / "reference" / f"{name}.html").read_text()

    senders, detectors, scenario = text("senders"), text("detectors"), text("scenario")
    for policy in _rtolab.policies():
        assert f"<code>{policy['name']}</code>" in senders
    for detector in _rtolab.detectors():
        assert f"<code>{detector['name']}</code>" in detectors
    keys = re.findall(r'"(\w+)": \{\s*"(?:\$ref|description|type)', _rtolab.schema())
    assert len(keys) > 100
    for key in keys:
        assert f"<code>{key}</code>" in scenario, key
    assert "--prototype FILE.py:CLASS" in text("cli")
    assert "verdict_at_s" in text("tables")
    assert "on_retransmission" in text("python")


def test_figures_and_notebooks_have_content(site: Path) -> None:
    for name in ("sack", "frto", "lengths", "detectors"):
        assert (site / "made" / f"{name}.svg").stat().st_size > 5_000
    notebook = (site / "notebooks" / "compare-senders.html").read_text()
    assert notebook.count("<table") >= 3
    assert "Traceback" not in notebook
