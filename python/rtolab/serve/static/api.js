// Requests to the server, or to the engine in this page, and their answers.

import { engine } from "./backend.js";
import { Fault } from "./fault.js";

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
  return engine && path === "api/index" ? engine.index() : (await request(path)).json();
}

/** The answer to a JSON request. */
export async function ask(path, question) {
  if (engine) return new Response(await engine.ask(path.replace("api/", ""), question));
  const headers = { "Content-Type": "application/json" };
  return request(path, { method: "POST", headers, body: JSON.stringify(question) });
}

/** The answer to a file. */
export async function send(path, file) {
  if (engine) return new Response(await engine.diagnose(file.name, file));
  return request(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
}
