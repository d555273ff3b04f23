// Answers of the engine to the first questions of the page, which the build recorded.

/** They begin with the length of a head in JSON; the answers follow it in its order. */
export class Recorded {
  constructor(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    this.index = head.index;
    this.answers = new Map();
    let at = 4 + length;
    for (const { question, request, bytes } of head.answers) {
      this.answers.set(key(question, request), buffer.slice(at, at + bytes));
      at += bytes;
    }
  }

  /** The answer to exactly this request; undefined if there is none. The caller may change it. */
  answer(question, request) {
    return this.answers.get(key(question, request))?.slice();
  }
}

function key(question, request) {
  return `${question} ${JSON.stringify(request)}`;
}
