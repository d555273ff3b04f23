"""The explorer without a server: WebAssembly in a page. Needs a Rust target, clang and Chromium."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser_fixtures import open_, until
from explorer_client import CAPTURE, HOLD
from file_server import ENGINE, served
from prerequisites import lack, require_tool
from rtolab import _rtolab
from rtolab.run import included_scenarios
from rtolab.serve.runs import texts
from rtolab.serve.worker import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LARGEST = 500_000
"""What the module may have when it is compressed, in bytes."""
HASHES = """
async (requests) => {
  const hashes = [];
  for (const request of requests) {
    rtolab.ask(2, JSON.stringify(request));
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", rtolab.output()));
    hashes.push(Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  }
  return hashes;
}
"""
"""The hashes of the module's answers to requests for runs."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both pages."""
    folder = tmp_path_factory.mktemp("web")
    done = subprocess.run(
        [sys.executable, "tools/web", folder], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == 2:
        lack(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def site(built: Path) -> Iterator[str]:
    """The address of a plain file server with the folder."""
    with served(built) as address:
        yield address


@pytest.fixture(params=["site", "file"])
def local_page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """The page of a plain file server, or of a single file; it asks no other host."""
    if request.param == "site":
        address = request.getfixturevalue("site")
    else:
        address = (request.getfixturevalue("built") / "explorer.html").as_uri()
    page = browser.new_page()
    page.set_default_timeout(300_000)
    said: list[str] = []
    requested: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda one: requested.append(one.url))
    open_(page, address)
    yield page
    page.close()
    assert said == []
    own = (address.rpartition("/")[0], "blob:", "data:")
    assert [url for url in requested if not url.startswith(own)] == []


def test_the_module_is_small(built: Path) -> None:
    brotli = require_tool("brotli", "brotli")
    packed = subprocess.run(
        [brotli, "--stdout", built / "static" / "rtolab.wasm"], capture_output=True, check=True
    )
    assert len(packed.stdout) <= LARGEST


@pytest.mark.browser
def test_every_answer_is_that_of_the_server(site: str, browser: Browser) -> None:
    names = [name for name in included_scenarios() if not name.startswith("bench-")]
    requests = [
        {"scenario": name, "senders": senders, "seed": 3, "packets": 500}
        for name in names
        for senders in ([], ["sack+frto"])
    ]
    page = browser.new_page()
    page.goto(site)
    page.evaluate(ENGINE)
    hashes = page.evaluate(HASHES, requests)
    page.close()
    explorer = _rtolab.Explorer(texts())
    for request, found in zip(requests, hashes, strict=True):
        _, answer = explorer.answer("run", json.dumps(request))
        assert hashlib.sha256(answer).hexdigest() == found, request


@pytest.mark.browser
def test_the_page_runs_and_answers_what_if(local_page: Page) -> None:
    page = local_page
    for sender, unneeded in (("newreno", "31"), ("newreno+frto", "1")):
        cell = page.locator(f'tr[data-sender="{sender}"] td[data-total="Unneeded"]')
        assert cell.inner_text() == unneeded
    page.get_by_role("button", name="What if the timeout").first.click()
    until(lambda: page.get_by_text("if it had not fired").count() > 0)
    assert page.locator(".for-server:visible").count() == 0


@pytest.mark.browser
def test_a_capture_is_diagnosed_in_the_page(local_page: Page) -> None:
    page = local_page
    page.get_by_role("button", name="Capture").first.click()
    page.set_input_files("#file", CAPTURE)
    until(lambda: page.locator("#diagnosis table").count() > 0)
    assert "unneeded" in page.locator("#diagnosis").inner_text()


@pytest.mark.browser
def test_downloads_are_made_in_the_page(local_page: Page, tmp_path: Path) -> None:
    page = local_page
    for kind, ending in (("Page (HTML)", ".html"), ("Captures (pcapng)", ".pcapng")):
        page.locator("#download summary").click()
        with page.expect_download() as found:
            page.get_by_role("button", name=kind).click()
        path = tmp_path / f"kept{ending}"
        found.value.save_as(path)
        assert path.stat().st_size > 10_000
    browser = page.context.browser
    assert browser is not None
    kept = browser.new_page()
    kept.goto((tmp_path / "kept.html").as_uri())
    kept.wait_for_selector("#shown table")
    kept.close()


@pytest.mark.browser
def test_an_error_stands_at_its_place(local_page: Page) -> None:
    page = local_page
    page.locator("#new-sender").fill("newrino")
    page.get_by_role("button", name="Add").click()
    page.wait_for_selector("#sender-fault:visible")
    assert "newreno" in page.locator("#sender-fault").inner_text()
    assert HOLD["scenario"] == page.locator("#scenario").input_value()


@pytest.mark.browser
def test_the_first_picture_is_recorded_and_the_engine_gives_the_same(
    site: str, built: Path, browser: Browser
) -> None:
    page = browser.new_page()
    # The module never arrives, so that the picture can only be the recorded one.
    page.route("**/rtolab.wasm", lambda _: None)
    open_(page, site)
    assert page.locator('[data-sender="newreno"] [data-total="Unneeded"]').inner_text() == "31"
    assert page.evaluate("performance.getEntriesByName('engine').length") == 0
    page.close()
    page = browser.new_page()
    page.goto(site)
    page.evaluate(ENGINE)
    recorded = (built / "static" / "recorded.bin").read_bytes()
    length = int.from_bytes(recorded[:4], "little")
    head = json.loads(recorded[4 : 4 + length])
    at = 4 + length
    for one in head["answers"]:
        question = QUESTIONS.index(one["question"])
        page.evaluate(
            "([question, request]) => rtolab.ask(question, request)",
            [question, json.dumps(one["request"])],
        )
        answer = bytes(page.evaluate("Array.from(rtolab.output())"))
        assert answer == recorded[at : at + one["bytes"]], one["question"]
        at += one["bytes"]
    assert at == len(recorded)
    ours, theirs = head["index"], page.evaluate("rtolab.index")
    assert ours["scenarios"] == theirs["scenarios"]
    for name in ("name", "question", "about"):
        assert [one[name] for one in ours["senders"]] == [one[name] for one in theirs["senders"]]
    page.close()
