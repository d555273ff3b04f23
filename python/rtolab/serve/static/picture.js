// The picture of a result: panels beneath one another that zoom and pan together.

import { TimeAxis } from "./axis.js";
import { h } from "./dom.js";
import { Handles } from "./handles.js";
import { colors } from "./looks.js";
import { Lines, Sequence } from "./panels.js";
import { Pointing } from "./pointing.js";

const WINDOWS = [{ name: "cwnd", label: "cwnd", dash: [] }, { name: "ssthresh", label: "ssthresh", dash: [6, 3] }];
const QUEUE = [{ name: "waiting", label: "waiting", dash: [] }];
const TIMERS = [{ name: "rto_s", label: "RTO", dash: [] }, { name: "srtt_s", label: "SRTT", dash: [2, 3] }];

export class Picture {
  /**
   * Draws into an element; `handle` gives the stall that may be dragged, and receives how far it is
   * dragged. Without `windows` only packets are drawn. If `oncursor` receives the time of the
   * cursor, there is one.
   */
  constructor(place, { handle = null, windows = true, oncursor = null } = {}) {
    Object.assign(this, { place, windows, oncursor, overlay: false, cursor: null });
    this.line = h("div", { class: "cursor", hidden: true });
    this.axis = new TimeAxis();
    this.axis.onchange = () => {
      this.draw();
      this.onview?.(this.axis);
    };
    this.panels = [];
    this.lines = [];
    this.figures = h("div", { class: "figures" });
    this.pointing = new Pointing(this, handle);
    this.handles = handle && new Handles(this, handle);
    place.replaceChildren(this.figures, this.line, ...this.pointing.elements);
    // It is drawn already when the observer first reports its width.
    new ResizeObserver(() => this.figures.clientWidth !== this.panels[0]?.width && this.draw()).observe(this.figures);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Shows a result from the server; `view` is the part of its time that is shown. */
  show(result, view) {
    this.result = result;
    this.view = view;
    this.queue = this.#queueIn(result);
    const names = JSON.stringify([this.overlay, this.queue !== null, ...result.senders.map((sender) => sender.name)]);
    if (names !== this.names) this.#build(result, names);
    const end = Math.max(result.end_s, ...result.senders.map((sender) => sender.end_s));
    // A dragged stall must stay under the pointer.
    if (this.pointing.dragging) this.axis.fit(Math.max(end, this.axis.whole[1]), this.axis.view);
    else this.axis.fit(end, view);
    this.panels.forEach((panel, number) => {
      const numbers = this.overlay ? [...result.senders.keys()] : [number];
      panel.take(numbers.map((one) => result.senders[one]), this.#shades(), numbers);
    });
    if (this.queueCaption) this.queueCaption.textContent = `packets that wait at ${this.queue?.name}`;
    for (const panel of this.lines) panel.take(result.senders, this.#shades());
    this.draw();
    this.pointing.renew();
  }

  /** The queue that has a panel. While the stall is dragged no panel comes or goes: it would end the drag. */
  #queueIn({ senders }) {
    const queue = busiest(senders);
    if (!this.pointing.dragging || this.panels.length === 0) return queue;
    return this.queue && (queue ?? this.queue);
  }

  /** The disturbances of the links, once if they are equal in both directions of a link. */
  #shades() {
    const found = new Map();
    for (const one of this.result.disturbances) found.set(`${one.kind} ${one.from_s} ${one.to_s}`, one);
    return [...found.values()];
  }

  /** One in this number of packets is drawn, if there are too many for all. */
  get every() {
    return Math.max(...this.result.senders.map((sender) => sender.every ?? 1));
  }

  /** Would a new answer have more of the visible packets? */
  misses() {
    const [from, to] = this.axis.view;
    return this.result.senders.some(({ shown, end_s, every }) => {
      if (!shown) return false;
      const isOutside = Math.max(from, 0) < shown[0] - 1e-9 || Math.min(to, end_s) > shown[1] + 1e-9;
      return isOutside || (every > 1 && to - from < (shown[1] - shown[0]) / 2.5);
    });
  }

  /** The span to request: the visible one and half as much on both sides; null for all. */
  get around() {
    if (this.axis.isWhole) return null;
    const [from, to] = this.axis.view;
    return [Math.max(0, from - (to - from) / 2), to + (to - from) / 2];
  }

  #build(result, names) {
    this.names = names;
    this.figures.replaceChildren();
    const hasWindows = this.windows && result.senders.some((sender) => sender.windows.at_s.length > 0);
    const hasQueue = hasWindows && this.queue !== null;
    const drawn = this.overlay ? [result.senders] : result.senders.map((sender) => [sender]);
    const height = this.overlay ? 300 : Math.max(150, 250 - 25 * result.senders.length);
    this.panels = drawn.map((senders, number) => {
      const names = senders.map((sender) => sender.name);
      const options = { height, labelled: !hasWindows && number === drawn.length - 1 };
      const swatches = senders.map((_, own) => (this.overlay ? own : number));
      return new Sequence(this.#canvas(names, height, `Packets of ${names.join(" and ")} over time`, swatches), this.axis, options);
    });
    this.lines = [];
    this.queueCaption = null;
    if (hasQueue) {
      const canvas = this.#canvas([""], 90, "Packets that wait in the queue of the busiest link, for every sender");
      this.queueCaption = canvas.parentElement.querySelector("figcaption");
      const text = (count) => `${count} packet${count === 1 ? "" : "s"}`;
      this.lines.push(new Lines(canvas, this.axis, QUEUE, { height: 90, label: "packets", inBytes: false, of: (sender) => this.#queueOf(sender), text }));
    }
    if (hasWindows) {
      const windows = this.#canvas(["cwnd", "ssthresh (dashed)"], 110, "Congestion window and ssthresh of every sender");
      const timers = this.#canvas(["RTO", "SRTT (dashed)"], 125, "Retransmission timeout and smoothed round trip of every sender");
      this.lines.push(
        new Lines(windows, this.axis, WINDOWS, { height: 110, label: "bytes" }),
        new Lines(timers, this.axis, TIMERS, { height: 125, label: "seconds", inBytes: false, labelled: true }),
      );
    }
    for (const panel of this.all) this.pointing.listen(panel);
    this.handles?.attach(this.panels[0]);
  }

  get all() {
    return [...this.panels, ...this.lines];
  }

  /** The waiting packets of a sender's run at the busiest link. */
  #queueOf({ path }) {
    const link = path?.links.find((one) => one.name === this.queue.name);
    return { at_s: path?.at_s ?? [], waiting: link?.there.waiting ?? [] };
  }

  /** A canvas with a caption: names, each after the colour of its sender if `numbers` has one. */
  #canvas(names, height, label, numbers = null) {
    const help = "Arrow keys move, + and - zoom, 0 shows all, n and p tell what comes next and what came before";
    const canvas = h("canvas", { tabindex: "0", role: "application", "aria-roledescription": "plot", "aria-label": `${label}. ${help}.` });
    canvas.style.height = `${height}px`;
    const swatch = (at) => h("span", { class: `swatch sender-${numbers[at] + 1}` });
    const caption = numbers ? names.map((name, at) => h("span", { class: "captioned" }, swatch(at), name)) : names.join(", ");
    this.figures.append(h("figure", {}, h("figcaption", {}, caption), canvas));
    return canvas;
  }

  /** Moves the time cursor, which all panels share, to a time in seconds. */
  point(at) {
    if (!this.oncursor) return;
    this.cursor = Math.min(Math.max(at, this.axis.whole[0]), this.axis.whole[1]);
    this.#placeCursor();
    this.oncursor(this.cursor);
  }

  #placeCursor() {
    const [panel] = this.panels;
    const x = panel && this.cursor !== null ? panel.x(this.cursor) : NaN;
    this.line.hidden = !(panel?.width > 0 && panel.isInside(x));
    if (!this.line.hidden) this.line.style.transform = `translateX(${x}px)`;
  }

  draw() {
    if (!this.result || this.figures.clientWidth === 0) return;
    const palette = colors();
    // All senders have the same scale, so that they can be compared.
    const ranges = this.panels.map((panel) => panel.range());
    const common = [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))];
    for (const panel of this.panels) panel.draw(palette, common);
    for (const panel of this.lines) panel.draw(palette, panel.range());
    this.handles?.place();
    this.#placeCursor();
  }

  /** The names over a panel, with the numbers of their senders. */
  #captions(panel) {
    if (panel.numbers) return panel.senders.map(({ name }, at) => ({ text: name, number: panel.numbers[at] }));
    return [{ text: panel.canvas.parentElement.querySelector("figcaption").textContent, number: null }];
  }

  /** All panels as one image. */
  async png(title) {
    const palette = colors();
    const drawn = this.all;
    const ratio = window.devicePixelRatio || 1;
    const [head, gap] = [34, 20];
    const height = drawn.reduce((sum, panel) => sum + panel.height + gap, head);
    const canvas = h("canvas", {});
    canvas.width = drawn[0].width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, drawn[0].width, height);
    context.fillStyle = palette.ink;
    context.font = "bold 16px system-ui, sans-serif";
    context.fillText(title, 12, 22);
    context.font = "13px system-ui, sans-serif";
    let y = head;
    drawn.forEach((panel) => {
      let x = 62;
      for (const name of this.#captions(panel)) {
        if (name.number !== null) {
          context.fillStyle = palette.senders[name.number];
          context.fillRect(x, y + 3, 11, 11);
          x += 17;
        }
        context.fillStyle = palette.ink;
        context.fillText(name.text, x, y + 13);
        x += context.measureText(name.text).width + 14;
      }
      context.drawImage(panel.canvas, 0, y + gap - 4, panel.width, panel.height);
      y += panel.height + gap;
    });
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }
}

/** The link at which most packets wait in the direction of the data, with their number; null if none ever waits. */
function busiest(senders) {
  const links = senders.flatMap(({ path }) => path?.links ?? []);
  const most = links.map(({ name, there }) => ({ name, most: there.waiting.reduce((one, other) => Math.max(one, other), 0) }));
  const found = most.reduce((one, other) => (other.most > one.most ? other : one), { name: null, most: 0 });
  return found.most > 0 ? found : null;
}

/** The legend of marks and lines. */
export function legend() {
  const item = (name, text) => h("li", {}, h("span", { class: `mark mark-${name}` }), text);
  return h(
    "ul",
    { class: "legend", "aria-label": "What marks mean" },
    item("first", "first transmission, in the sender's colour"),
    item("needed", "needed retransmission"),
    item("unneeded", "unneeded retransmission"),
    item("unknown", "undecided retransmission"),
    item("lost", "lost"),
    item("ack", "acknowledged"),
    item("sack", "SACK block"),
    item("timeout", "timeout"),
    item("fast", "fast retransmit"),
    item("probe", "tail loss probe"),
    item("stall", "stall"),
    item("outage", "outage"),
    item("spike", "delay spike"),
  );
}
