"""Files to save of a run: tables, captures, and a page that opens without a server."""

import base64
import hashlib
import io
import shlex
import zipfile
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any

from rtolab.result import PLACES, Result, file_name
from rtolab.serve.assets import assets, style
from rtolab.serve.bundle import bundle
from rtolab.serve.faults import FILE
from rtolab.serve.runs import answer, diagnose, simulate

Request = Mapping[str, Any]


def download(request: Request) -> bytes:
    """Repeats a run and returns a file of the requested kind."""
    return KINDS[request["kind"]](request)


def html(request: Request) -> bytes:
    """A stand-alone page with the figures and tables of the run."""
    edited = ", edited" if request["toml"] is not None else ""
    return page(f"{request['scenario']}{edited}, seed {request['seed']}", answer("run", request))


def diagnosis(request: Request) -> bytes:
    """A stand-alone page with the diagnosis of a capture."""
    return page(request["name"], diagnose(request))


def page(title: str, shown: bytes) -> bytes:
    """A stand-alone page that shows an answer of the server."""
    return template(escape(title), base64.b64encode(shown).decode())


def template(title: str, data: str) -> bytes:
    """A stand-alone page with this title and this data, an answer in base64."""
    script = bundle("saved.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = Template(assets()["saved.html"][0].decode()).substitute(
        title=title,
        digest=digest,
        style=style(),
        script=script,
        data=data,
    )
    return text.encode()


def parquet(request: Request) -> bytes:
    """The tables as Parquet files, with the scenario."""
    return _zipped(_tables(_result(request)) | _scenario(request))


def pcapng(request: Request) -> bytes:
    """The captures of each sender at both hosts."""
    return _zipped(_captures(_result(request)) | _scenario(request))


def everything(request: Request) -> bytes:
    """Page, tables, captures and scenario."""
    page = {"report.html": html(request)}
    result = _result(request)
    return _zipped(page | _tables(result) | _captures(result) | _scenario(request))


KINDS: dict[str, Callable[[Request], bytes]] = {
    "html": html,
    "parquet": parquet,
    "pcapng": pcapng,
    "everything": everything,
}


def _result(request: Request) -> Result:
    return simulate(request, request["senders"])


def _tables(result: Result) -> dict[str, bytes]:
    with TemporaryDirectory(dir=".") as folder:
        return {path.name: path.read_bytes() for path in result.write_tables(folder)}


def _captures(result: Result) -> dict[str, bytes]:
    return {
        f"{run}-{file_name(result.sender(run))}-{place}.pcapng": result.pcapng(run, place)
        for run in range(result.runs)
        for place in PLACES
    }


def _scenario(request: Request) -> dict[str, bytes]:
    """The scenario, and the command that repeats the run."""
    words = ["rtolab", "run", FILE, "--seed", str(request["seed"]), "--out", "out"]
    words += ["--judge", "all"]
    for sender in request["senders"]:
        words += ["--sender", sender]
    for key, value in request["set"].items():
        words += ["--set", f"{key}={value}"]
    return {FILE: Path(FILE).read_bytes(), "command.txt": f"{shlex.join(words)}\n".encode()}


def _zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
