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

  begin() {
    this.worker = new Worker(this.sources.worker);
    this.ready = this.call({ module: this.sources.module, texts: this.sources.texts });
    this.ready.catch(() => {});
  }

  /** Sends a message; the answer to it. */
  call(message, transferred = []) {
    return new Promise((resolve, reject) => {
      this.running = { began: performance.now(), isRun: message.question === QUESTIONS.indexOf("run"), reject };
      this.worker.onmessage = ({ data }) => {
        this.running = null;
        if (data.broken) this.restart();
        if (data.error) reject(new Fault(data.error, 422));
        else resolve(data.answer);
      };
      this.worker.onerror = (event) => {
        this.restart();
        reject(new Fault({ where: "request", message: `a defect in rtolab, please report it: ${event.message}` }, 500));
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

/** The workers, and who does what. */
export class Engine {
  constructor(sources, most = WORKERS) {
    Object.assign(this, { sources, most, workers: [], queues: [], busy: [] });
    this.#add();
    this.captures = () => (this.loading ??= sources.captures());
  }

  /** The scenarios and senders on offer, as the server's index. */
  async index() {
    const found = JSON.parse(new TextDecoder().decode(await this.workers[0].ready));
    const start = { scenario: "hold", senders: ["newreno", "newreno+frto"] };
    return { version: "", ...found, default: start, results: [], limits: LIMITS };
  }

  /** The answer to a question of the page, as bytes. */
  ask(name, request) {
    return this.#next({ question: QUESTIONS.indexOf(name), request: JSON.stringify(request) });
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
