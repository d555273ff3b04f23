// Who answers this page: a server, or an engine in the page itself.

import { Engine } from "./engine.js";
import { Recorded } from "./recorded.js";

/** The bytes of a file inside this page; null if the file is beside it. */
function inside(name) {
  const found = document.getElementById(`asset-${name}`);
  return found && Uint8Array.from(atob(found.textContent.trim()), (letter) => letter.charCodeAt(0)).buffer;
}

/** The bytes of a file that belongs to this page; a page of one file contains it. */
export async function asset(name) {
  return inside(name) ?? (await fetch(`static/${name}`)).arrayBuffer();
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

/** The address of a script of this page. */
function scriptAddress(name) {
  const script = inside(name);
  return script ? URL.createObjectURL(new Blob([script], { type: "text/javascript" })) : `static/${name}`;
}

async function load() {
  const [module, texts] = await Promise.all([compiled("rtolab.wasm"), asset("texts.json")]);
  return { module, texts: new Uint8Array(texts) };
}

function begin() {
  const recorded = asset("recorded.bin").then((buffer) => new Recorded(buffer));
  const captures = () => compiled("rtolab-captures.wasm");
  const engine = new Engine({ worker: scriptAddress("engine-worker.js"), load, captures, recorded });
  // Without an address of its own the page begins with a recorded answer, which needs no engine yet.
  if (location.hash) engine.start();
  return engine;
}

/** The engine of this page; null if a server answers. */
export const engine = "engine" in document.documentElement.dataset ? begin() : null;

/** A page that shows an answer without a server or an engine. */
export async function savedPage(title, answer) {
  const text = (from) => from.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  const letters = Array.from(new Uint8Array(answer), (byte) => String.fromCharCode(byte)).join("");
  const page = new TextDecoder().decode(await asset("saved-page.html"));
  return new Blob([page.replaceAll("{{title}}", () => text(title)).replace("{{data}}", () => btoa(letters))]);
}
