// Runs that are kept, so that later ones can be compared with them.

import { Fault } from "./fault.js";

/** The kept runs: the request that gave them, and their senders. */
export class KeptRuns {
  /** `runOf(request)` gives the result of a request. */
  constructor(runOf) {
    Object.assign(this, { runOf, request: null, senders: [] });
  }

  /** Keeps a result; null keeps none. */
  take(request, result) {
    this.request = request;
    this.senders = result ? result.senders.map(marked) : [];
  }

  /** Runs a request from an address again, unless its runs are those that are kept. */
  async follow(request) {
    if (JSON.stringify(request) === JSON.stringify(this.request)) return;
    try {
      this.take(request, request && (await this.runOf(request)));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.where === "stopped") throw error;
      this.take(request, null);
      throw new Fault({ where: "request", message: `the kept runs: ${error.message}` }, error.status);
    }
  }

  /** A result with kept senders after its own, of which there are at most `most` together. */
  beside(result, most) {
    if (this.senders.length === 0) return result;
    const senders = [...result.senders, ...this.senders].slice(0, Math.max(most, result.senders.length));
    return { ...result, senders, end_s: Math.max(result.end_s, ...senders.map(({ end_s }) => end_s)) };
  }
}

function marked(sender) {
  return { ...sender, name: `${sender.name} (kept)`, timeouts: [...sender.timeouts] };
}
