// Requests of which only the newest counts.

/** At most one request is in progress, and only the last one waits. */
export class Latest {
  constructor(work) {
    this.work = work;
    this.busy = false;
    this.waiting = null;
    this.onwait = () => {};
  }

  /** Send this request after the one in progress; a request that waited until now is dropped. */
  offer(question) {
    this.waiting = question;
    if (this.busy) this.onwait();
    else this.#next();
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
