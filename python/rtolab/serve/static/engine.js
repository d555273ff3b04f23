// The engine in this page: workers that run it as WebAssembly, and answer like the server.

import { Fault } from "./fault.js";

/** The questions, in the order of the engine's. */
const QUESTIONS = ["scenario", "check", "run", "what-if", "branch"];
/** Workers. The second one answers short questions during a long run. */
const WORKERS = 2;
/** A run that takes longer is stopped if a newer one waits, in ms. */
const PATIENCE = 400;
/** Resources of a page, like those that the server gives to its clients. */
const LIMITS = { capture: 256_000_000, senders: 8 };
/** The most packets of a connection in the answer about a capture. */
const PACKETS = 20_000;

class EngineWorker {
  constructor(sources) {
    this.sources = sources;
    this.begin();
  }

  /** Starts the thread while its module is compiled. */
  begin() {
    this.failure = null;
    this.worker = new Worker(this.sources.worker);
    this.worker.onerror = (event) => (this.failure = defect(event));
    this.ready = this.sources.loaded().then((loaded) => this.call(loaded));
    this.ready.catch(() => {});
  }

  /** Sends a message; the answer to it. */
  call(message, transferred = []) {
    return new Promise((resolve, reject) => {
      if (this.failure) reject(this.failure);
      this.running = { began: performance.now(), isRun: message.question === QUESTIONS.indexOf("run"), reject };
      this.worker.onmessage = ({ data }) => {
        this.running = null;
        if (data.broken) this.restart();
        if (data.error) reject(new Fault(data.error, 422));
        else resolve(data.answer);
      };
      this.worker.onerror = (event) => {
        // A script that does not load would not load again.
        if (message.module) this.failure = defect(event);
        else this.restart();
        reject(defect(event));
      };
      this.worker.postMessage(message, transferred);
    });
  }

  /** Ends what it does. */
  stop() {
    const { reject } = this.running;
    this.restart();
    reject(new Fault({ where: "stopped", message: "a newer run waits" }, 0));
  }

  /** Ends the worker, whatever it does, and starts another. */
  restart() {
    this.worker.terminate();
    this.begin();
  }
}

function defect({ message }) {
  return new Fault({ where: "request", message: `a defect in rtolab, please report it: ${message ?? "no script"}` }, 500);
}

/** The workers, and who does what. They begin with the first question that has no recorded answer. */
export class Engine {
  /**
   * `worker` is the address of their script, `load()` gives their module and texts, `captures()` the
   * module for captures, and `recorded` the recorded answers, if there are any.
   */
  constructor({ worker, load, captures, recorded = null }, most = WORKERS) {
    const loaded = () => (this.loading ??= load());
    Object.assign(this, { sources: { worker, loaded }, recorded, most, workers: [], queues: [], busy: [] });
    this.captures = () => (this.capturing ??= captures());
  }

  /** Starts the first worker, if none has been started. */
  start() {
    if (this.workers.length > 0) return;
    this.#add();
    this.workers[0].ready.then(() => performance.mark("engine"), () => {});
  }

  /** The scenarios and senders on offer, as the server's index. */
  async index() {
    const { index } = await this.recorded;
    return { results: [], limits: LIMITS, ...index };
  }

  /** The answer to a question of the page, as bytes. */
  async ask(name, request) {
    const recorded = (await this.recorded)?.answer(name, request);
    return recorded ?? this.#next({ question: QUESTIONS.indexOf(name), request: JSON.stringify(request) });
  }

  /** The diagnosis of a capture, which stays in this browser. */
  async diagnose(name, file) {
    const [capture, captures] = await Promise.all([file.arrayBuffer(), this.captures()]);
    return this.#next({ name, capture, captures, packets: PACKETS }, [capture]);
  }

  /** The packets of a run with one sender, as a pcapng file. */
  capture(request) {
    return this.#next({ question: "capture", request: JSON.stringify(request) });
  }

  /** Stops runs that take long, because a newer one waits. */
  stopLongRuns() {
    const isLong = ({ running }) => running?.isRun && performance.now() - running.began > PATIENCE;
    this.workers.filter(isLong).forEach((worker) => worker.stop());
  }

  #add() {
    this.workers.push(new EngineWorker(this.sources));
    this.queues.push(Promise.resolve());
    this.busy.push(0);
  }

  #next(message, transferred) {
    this.start();
    if (Math.min(...this.busy) > 0 && this.workers.length < this.most) this.#add();
    const place = this.busy.indexOf(Math.min(...this.busy));
    this.busy[place] += 1;
    const answer = this.queues[place].then(async () => {
      await this.workers[place].ready;
      return this.workers[place].call(message, transferred);
    });
    this.queues[place] = answer.catch(() => {}).finally(() => (this.busy[place] -= 1));
    return answer;
  }
}
