"""What other sites, other users of this machine and strange results can do to the explorer."""

import json
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse

from explorer_client import HOLD, HOST, error_of, resident, server
from rtolab.serve import browse
from rtolab.serve.app import Explorer
from rtolab.serve.assets import assets
from rtolab.serve.limits import Limits

SECRET = "the secret of another folder"
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def test_a_page_on_another_port_of_this_machine_is_refused(client: TestClient) -> None:
    for site in ("same-site", "cross-site"):
        marked = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
        for path in ("/", "/static/explorer.js", "/api/index"):
            assert client.get(path, headers=marked).status_code == 403
        assert client.post("/api/run", json=HOLD, headers=marked).status_code == 403


def test_two_names_in_one_request_are_refused(client: TestClient) -> None:
    names = [("Host", "127.0.0.1:8642"), ("Host", "evil.example")]
    assert client.get("/api/index", headers=names).status_code == 403


@pytest.mark.parametrize("origin", [HOST, "http://evil.example"])
def test_no_websocket_is_opened(client: TestClient, origin: str) -> None:
    with (
        pytest.raises(WebSocketDenialResponse) as refused,
        client.websocket_connect("/", headers={"Origin": origin}),
    ):
        pass
    assert refused.value.status_code == 403


def test_the_server_itself_opens_no_websocket_and_limits_headers() -> None:
    upgrade = (
        "GET /api/index HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with server() as (address, pid):
        port = int(address.rstrip("/").rpartition(":")[2])
        assert listening(port) == {"0100007F"}, "only this machine reaches it"
        assert asked(port, upgrade.encode()).startswith(b"HTTP/1.1 403")
        before = resident(pid)[pid]
        endless = (
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: %s\r\n" % bytes(8 << 20).hex().encode()
        )
        assert asked(port, endless).startswith((b"HTTP/1.1 400", b""))
        assert resident(pid)[pid] - before < 10
        assert asked(port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 200")


def listening(port: int) -> set[str]:
    """The addresses at which this machine listens on a port, as Linux writes them."""
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text(encoding="ascii").splitlines()[1:]
    ]
    ends = [row[1].split(":") for row in rows if row[3] == "0A"]
    return {address for address, found in ends if int(found, 16) == port}


def asked(port: int, request: bytes) -> bytes:
    """The first bytes of the answer to a request; none if the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as one:
        try:
            one.sendall(request)
            return one.recv(1000)
        except ConnectionError:
            return b""


def test_no_text_becomes_code_in_the_page() -> None:
    ways = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|\beval\(|new Function|"
        r"setTimeout\(\s*[\"'`]|javascript:|createContextualFragment|DOMParser"
    )
    for name, (content, kind) in assets().items():
        if kind.startswith(("text/javascript", "text/html")):
            assert not ways.search(content.decode()), name


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[tuple[Path, TestClient]]:
    """A folder of results that names files outside of itself, in every way that we know."""
    (tmp_path / "secret.json").write_text(json.dumps({"document": {"title": SECRET}}))
    (tmp_path / "secret.png").write_text(SECRET)
    results = tmp_path / "results"
    (results / "one").mkdir(parents=True)
    (results / "one" / "good.png").write_text("a picture")
    (results / "one" / "good.svg").write_text(PICTURE)
    (results / "one" / "page.html").write_text("<script>alert(1)</script>")
    (results / "one" / "script.js").write_text("alert(1)")
    (results / "one" / "link.png").symlink_to(tmp_path / "secret.png")
    names: list[object] = [
        *("good.png", "good.svg", "page.html", "script.js", "link.png", "../../secret.png"),
        *(str(tmp_path / "secret.png"), "nul\0.png", "\ud800.png", "/etc/passwd", 7, None, {}),
    ]
    record = {"document": {"experiment": "a<b>", "title": "<img src=x>"}, "files": {"a": names}}
    (results / "one" / "finished.json").write_text(json.dumps(record | {"more": {"b": "c"}}))
    linked = results / "linked"
    linked.mkdir()
    (linked / "finished.json").symlink_to(tmp_path / "secret.json")
    (results / "outside").symlink_to(tmp_path)
    os.mkfifo(make(results / "pipe") / "finished.json")
    for number, text in enumerate(["[]", '{"document": []}', "[" * 100_000, "", '{"document": 1}']):
        (make(results / f"wrong{number}") / "finished.json").write_text(text)
    with TestClient(Explorer(Limits(), [results]).app(), base_url=HOST) as client:
        yield results, client


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_results_lead_to_no_file_outside_of_their_folder(
    strange: tuple[Path, TestClient],
) -> None:
    results, client = strange
    titles = client.get("/api/index").json()["results"]
    assert [one["name"] for one in titles] == ["a<b>"]
    shown = client.get("/api/results/0").json()
    files = {one["name"]: one["number"] for one in shown["files"]}
    assert set(files) == {"good.png", "good.svg", "page.html"}
    for number in range(len(files)):
        assert SECRET not in client.get(f"/api/results/0/{number}").text
    # A file that is replaced by a link, or whose folder is.
    (results / "one" / "good.png").unlink()
    (results / "one" / "good.png").symlink_to(results.parent / "secret.png")
    missed = client.get(f"/api/results/0/{files['good.png']}")
    assert (missed.status_code, SECRET in missed.text) == (404, False)
    (results / "one").rename(results.parent / "moved")
    (results / "one").symlink_to(results.parent / "moved")
    assert client.get(f"/api/results/0/{files['good.svg']}").status_code == 404


def test_files_of_results_run_nothing_with_our_origin(strange: tuple[Path, TestClient]) -> None:
    _, client = strange
    files = {one["name"]: one for one in client.get("/api/results/0").json()["files"]}
    for name, one in files.items():
        answer = client.get(f"/api/results/0/{one['number']}")
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "javascript" not in answer.headers["content-type"]
        inline = answer.headers["content-disposition"].startswith("inline")
        assert inline == name.startswith("good")
    assert not any("javascript" in kind for kind in browse.TYPES.values())


def test_a_record_too_large_for_the_server_is_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browse, "LARGEST_RECORD", 1000)
    for name, padding in (("small", 10), ("large", 2000)):
        record = {"document": {"experiment": name, "note": "x" * padding}, "files": {}}
        (make(tmp_path / name) / "finished.json").write_text(json.dumps(record))
    assert [one.name for one in browse.ResultBrowser.of([tmp_path]).found] == ["small"]


@pytest.mark.parametrize("key", ["../../secret", "{folder}/secret", "a/b", "..", "", 7, ["a"]])
def test_a_sweep_reads_no_chunk_outside_of_its_folder(tmp_path: Path, key: Any) -> None:
    secret = make(tmp_path / "secret")
    pl.DataFrame({"sender": ["a"], "elapsed_s": [1.0]}).write_parquet(
        secret / "connections.parquet"
    )
    sweep = make(tmp_path / "sweep")
    make(sweep / "chunks")
    key = key.format(folder=tmp_path) if isinstance(key, str) else key
    manifest = {"tables": ["connections"], "chunks": [key]}
    (sweep / "manifest.json").write_text(json.dumps(manifest))
    with TestClient(Explorer(Limits(at_once=1), [sweep]).app(), base_url=HOST) as client:
        refused = client.get("/api/results/0")
    assert refused.status_code == 422
    assert "expected names as in `chunks/`" in error_of(refused)["message"]


@pytest.mark.parametrize("content", [None, b"", b"PAR1", b"PAR1" + bytes(100) + b"PAR1"])
def test_a_chunk_that_cannot_be_read_is_an_error_of_the_request(
    tmp_path: Path, content: bytes | None
) -> None:
    chunk = tmp_path / "sweep" / "chunks" / "0123abcd"
    chunk.mkdir(parents=True)
    if content is not None:
        (chunk / "connections.parquet").write_bytes(content)
    manifest = {"tables": ["connections"], "chunks": ["0123abcd"]}
    (tmp_path / "sweep" / "manifest.json").write_text(json.dumps(manifest))
    with TestClient(Explorer(Limits(at_once=1), [tmp_path]).app(), base_url=HOST) as client:
        refused = client.get("/api/results/0")
    assert refused.status_code == 422
    assert "cannot be read" in error_of(refused)["message"]
