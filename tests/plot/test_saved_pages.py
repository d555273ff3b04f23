"""Saved pages of figures in a browser without a network."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from rtolab import plot, run
from rtolab.result import Result


@pytest.fixture(scope="module")
def traced() -> Result:
    return run("frto2002-delays", sender=["sack", "sack+frto"], trace=True, windows=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run", "print"])
def test_a_saved_page_is_drawn_offline(
    browser: Browser, tmp_path: Path, traced: Result, kind: str
) -> None:
    path = tmp_path / "trace.html"
    if kind == "run":
        traced.plot.time_sequence(run=1).save(path)
    else:
        plot.time_sequence(traced).save(path)
    context = browser.new_context(offline=True)
    page = context.new_page()
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("canvas, svg.marks")
    # Something is drawn: the picture has more than one colour.
    colors = page.locator("canvas, svg.marks").first.evaluate(
        """(drawn) => drawn.tagName === "CANVAS"
            ? new Set(drawn.getContext("2d").getImageData(0, 0, 500, 500).data).size
            : drawn.querySelectorAll("path").length"""
    )
    assert colors > 20
    assert requested == [path.as_uri()]
    context.close()
