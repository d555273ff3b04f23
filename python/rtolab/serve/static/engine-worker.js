// A worker with the engine. It answers one message at a time; `broken` says that it cannot go on.

/** The instances of the modules: `runs`, and `captures` once it is needed. */
const modules = {};

async function load(name, module) {
  modules[name] = (await WebAssembly.instantiate(module, {})).exports;
  modules[name].begin();
}

/** Writes the input of a module. Its memory may move when it reserves room. */
function write({ memory, reserve }, ...parts) {
  let at = reserve(parts.reduce((sum, part) => sum + part.length, 0));
  for (const part of parts) {
    new Uint8Array(memory.buffer).set(part, at);
    at += part.length;
  }
}

/** A copy of the output of a module. */
function output({ memory, output, output_length }) {
  const at = output();
  return new Uint8Array(memory.buffer).slice(at, at + output_length());
}

function answered(module, isAnswer) {
  const found = output(module);
  if (isAnswer) return { answer: found.buffer };
  return { error: JSON.parse(new TextDecoder().decode(found)).error };
}

function panicked(error, module) {
  let message = String(error);
  try {
    module.last_panic();
    message = new TextDecoder().decode(output(module)) || message;
  } catch {
    // The message of the browser has to do.
  }
  return { broken: true, error: { where: "request", message: `a defect in rtolab, please report it: ${message}` } };
}

const encode = (text) => new TextEncoder().encode(text);

async function answer(message) {
  if (message.module) {
    await load("runs", message.module);
    write(modules.runs, message.texts);
    return answered(modules.runs, modules.runs.take_texts());
  }
  if (message.capture) {
    if (!modules.captures) await load("captures", message.captures);
    const name = encode(message.name);
    write(modules.captures, new Uint8Array(message.capture), name);
    return answered(modules.captures, modules.captures.diagnose_capture(name.length, message.packets));
  }
  const { runs } = modules;
  write(runs, encode(message.request));
  return answered(runs, message.question === "capture" ? runs.capture() : runs.ask(message.question));
}

self.onmessage = async ({ data }) => {
  let reply;
  try {
    reply = await answer(data);
  } catch (error) {
    reply = panicked(error, data.capture ? modules.captures : modules.runs);
  }
  self.postMessage(reply, reply.answer ? [reply.answer] : []);
};
