// A worker with the engine. It answers one message at a time; `broken` says that it cannot go on.

let engine = null;
const memory = () => new Uint8Array(engine.memory.buffer);

function write(...parts) {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  let at = engine.reserve(length);
  for (const part of parts) {
    memory().set(part, at);
    at += part.length;
  }
}

/** A copy of the output, because the memory may move. */
function output() {
  const at = engine.output();
  return memory().slice(at, at + engine.output_length());
}

function answered(isAnswer) {
  const found = output();
  if (isAnswer) return { answer: found.buffer };
  return { error: JSON.parse(new TextDecoder().decode(found)).error };
}

function panicked(error) {
  let message = String(error);
  try {
    engine.last_panic();
    message = new TextDecoder().decode(output()) || message;
  } catch {
    // The message of the browser has to do.
  }
  return { broken: true, error: { where: "request", message: `a defect in rtolab, please report it: ${message}` } };
}

async function answer(message) {
  const encode = (text) => new TextEncoder().encode(text);
  if (message.module) {
    engine = (await WebAssembly.instantiate(message.module, {})).exports;
    engine.begin();
    write(message.texts);
    return answered(engine.take_texts());
  }
  if (message.capture) {
    const name = encode(message.name);
    write(new Uint8Array(message.capture), name);
    return answered(engine.diagnose_capture(name.length, message.packets));
  }
  write(encode(message.request));
  return answered(message.question === "capture" ? engine.capture() : engine.ask(message.question));
}

self.onmessage = async ({ data }) => {
  let reply;
  try {
    reply = await answer(data);
  } catch (error) {
    reply = panicked(error);
  }
  self.postMessage(reply, reply.answer ? [reply.answer] : []);
};
