// Who answers this page: a server, or an engine in the page itself.

import { Engine } from "./engine.js";

/** The bytes of a file that belongs to this page; a page of one file contains it. */
export async function asset(name) {
  const inside = document.getElementById(`asset-${name}`);
  if (!inside) return (await fetch(`static/${name}`)).arrayBuffer();
  return Uint8Array.from(atob(inside.textContent.trim()), (letter) => letter.charCodeAt(0)).buffer;
}

/** A module of this page, compiled while it arrives if its server names its type. */
async function compiled(name) {
  if (!document.getElementById(`asset-${name}`)) {
    try {
      return await WebAssembly.compileStreaming(fetch(`static/${name}`));
    } catch {
      // Not every file server knows the type.
    }
  }
  return WebAssembly.compile(await asset(name));
}

async function begin() {
  const [module, texts, worker] = await Promise.all([compiled("rtolab.wasm"), asset("texts.json"), asset("engine-worker.js")]);
  return new Engine({
    module,
    captures: () => compiled("rtolab-captures.wasm"),
    texts: new Uint8Array(texts),
    worker: URL.createObjectURL(new Blob([worker], { type: "text/javascript" })),
  });
}

/** The engine of this page; null if a server answers. */
export const engine = "engine" in document.documentElement.dataset ? await begin() : null;

/** A page that shows an answer without a server or an engine. */
export async function savedPage(title, answer) {
  const text = (from) => from.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  const letters = Array.from(new Uint8Array(answer), (byte) => String.fromCharCode(byte)).join("");
  const page = new TextDecoder().decode(await asset("saved-page.html"));
  return new Blob([page.replaceAll("{{title}}", () => text(title)).replace("{{data}}", () => btoa(letters))]);
}
