"""What can be kept of a run: its tables, its captures, and a page that opens without a server."""

import base64
import hashlib
import io
import re
import shlex
import zipfile
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any

from rtolab.result import PLACES, Result, file_name
from rtolab.serve import captures
from rtolab.serve.assets import assets
from rtolab.serve.faults import FILE
from rtolab.serve.runs import detectors, run, simulate

Asked = Mapping[str, Any]

MODULES = (
    *("dom.js", "units.js", "axis.js", "looks.js", "api.js", "story.js", "panel.js", "panels.js"),
    *("pointing.js", "picture.js", "totals.js", "timeouts.js", "capture.js", "theme.js"),
    "saved.js",
)
"""Of the page that is kept, each behind those that it needs."""
IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async |class |const |function ))", re.MULTILINE)


def download(asked: Asked) -> bytes:
    """A run again, as a file of the kind that is asked for.

    Raises:
        Error: what is wrong.
    """
    return KINDS[asked["kind"]](asked)


def html(asked: Asked) -> bytes:
    """A page with the pictures and tables of the run, which asks nobody for anything."""
    edited = ", edited" if asked["toml"] is not None else ""
    return page(f"{asked['scenario']}{edited}, seed {asked['seed']}", run(asked))


def diagnosis(asked: Asked) -> bytes:
    """A page with what was found in a capture.

    Raises:
        Error: it is no capture.
    """
    return page(asked["name"], captures.diagnose(asked))


def page(title: str, answer: bytes) -> bytes:
    """An answer of the server as a page that shows it."""
    script = bundle()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = Template(assets()["saved.html"][0].decode()).substitute(
        title=escape(title),
        digest=digest,
        style=assets()["style.css"][0].decode(),
        script=script,
        data=base64.b64encode(answer).decode(),
    )
    return text.encode()


def bundle() -> str:
    """The modules that show a result, as one script."""
    parts = [assets()[name][0].decode() for name in MODULES]
    return "\n" + "\n".join(EXPORT.sub("", IMPORT.sub("", part)) for part in parts) + "\n"


def parquet(asked: Asked) -> bytes:
    """All tables, each a Parquet file, with the scenario."""
    return _zipped(_tables(_result(asked)) | _scenario(asked))


def pcapng(asked: Asked) -> bytes:
    """The captures of every sender at both hosts."""
    return _zipped(_captures(_result(asked)) | _scenario(asked))


def everything(asked: Asked) -> bytes:
    """Page, tables, captures and scenario."""
    page = {"report.html": html(asked)}
    result = _result(asked)
    return _zipped(page | _tables(result) | _captures(result) | _scenario(asked))


KINDS: dict[str, Callable[[Asked], bytes]] = {
    "html": html,
    "parquet": parquet,
    "pcapng": pcapng,
    "everything": everything,
}


def _result(asked: Asked) -> Result:
    return simulate(asked, asked["senders"], judges=detectors())


def _tables(result: Result) -> dict[str, bytes]:
    with TemporaryDirectory(dir=".") as folder:
        return {path.name: path.read_bytes() for path in result.write_tables(folder)}


def _captures(result: Result) -> dict[str, bytes]:
    return {
        f"{run}-{file_name(result.sender(run))}-{place}.pcapng": result.pcapng(run, place)
        for run in range(result.runs)
        for place in PLACES
    }


def _scenario(asked: Asked) -> dict[str, bytes]:
    """The scenario, and the command that runs the same."""
    words = ["rtolab", "run", FILE, "--seed", str(asked["seed"]), "--out", "out"]
    for sender in asked["senders"]:
        words += ["--sender", sender]
    for key, value in asked["set"].items():
        words += ["--set", f"{key}={value}"]
    return {FILE: Path(FILE).read_bytes(), "command.txt": f"{shlex.join(words)}\n".encode()}


def _zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
