"""The routes of the explorer."""

import json
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from rtolab._rtolab import Error
from rtolab.serve.assets import assets
from rtolab.serve.browse import SHOWN, TYPES, ResultBrowser, ResultEntry, experiment
from rtolab.serve.faults import Fault
from rtolab.serve.guard import Guard
from rtolab.serve.limits import MEGABYTE, Limits
from rtolab.serve.pool import Answer, BusyError, Kind, Pool, StoppedError
from rtolab.serve.requests import LONGEST_NAME, RefusedError, RunRequest, printable, read_what_if
from rtolab.serve.runs import index

BINARY = "application/octet-stream"
DOWNLOADS = {
    "html": "text/html; charset=utf-8",
    "parquet": "application/zip",
    "pcapng": "application/zip",
    "everything": "application/zip",
}
"""Kinds of downloads, with their media types."""
STATUS = {Kind.DONE: 200, Kind.WRONG: 422, Kind.DEFECT: 500, Kind.EXHAUSTED: 507}


class TooLargeError(Error):
    """The body of a request is too large."""


class MissingError(Error):
    """No object has that name or number."""


@dataclass
class Explorer:
    """The server.

    Attributes:
        limits: of each client.
        folders: of results to browse.
        unable: why it cannot answer, if so.
    """

    limits: Limits
    folders: Sequence[Path] = ()

    def __post_init__(self) -> None:
        self._uploads = 0
        self.unable: OSError | None = OSError("it has not begun")
        self.browser = ResultBrowser.of(self.folders)
        self._index = index() | {
            "results": self.browser.titles(),
            "limits": {"capture": self.limits.capture, "senders": self.limits.senders},
        }

    def app(self) -> Starlette:
        """The ASGI application."""
        routes = [
            Route("/", self.page),
            Route("/static/{name}", self.asset),
            Route("/api/index", self.index),
            Route("/api/scenario", self.scenario, methods=["POST"]),
            Route("/api/check", self.check, methods=["POST"]),
            Route("/api/run", self.run, methods=["POST"]),
            Route("/api/what-if", self.what_if, methods=["POST"]),
            Route("/api/branch", self.branch, methods=["POST"]),
            Route("/api/download/{kind}", self.download, methods=["POST"]),
            Route("/api/capture", self.capture, methods=["POST"]),
            Route("/api/capture/html", self.capture_page, methods=["POST"]),
            Route("/api/results/{number:int}", self.results),
            Route("/api/results/{number:int}/{file:int}", self.file),
        ]
        return Starlette(
            routes=routes,
            middleware=[Middleware(Guard)],
            exception_handlers={Error: _wrong, RefusedError: _refused, OSError: _exhausted},
            lifespan=self._working,
        )

    @asynccontextmanager
    async def _working(self, _: Starlette) -> AsyncIterator[None]:
        try:
            with tempfile.TemporaryDirectory(prefix="rtolab-serve-") as folder:
                self.folder = Path(folder)
                self.pool = Pool(self.limits, self.folder)
                try:
                    await self.pool.start()
                    self.unable = None
                    yield
                finally:
                    await self.pool.stop()
        except OSError as error:
            if self.unable is None:
                raise
            self.unable = error
            yield  # The caller checks `unable` and reports it.

    async def page(self, _: Request) -> Response:
        """The page."""
        return _asset("index.html")

    async def asset(self, request: Request) -> Response:
        """A file of the page."""
        return _asset(request.path_params["name"])

    async def index(self, _: Request) -> Response:
        """The scenarios, senders and results on offer."""
        return JSONResponse(self._index)

    async def scenario(self, request: Request) -> Response:
        """The text of a scenario, and the initial values of its sliders."""
        return await self._ask("scenario", await self._run_request(request))

    async def check(self, request: Request) -> Response:
        """The error in a request, if any."""
        return await self._ask("check", await self._run_request(request))

    async def run(self, request: Request) -> Response:
        """One run per sender, as data for the figures."""
        return await self._ask("run", await self._run_request(request), BINARY)

    async def what_if(self, request: Request) -> Response:
        """The counterfactuals of a timeout."""
        given = await self._json(request)
        return await self._ask("what-if", read_what_if(given, self.limits))

    async def branch(self, request: Request) -> Response:
        """A run beside its fork without the timeout, or with another sender from there on."""
        given = await self._json(request)
        return await self._ask("branch", read_what_if(given, self.limits), BINARY)

    async def download(self, request: Request) -> Response:
        """The runs of a request as a file."""
        kind = request.path_params["kind"]
        if kind not in DOWNLOADS:
            raise RefusedError(f"expected one of {', '.join(DOWNLOADS)}")
        parameters = await self._run_request(request) | {"kind": kind}
        return await self._ask("download", parameters, DOWNLOADS[kind])

    async def capture(self, request: Request) -> Response:
        """The retransmissions of a capture and their causes."""
        return await self._diagnosed("diagnose", request, BINARY)

    async def capture_page(self, request: Request) -> Response:
        """The same as a stand-alone page."""
        return await self._diagnosed("diagnosis_page", request, DOWNLOADS["html"])

    async def _diagnosed(self, job: str, request: Request, kind: str) -> Response:
        if request.headers.get("content-type") != BINARY:
            raise RefusedError(f"a capture is sent as it is: Content-Type: {BINARY}")
        if self._uploads >= self.limits.uploads:
            raise BusyError("the server is busy: enough captures are on their way already")
        name = printable(request.query_params.get("name", "")[:LONGEST_NAME])
        self._uploads += 1
        try:
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix="capture-") as file:
                await self._receive(request, file)
                parameters = {"path": file.name, "name": name, "packets": self.limits.packets}
                answer = await self.pool.ask(job, parameters, self.limits.capture_s)
        finally:
            self._uploads -= 1
        return _response(answer, kind)

    async def _receive(self, request: Request, file: IO[bytes]) -> None:
        """Writes the body of a request to a file, part by part."""
        length = 0
        async for part in request.stream():
            length += len(part)
            if length > self.limits.capture:
                raise TooLargeError(
                    f"the capture has more than {self.limits.capture // MEGABYTE} MB, the most "
                    "that is taken here; cut it (editcap -c), or use rtolab diagnose"
                )
            file.write(part)
        file.flush()

    async def results(self, request: Request) -> Response:
        """The cells of a sweep, or the outcome of an experiment."""
        found = self._found(request)
        if found.kind == "experiment":
            return JSONResponse(experiment(found))
        measure = request.query_params.get("measure")
        parameters = {"folder": str(found.folder.resolve()), "measure": measure}
        return await self._ask("sweep", parameters)

    async def file(self, request: Request) -> Response:
        """A file of an experiment."""
        files = self._found(request).files
        number = request.path_params["file"]
        if number >= len(files):
            raise MissingError(f"no file {number}")
        path = files[number]
        # The path was resolved: now it may be a link out of the folder.
        if path.is_symlink() or path.resolve() != path or not path.is_file():
            raise MissingError(f"{path.name} is not there any more")
        # Only figures are displayed: a saved page must not run with our origin.
        how = "inline" if path.suffix in SHOWN else "attachment"
        return FileResponse(
            path, media_type=TYPES[path.suffix], filename=path.name, content_disposition_type=how
        )

    def _found(self, request: Request) -> ResultEntry:
        number: int = request.path_params["number"]
        if number >= len(self.browser.found):
            raise MissingError(f"no results {number}")
        found = self.browser.found[number]
        if not found.folder.is_dir():
            raise MissingError(f"the folder of {found.name} is not there any more")
        return found

    async def _ask(
        self, job: str, parameters: Mapping[str, Any], kind: str = "application/json"
    ) -> Response:
        return _response(await self.pool.ask(job, parameters, self.limits.run_s), kind)

    async def _run_request(self, request: Request) -> dict[str, Any]:
        return RunRequest.read(await self._json(request), self.limits).document(self.limits)

    async def _json(self, request: Request) -> Any:
        """The body of a request, only with a JSON content type, which no HTML form can send."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "application/json":
            raise RefusedError("a request is JSON, and says so: Content-Type: application/json")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > self.limits.request:
                raise RefusedError(f"a request has at most {self.limits.request} bytes")
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise RefusedError("a request is JSON; this is none") from None


def _response(answer: Answer, kind: str) -> Response:
    status = STATUS[answer.kind]
    media = kind if answer.kind is Kind.DONE else "application/json"
    return Response(answer.body, status, media_type=media)


def _asset(name: str) -> Response:
    found = assets().get(name)
    if found is None:
        return JSONResponse({"error": {"where": "request", "message": "no such page"}}, 404)
    content, kind = found
    # Browsers must revalidate, so that they never mix files of two versions.
    return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})


async def _refused(_: Request, error: Exception) -> Response:
    return Response(Fault("request", str(error)).encoded(), 400, media_type="application/json")


async def _exhausted(_: Request, error: Exception) -> Response:
    fault = Fault.of_machine(error)
    if fault is None:
        raise error
    return Response(fault.encoded(), STATUS[Kind.EXHAUSTED], media_type="application/json")


async def _wrong(_: Request, error: Exception) -> Response:
    status, headers = 422, {}
    if isinstance(error, BusyError):
        status, headers = 503, {"Retry-After": "1"}
    elif isinstance(error, StoppedError | TooLargeError):
        status = 413
    elif isinstance(error, MissingError):
        status = 404
    fault = Fault("request", str(error)).encoded()
    return Response(fault, status, media_type="application/json", headers=headers)
