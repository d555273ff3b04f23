"""The speed and the size of the explorer in a browser: python benches/web.py FOLDER.

FOLDER is that of `make web`. Needs Chromium and brotli, and an idle machine. The goals are in
`GOALS`. The command exits with 0 if the goals are reached, with 1 if one is not, and with 2 if
something is missing.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtolab import _rtolab
from rtolab.serve.runs import texts

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from file_server import ENGINE, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

GOALS = {
    "speed": ("at least", 0.6),
    "size_kb": ("at most", 500),
    "opening_ms": ("at most", 500),
    "link_ms": ("at most", 500),
    "drag_ms": ("at most", 33),
}
"""WebAssembly over native speed; the compressed module; the first picture, which the build has
recorded; that of a link, which the engine makes; drag to picture."""
RUNS = (
    {"scenario": "hold", "senders": ["newreno", "newreno+frto"]},
    {"scenario": "frto2002-delays", "senders": ["sack"]},
    {"scenario": "dumbbell", "senders": ["sack"]},
    {"scenario": "bench-a", "senders": ["sack"], "set": {"duration": "100 s"}},
)
REPEATS = 7
OPENINGS = 9
DRAGS = ("stall-for", "rate", "delay")
VIEWPORT: ViewportSize = {"width": 1280, "height": 800}
MARKS = {"picture", "engine"}
"""The page's marks: its first picture is on the screen, and its engine answers."""
LINK = "#scenario=hold&sender=newreno&sender=newreno%2Bfrto&seed=2"
"""An address whose run is not recorded, but as long as that of the first picture."""


def native_ms(explorer: Any, request: str) -> float:
    """The time of an answer of the extension, in ms."""
    began = time.perf_counter()
    is_answer, body = explorer.answer("run", request)
    assert is_answer, body
    return 1000 * (time.perf_counter() - began)


def speeds(page: Page) -> list[dict[str, Any]]:
    """Each run's times in ms, native and in the page, the shortest of the repetitions."""
    page.evaluate(ENGINE)
    explorer = _rtolab.Explorer(texts())
    found = []
    for run in RUNS:
        request = json.dumps(run)
        # In turn, so that both meet the same load of the machine.
        pairs = [
            (
                native_ms(explorer, request),
                float(page.evaluate("(one) => rtolab.ask(2, one)", request)),
            )
            for _ in range(REPEATS)
        ]
        native, web = (min(times) for times in zip(*pairs, strict=True))
        found.append({"scenario": run["scenario"], "native_ms": native, "web_ms": web})
    return found


def marks_ms(browser: Browser, address: str) -> dict[str, float]:
    """The times from the request of a page to its marks, in ms."""
    page = browser.new_context(viewport=VIEWPORT).new_page()
    page.goto(address)
    script = "performance.getEntriesByType('mark').map((one) => [one.name, one.startTime])"
    marks: dict[str, float] = {}
    while not marks.keys() >= MARKS:
        page.wait_for_timeout(20)
        marks = dict(page.evaluate(script))
    page.context.close()
    return marks


def drags_ms(page: Page) -> list[float]:
    """The times from a movement of a slider to the picture, in ms."""
    for name in DRAGS:
        slider = page.locator(f"#{name}")
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        assert box
        y = box["y"] + box["height"] / 2
        part = float(slider.input_value()) / 1000
        page.mouse.move(box["x"] + 8 + part * (box["width"] - 16), y)
        page.mouse.down()
        for step in range(40):
            page.mouse.move(box["x"] + 8 + (0.4 + step / 200) * (box["width"] - 16), y)
            page.wait_for_timeout(40)
        page.mouse.up()
        page.wait_for_timeout(300)
    script = "performance.getEntriesByName('drag to picture').map((one) => one.duration)"
    return [float(one) for one in page.evaluate(script)]


def measured(folder: Path, browser: Browser) -> dict[str, Any]:
    """All figures."""
    packed = subprocess.run(
        ["brotli", "--stdout", folder / "static" / "rtolab.wasm"], capture_output=True, check=True
    )
    with served(folder) as address:
        openings = [marks_ms(browser, address) for _ in range(OPENINGS)]
        links = [marks_ms(browser, f"{address}{LINK}") for _ in range(OPENINGS)]
        page = browser.new_page(viewport=VIEWPORT)
        page.goto(address)
        page.wait_for_selector("body[data-runs]")
        drags = drags_ms(page)
        runs = speeds(page)
        page.close()
    return {
        "speed": statistics.median(one["native_ms"] / one["web_ms"] for one in runs),
        "size_kb": len(packed.stdout) / 1000,
        "opening_ms": statistics.median(one["picture"] for one in openings),
        "engine_ms": statistics.median(one["engine"] for one in openings),
        "link_ms": statistics.median(one["picture"] for one in links),
        "drag_ms": statistics.median(drags),
        "runs": runs,
        "openings_ms": openings,
        "links_ms": links,
        "drags": len(drags),
    }


def reaches(found: dict[str, Any], name: str) -> bool:
    """Does a figure reach its goal?"""
    bound, goal = GOALS[name]
    return bool(found[name] >= goal if bound == "at least" else found[name] <= goal)


def described(found: dict[str, Any]) -> Iterator[str]:
    """The figures in words, with their goals."""
    for run in found["runs"]:
        native, web = run["native_ms"], run["web_ms"]
        name, share = run["scenario"], native / web
        yield f"{name:16}  native {native:7.1f} ms  WebAssembly {web:7.1f} ms  {share:.2f}"
    for name, (bound, goal) in GOALS.items():
        verdict = "reached" if reaches(found, name) else "missed"
        yield f"{name:10}  {found[name]:7.2f}  {bound} {goal}: {verdict}"
    yield f"engine_ms   {found['engine_ms']:7.2f}  from opening the page until its engine answers"


def main() -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    options = parser.parse_args()
    for name in ("chromium", "brotli"):
        if shutil.which(name) is None:
            sys.stderr.write(f"{name} is missing.\nInstall it:  sudo apt-get install {name}\n")
            return 2
    if not (options.folder / "static" / "rtolab.wasm").is_file():
        sys.stderr.write(f"{options.folder} has no static/rtolab.wasm.\nBuild it:  make web\n")
        return 2
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        found = measured(options.folder, browser)
        browser.close()
    text = json.dumps(found, indent=1) if options.json else "\n".join(described(found))
    sys.stdout.write(f"{text}\n")
    return 0 if all(reaches(found, name) for name in GOALS) else 1


if __name__ == "__main__":
    sys.exit(main())
