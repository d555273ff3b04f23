// Requests to the server, and its answers.

/** An error that the server reports: its place (`where`, `line`, `key`) and `message`. */
export class Fault extends Error {
  constructor(fault, status) {
    super(fault.message);
    Object.assign(this, { where: fault.where, line: fault.line, key: fault.key, status });
  }
}

async function answered(response) {
  if (response.ok) return response;
  let fault = { where: "request", message: `the server answered with status ${response.status}` };
  try {
    fault = (await response.json()).error;
  } catch {
    // An answer without JSON is not from our server.
  }
  throw new Fault(fault, response.status);
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Fault({ where: "request", message: "the server does not answer; is it still running?" }, 0);
  }
  return answered(response);
}

/** The JSON at a path. */
export async function look(path) {
  return (await request(path)).json();
}

/** The answer to a JSON request. */
export function ask(path, question) {
  const headers = { "Content-Type": "application/json" };
  return request(path, { method: "POST", headers, body: JSON.stringify(question) });
}

/** The answer to a file. */
export function send(path, file) {
  return request(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
}

/** An answer of columns: every `{type, at, count}` in its head becomes an array of numbers. */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return columns(head, buffer, 4 + length);
}

function columns(value, buffer, begin) {
  if (value === null || typeof value !== "object") return value;
  if ("type" in value && "at" in value && "count" in value) {
    const kind = value.type === "f8" ? Float64Array : Uint8Array;
    return new kind(buffer, begin + value.at, value.count);
  }
  for (const key of Object.keys(value)) value[key] = columns(value[key], buffer, begin);
  return value;
}

/** Requests of which only the newest counts: at most one is in progress, and only the last one waits. */
export class Latest {
  constructor(work) {
    this.work = work;
    this.busy = false;
    this.waiting = null;
  }

  /** Send this request after the one in progress; a request that waited until now is dropped. */
  offer(question) {
    this.waiting = question;
    if (!this.busy) this.#next();
  }

  async #next() {
    this.busy = true;
    while (this.waiting !== null) {
      const question = this.waiting;
      this.waiting = null;
      await this.work(question);
    }
    this.busy = false;
  }
}
