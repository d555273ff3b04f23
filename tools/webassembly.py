"""The engine as WebAssembly, and the explorer's page that runs it.

rustup adds the target (`rustup target add wasm32-unknown-unknown`), and clang compiles the
decompressor of captures.
"""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rtolab.serve.assets import STYLE_SHEETS, assets, style
from rtolab.serve.bundle import bundle
from rtolab.serve.downloads import template
from rtolab.serve.runs import DEFAULT, answer, index, texts

ROOT = Path(__file__).resolve().parents[1]
TARGET = "wasm32-unknown-unknown"
MODULES = {"rtolab.wasm": "rtolab-web", "rtolab-captures.wasm": "rtolab-web-captures"}
"""The modules, and the crates that they are made of."""
WORKER = "engine-worker.js"
SCRIPT = '<script type="module" src="static/explorer.js"></script>'
STYLES = (
    '<link rel="stylesheet" href="static/figure.css">\n'
    '<link rel="stylesheet" href="static/style.css">'
)
ICON = '<link rel="icon" href="static/icon.svg" type="image/svg+xml">'
RECORDED = "recorded.bin"
PRELOADED = (RECORDED, "rtolab.wasm", "texts.json", WORKER)
"""What the page fetches at once."""
BUNDLE = "page.js"


def prerequisites() -> str | None:
    """What is missing, and the command that installs it."""
    if shutil.which("cargo") is None or shutil.which("rustc") is None:
        return "Rust is missing.\nInstall it:  https://rustup.rs"
    if shutil.which("clang") is None:
        return "clang is missing.\nInstall it:  sudo apt-get install clang"
    libraries = subprocess.run(
        ["rustc", "--print", "target-libdir", "--target", TARGET],
        capture_output=True,
        text=True,
        check=False,
    )
    if not Path(libraries.stdout.strip() or "missing").is_dir():
        return f"Rust's library for {TARGET} is missing.\nInstall it:  rustup target add {TARGET}"
    return None


def compiled() -> dict[str, bytes]:
    """The engine and the diagnosis of captures as WebAssembly, by file name."""
    # A fixed seed, so that the same source makes the same module.
    environment = os.environ | {"CONST_RANDOM_SEED": "rtolab"}
    packages = [f"--package={crate}" for crate in MODULES.values()]
    command = ["cargo", "build", "--quiet", "--locked", "--profile", "web", "--target", TARGET]
    subprocess.run([*command, *packages], cwd=ROOT, env=environment, check=True)
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / TARGET / "web"
    return {
        name: (built / f"{crate.replace('-', '_')}.wasm").read_bytes()
        for name, crate in MODULES.items()
    }


def pages(modules: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of the explorer without a server, by path.

    index.html opens from any web server, and explorer.html from a disk, too.
    """
    files = {
        **modules,
        "texts.json": json.dumps(texts()).encode(),
        "saved-page.html": template("{{title}}", "{{data}}"),
        RECORDED: recorded(),
    }
    page = assets()["index.html"][0].decode().replace("<html", "<html data-engine", 1)
    own = {name: assets()[name][0] for name in (*STYLE_SHEETS, "icon.svg", WORKER)}
    own[BUNDLE] = bundle("explorer.js").encode()
    # One script, because each level of imports would be another round trip.
    early = [
        f'<link rel="preload" as="fetch" href="static/{name}" crossorigin>' for name in PRELOADED
    ]
    script = f'<script type="module" src="static/{BUNDLE}"></script>'
    return {
        **{f"static/{name}": content for name, content in (own | files).items()},
        "index.html": page.replace(SCRIPT, "\n".join([*early, script])).encode(),
        "explorer.html": single(page, files | {WORKER: own[WORKER]}).encode(),
    }


def recorded() -> bytes:
    """The index, and the engine's answers to the first questions of the page.

    They are drawn while the engine is compiled. recorded.js reads them: the length of a head in
    JSON, the head, and the answers.
    """
    # As the page writes it, which compares texts.
    request: dict[str, Any] = {
        "scenario": DEFAULT["scenario"],
        "toml": None,
        "set": {},
        "senders": DEFAULT["senders"],
        "seed": "1",
        "flow": None,
        "place": "sender",
        "between": None,
    }
    answers = {name: answer(name, request) for name in ("scenario", "run")}
    head = {
        "index": index(),
        "answers": [
            {"question": name, "request": request, "bytes": len(body)}
            for name, body in answers.items()
        ],
    }
    text = json.dumps(head).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, *answers.values()])


def single(page: str, files: Mapping[str, bytes]) -> str:
    """The page with everything inside."""
    contents = "\n".join(
        f'<script type="application/octet-stream" id="asset-{name}">{encoded(content)}</script>'
        for name, content in files.items()
    )
    script = f'<script type="module">{bundle("explorer.js")}</script>'
    icon = f'<link rel="icon" href="data:image/svg+xml;base64,{encoded(assets()["icon.svg"][0])}">'
    for found, inside in ((STYLES, f"<style>\n{style()}</style>"), (ICON, icon), (SCRIPT, "")):
        assert found in page
        page = page.replace(found, inside)
    return page.replace("</body>", f"{contents}\n{script}\n</body>")


def encoded(content: bytes) -> str:
    """The bytes in base64."""
    return base64.b64encode(content).decode()


def write(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files, by their paths in a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
