"""Live figures in the pages of the guide, and the files that they load."""

import html
import json
import os
import re
import sys
from pathlib import Path, PurePosixPath

from live_figures import LIVE
from rtolab.serve.assets import assets
from rtolab.serve.bundle import bundle

sys.path.insert(0, str(Path(__file__).parents[1]))

from webassembly import WORKER, compiled, encoded, pages, prerequisites

FOLDER = "live"
"""The folder of the site with the explorer."""
OWN = Path(__file__).with_name("live")
PICTURE = re.compile(r'<a class="picture" href="[^"]*made/(?P<name>[\w-]+)\.svg">.*?</a>')


def explorer() -> dict[str, bytes]:
    """The explorer and what live figures load, by path in the site.

    Empty if the tools that compile the engine are missing, which are then named.
    """
    if missing := prerequisites():
        first, _, how = missing.partition("\n")
        sys.stderr.write(f"The guide has pictures in place of live figures: {first}\n{how}\n")
        return {}
    files = pages(compiled())
    needed = {name: files[f"static/{name}"] for name in ("rtolab.wasm", WORKER)}
    inside = json.dumps({name: encoded(content) for name, content in needed.items()})
    script = bundle("live.js", {"live.js": (OWN / "live.js").read_text(encoding="utf-8")})
    own = {
        "live.js": f"(async () => {{{script}}})();\n".encode(),
        "live.css": assets()["figure.css"][0] + (OWN / "live.css").read_bytes(),
        # A page that is opened from a disk may load scripts, but not other files.
        "files.js": f"globalThis.rtolabFiles = {inside};\n".encode(),
    }
    return {f"{FOLDER}/{name}": content for name, content in (files | own).items()}


def alive(page: str, here: str) -> str:
    """The content of a page, in which the pictures of live figures are live."""

    def live(picture: re.Match[str]) -> str:
        figure = LIVE.get(picture["name"])
        if figure is None:
            return picture[0]
        return f'<div class="live" data-live="{html.escape(figure.document)}">{picture[0]}</div>'

    changed = PICTURE.sub(live, page)
    if changed == page:
        return page
    folder = os.path.relpath(FOLDER, PurePosixPath(here).parent)
    style = f'<link rel="stylesheet" href="{folder}/live.css">'
    script = f'<script src="{folder}/live.js" data-live-figures defer></script>'
    return f"{style}{changed}{script}"
