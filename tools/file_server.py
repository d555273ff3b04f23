"""A plain file server for pages without a server, and the engine in such a page."""

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENGINE = """
async () => {
  const fetched = async (name) => (await fetch(`static/${name}`)).arrayBuffer();
  const module = await fetched("rtolab.wasm");
  const engine = (await WebAssembly.instantiate(module, {})).instance.exports;
  const write = (bytes) => {
    const at = engine.reserve(bytes.length);
    new Uint8Array(engine.memory.buffer).set(bytes, at);
  };
  const output = () => {
    const at = engine.output();
    return new Uint8Array(engine.memory.buffer).slice(at, at + engine.output_length());
  };
  engine.begin();
  write(new Uint8Array(await fetched("texts.json")));
  engine.take_texts();
  const index = JSON.parse(new TextDecoder().decode(output()));
  const ask = (question, request) => {
    write(new TextEncoder().encode(request));
    const began = performance.now();
    const isAnswer = engine.ask(question) === 1;
    const took = performance.now() - began;
    if (!isAnswer) throw new Error(new TextDecoder().decode(output()));
    return took;
  };
  globalThis.rtolab = { index, ask, output };
}
"""
"""Loads the engine into a page of `make web`: its index, `ask` with the time in ms, `output`."""


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
