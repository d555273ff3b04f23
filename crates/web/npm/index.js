// The engine for programs in JavaScript: scenarios in, packets, windows, timeouts and totals out.

import { unpack } from "./unpack.js";

const QUESTIONS = ["scenario", "check", "run", "what-if", "branch"];
/** The most packets of a connection in a diagnosis. */
const PACKETS = 20_000;

/** An error in a request, with its place. */
export class RtolabError extends Error {
  constructor({ where, line, key, message }) {
    super(message);
    this.name = "RtolabError";
    Object.assign(this, { where, line, key });
  }
}

/** The bytes of a file of this package. */
async function file(name) {
  const url = new URL(`./${name}`, import.meta.url);
  if (url.protocol === "file:") return (await import("node:fs/promises")).readFile(url);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** A module with input and output in its memory. */
class Instance {
  constructor(module) {
    this.module = module;
    this.exports = null;
  }

  /** Calls a function of the module with bytes; its answer as bytes. */
  call(name, parts, ...more) {
    const { exports } = this;
    try {
      let at = exports.reserve(parts.reduce((sum, part) => sum + part.length, 0));
      for (const part of parts) {
        // Memory may have moved when it was reserved.
        new Uint8Array(exports.memory.buffer).set(part, at);
        at += part.length;
      }
      const isAnswer = exports[name](...more);
      const answer = this.#output();
      if (isAnswer) return answer;
      throw new RtolabError(JSON.parse(new TextDecoder().decode(answer)).error);
    } catch (error) {
      if (error instanceof RtolabError) throw error;
      throw this.#afterPanic(error);
    }
  }

  #output() {
    const at = this.exports.output();
    return new Uint8Array(this.exports.memory.buffer).slice(at, at + this.exports.output_length());
  }

  /** After a panic an instance is unusable: the next call begins another. */
  #afterPanic(error) {
    let message = String(error);
    try {
      this.exports.last_panic();
      message = new TextDecoder().decode(this.#output()) || message;
    } catch {
      // The message of WebAssembly has to do.
    }
    this.start();
    return new RtolabError({ where: "request", message: `a defect in rtolab, please report it: ${message}` });
  }

  start() {
    this.exports = new WebAssembly.Instance(this.module, {}).exports;
    this.exports.begin();
    this.started?.();
    return this;
  }
}

/** The engine. `load` makes one. */
export class Engine {
  #runs;
  #captures = null;
  #sources;

  constructor(module, texts, sources = {}) {
    this.#sources = sources;
    this.#runs = new Instance(module);
    this.#runs.started = () => {
      const index = this.#runs.call("take_texts", [texts]);
      Object.assign(this, JSON.parse(new TextDecoder().decode(index)));
    };
    this.#runs.start();
  }

  #ask(name, request) {
    return this.#runs.call("ask", [encoded(request)], QUESTIONS.indexOf(name));
  }

  #json(name, request) {
    return JSON.parse(new TextDecoder().decode(this.#ask(name, request)));
  }

  /** One run for each sender. */
  run(request) {
    return unpack(this.#ask("run", request).buffer);
  }

  /** Throws the first error in a request. */
  check(request) {
    this.#json("check", request);
  }

  /** The text of a scenario, and values of its links. */
  scenario(request) {
    return this.#json("scenario", request);
  }

  /** The outcome without a timeout, and with other senders from it on. */
  whatIf(request) {
    return this.#json("what-if", request);
  }

  /** A run beside its fork at a timeout. */
  branch(request) {
    return unpack(this.#ask("branch", request).buffer);
  }

  /** The run of the first sender as a pcapng file. */
  pcapng(request) {
    return this.#runs.call("capture", [encoded(request)]);
  }

  /** The retransmissions of a capture with their causes. */
  async diagnose(name, capture) {
    this.#captures ??= this.#loadCaptures();
    const ending = new TextEncoder().encode(name);
    const instance = await this.#captures;
    return unpack(instance.call("diagnose_capture", [capture, ending], ending.length, PACKETS).buffer);
  }

  async #loadCaptures() {
    const module = this.#sources.captures ?? (await file("rtolab-captures.wasm"));
    return new Instance(await compiled(module)).start();
  }
}

function encoded(request) {
  return new TextEncoder().encode(JSON.stringify(request));
}

async function compiled(module) {
  return module instanceof WebAssembly.Module ? module : WebAssembly.compile(module);
}

/** The engine, from the files of this package, or from `sources`. */
export async function load(sources = {}) {
  const [module, texts] = await Promise.all([sources.module ?? file("rtolab.wasm"), sources.texts ?? file("texts.json")]);
  return new Engine(await compiled(module), new Uint8Array(texts), sources);
}
