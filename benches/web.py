"""The speed and the size of the explorer in a browser: python benches/web.py FOLDER.

FOLDER is that of `make web`. Needs Chromium and brotli, and an idle machine. The goals are in
`GOALS`. The command exits with 0 if the goals are reached, with 1 if one is not, and with 2 if
something is missing.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtolab import _rtolab
from rtolab.serve.runs import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

GOALS = {
    "speed": ("at least", 0.6),
    "size_kb": ("at most", 500),
    "opening_ms": ("at most", 500),
    "drag_ms": ("at most", 33),
}
"""WebAssembly over native speed; the compressed module; the first picture; drag to picture."""
RUNS = (
    {"scenario": "hold", "senders": ["newreno", "newreno+frto"]},
    {"scenario": "frto2002-delays", "senders": ["sack"]},
    {"scenario": "dumbbell", "senders": ["sack"]},
    {"scenario": "bench-a", "senders": ["sack"], "set": {"duration": "100 s"}},
)
REPEATS = 7
OPENINGS = 9
DRAGS = ("stall-for", "rate", "delay")
ENGINE = """
async () => {
  const fetched = async (name) => (await fetch(`static/${name}`)).arrayBuffer();
  const module = await fetched("rtolab.wasm");
  const engine = (await WebAssembly.instantiate(module, {})).instance.exports;
  const write = (bytes) => {
    const at = engine.reserve(bytes.length);
    new Uint8Array(engine.memory.buffer).set(bytes, at);
  };
  engine.begin();
  write(new Uint8Array(await fetched("texts.json")));
  engine.take_texts();
  globalThis.timed = (request) => {
    write(new TextEncoder().encode(request));
    const began = performance.now();
    if (!engine.ask(2)) throw new Error("the engine refused the request");
    return performance.now() - began;
  };
}
"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A plain file server."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a plain file server with the folder."""
    handler = functools.partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


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
            (native_ms(explorer, request), float(page.evaluate("(one) => timed(one)", request)))
            for _ in range(REPEATS)
        ]
        native, web = (min(times) for times in zip(*pairs, strict=True))
        found.append({"scenario": run["scenario"], "native_ms": native, "web_ms": web})
    return found


def opening_ms(browser: Browser, address: str) -> float:
    """The time from the request of the page to its first picture, in ms."""
    page = browser.new_context().new_page()
    page.goto(address)
    page.wait_for_function("performance.getEntriesByName('picture').length > 0")
    found = float(page.evaluate("performance.getEntriesByName('picture')[0].startTime"))
    page.context.close()
    return found


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
        openings = [opening_ms(browser, address) for _ in range(OPENINGS)]
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        page.wait_for_selector("body[data-runs]")
        drags = drags_ms(page)
        runs = speeds(page)
        page.close()
    return {
        "speed": statistics.median(one["native_ms"] / one["web_ms"] for one in runs),
        "size_kb": len(packed.stdout) / 1000,
        "opening_ms": statistics.median(openings),
        "drag_ms": statistics.median(drags),
        "runs": runs,
        "openings_ms": openings,
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
