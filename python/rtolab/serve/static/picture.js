// The picture of a result: panels beneath one another that zoom and pan together.

import { TimeAxis } from "./axis.js";
import { h } from "./dom.js";
import { colors } from "./looks.js";
import { Lines, Sequence } from "./panels.js";
import { story, told } from "./story.js";

const WINDOWS = [{ name: "cwnd", dash: [] }, { name: "ssthresh", dash: [6, 3] }];
const TIMERS = [{ name: "rto_s", dash: [] }, { name: "srtt_s", dash: [2, 3] }];
const GRIP = 9;

export class Picture {
  /** Draws into an element; `handle` tells what of the shades may be dragged, and is told. */
  constructor(place, { handle = null } = {}) {
    Object.assign(this, { place, handle });
    this.axis = new TimeAxis();
    this.axis.onchange = () => {
      this.draw();
      this.onview?.(this.axis);
    };
    this.panels = [];
    this.tip = h("div", { class: "tip", role: "tooltip", hidden: true });
    this.live = h("p", { class: "visually-hidden", "aria-live": "polite" });
    this.figures = h("div", { class: "figures" });
    place.replaceChildren(this.figures, this.tip, this.live);
    new ResizeObserver(() => this.draw()).observe(this.figures);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Shows a result from the server; `view` is the part of its time that is shown. */
  show(result, view) {
    this.result = result;
    this.view = view;
    const names = JSON.stringify(result.senders.map((sender) => sender.name));
    if (names !== this.names) this.#build(result, names);
    const end = Math.max(result.end_s, ...result.senders.map((sender) => sender.end_s));
    // What is dragged must not slip away from under the pointer.
    if (this.dragging) this.axis.fit(Math.max(end, this.axis.whole[1]), this.axis.view);
    else this.axis.fit(end, view);
    result.senders.forEach((sender, number) => {
      this.panels[number].take(sender, this.#shades());
    });
    for (const panel of this.lines) panel.take(result.senders, this.#shades());
    this.draw();
  }

  /** What disturbed the links, once where both directions of a link were alike. */
  #shades() {
    const found = new Map();
    for (const one of this.result.disturbances) found.set(`${one.kind} ${one.from_s} ${one.to_s}`, one);
    return [...found.values()];
  }

  /** Of how many packets one is drawn, where there are too many for all. */
  get every() {
    return Math.max(...this.result.senders.map((sender) => sender.every ?? 1));
  }

  /** Would a new answer have more of what is looked at? */
  misses() {
    const [from, to] = this.axis.view;
    return this.result.senders.some(({ shown, end_s, every }) => {
      if (!shown) return false;
      const isOutside = Math.max(from, 0) < shown[0] - 1e-9 || Math.min(to, end_s) > shown[1] + 1e-9;
      return isOutside || (every > 1 && to - from < (shown[1] - shown[0]) / 2.5);
    });
  }

  /** What is worth asking for: what is looked at and half as much beside it; null for all. */
  get around() {
    if (this.axis.isWhole) return null;
    const [from, to] = this.axis.view;
    return [Math.max(0, from - (to - from) / 2), to + (to - from) / 2];
  }

  #build(result, names) {
    this.names = names;
    this.figures.replaceChildren();
    const hasWindows = result.senders.some((sender) => sender.windows.at_s.length > 0);
    const height = Math.max(150, 250 - 25 * result.senders.length);
    this.panels = result.senders.map((sender, number) => {
      const options = { height, labelled: !hasWindows && number === result.senders.length - 1 };
      return new Sequence(this.#canvas(sender.name, height, `Packets of ${sender.name} over time`, number), this.axis, options);
    });
    this.lines = [];
    if (hasWindows) {
      const windows = this.#canvas("cwnd, ssthresh", 110, "Congestion window and ssthresh of every sender", null, ["cwnd", "ssthresh (dashed)"]);
      const timers = this.#canvas("RTO, SRTT", 110, "Retransmission timeout and smoothed round trip of every sender", null, ["RTO", "SRTT (dashed)"]);
      this.lines = [
        new Lines(windows, this.axis, WINDOWS, { height: 110, label: "bytes" }),
        new Lines(timers, this.axis, TIMERS, { height: 125, label: "seconds", inBytes: false, labelled: true }),
      ];
      timers.style.height = "125px";
    }
    for (const panel of [...this.panels, ...this.lines]) this.#listen(panel);
  }

  #canvas(name, height, label, number, parts = []) {
    const help = "Arrow keys move, + and - zoom, 0 shows all, n and p tell the next and previous packet";
    const canvas = h("canvas", { tabindex: "0", role: "application", "aria-roledescription": "plot", "aria-label": `${label}. ${help}.` });
    canvas.style.height = `${height}px`;
    const swatch = number === null ? null : h("span", { class: `swatch sender-${number + 1}` });
    const caption = h("figcaption", {}, swatch, number === null ? parts.join(", ") : name);
    this.figures.append(h("figure", {}, caption, canvas));
    return canvas;
  }

  draw() {
    if (!this.result || this.figures.clientWidth === 0) return;
    const palette = colors();
    // Senders are compared: what one sent is as high as what another sent.
    const ranges = this.panels.map((panel) => panel.range());
    const common = [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))];
    for (const panel of this.panels) panel.draw(palette, common);
    for (const panel of this.lines) panel.draw(palette, panel.range());
  }

  #listen(panel) {
    const { canvas } = panel;
    const pointers = new Map();
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, event.offsetX);
      const grip = this.#grip(panel, event.offsetX);
      drag = { at: panel.at(event.offsetX), grip };
      this.dragging = grip !== null;
      if (pointers.size === 2) drag = { pinch: spread(pointers), view: [...this.axis.view], middle: panel.at(middle(pointers)) };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!pointers.has(event.pointerId)) {
        this.#hover(panel, event);
        return;
      }
      pointers.set(event.pointerId, event.offsetX);
      this.tip.hidden = true;
      if (drag?.pinch) this.#pinch(drag, spread(pointers));
      else if (drag?.grip) this.handle.drag(drag.grip, panel.at(event.offsetX) - drag.at);
      else if (drag) this.#pull(panel, drag, event.offsetX);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => {
        pointers.delete(event.pointerId);
        if (pointers.size > 0) return;
        drag = null;
        if (!this.dragging) return;
        this.dragging = false;
        this.show(this.result, this.view);
      });
    }
    canvas.addEventListener("pointerleave", () => this.#choose(panel, null));
    canvas.addEventListener("dblclick", () => this.axis.reset());
    canvas.addEventListener("wheel", (event) => this.#wheel(panel, event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(panel, event));
    canvas.addEventListener("blur", () => {
      this.tip.hidden = true;
    });
  }

  /** What of the stall that may be dragged is at a place: its begin, its end or its middle. */
  #grip(panel, x) {
    const stall = this.handle?.stall();
    if (!stall) return null;
    const [left, right] = [panel.x(stall.from_s), panel.x(stall.to_s)];
    const reach = Math.min(GRIP, Math.max((right - left) / 3, 3));
    const part = (name) => ({ part: name, from_s: stall.from_s, to_s: stall.to_s });
    if (Math.abs(x - left) <= reach) return part("begin");
    if (Math.abs(x - right) <= reach) return part("end");
    return x > left && x < right ? part("whole") : null;
  }

  #pull(panel, drag, x) {
    const by = drag.at - panel.at(x);
    this.axis.show(this.axis.view.map((end) => end + by));
  }

  #pinch(drag, apart) {
    const factor = drag.pinch / Math.max(apart, 10);
    this.axis.show(drag.view.map((end) => drag.middle + (end - drag.middle) * factor));
  }

  #wheel(panel, event) {
    // Without a key the wheel scrolls the page.
    if (event.ctrlKey || event.shiftKey || event.metaKey) {
      event.preventDefault();
      const turned = Math.abs(event.deltaY) > Math.abs(event.deltaX) ? event.deltaY : event.deltaX;
      this.axis.zoom(Math.exp(Math.sign(turned) * Math.min(Math.abs(turned), 60) * 0.005), panel.at(event.offsetX));
    }
  }

  #key(panel, event) {
    const acts = {
      ArrowLeft: () => this.axis.pan(-0.1),
      ArrowRight: () => this.axis.pan(0.1),
      "+": () => this.axis.zoom(0.7),
      "=": () => this.axis.zoom(0.7),
      "-": () => this.axis.zoom(1 / 0.7),
      0: () => this.axis.reset(),
      n: () => this.#step(panel, 1),
      p: () => this.#step(panel, -1),
      Escape: () => this.#choose(panel, null),
    };
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
  }

  /** The next or previous packet's story, from the first that is shown. */
  #step(panel, by) {
    if (!(panel instanceof Sequence)) return;
    const { at_s } = panel.sender.packets;
    let next = panel.chosen === null ? at_s.findIndex((at) => at >= this.axis.view[0]) : panel.chosen + by;
    next = Math.min(Math.max(next, 0), at_s.length - 1);
    if (next < 0) return;
    const [from, to] = this.axis.view;
    if (at_s[next] < from || at_s[next] > to) this.axis.show([at_s[next] - (to - from) / 2, at_s[next] + (to - from) / 2]);
    this.#choose(panel, next);
    this.#tell(panel, next);
    this.live.textContent = story(panel.sender, next).map((line) => line.join(": ")).join(". ");
  }

  #choose(panel, packet) {
    for (const one of this.panels) one.chosen = null;
    panel.chosen = packet;
    if (packet === null) this.tip.hidden = true;
    this.draw();
  }

  #hover(panel, event) {
    const isSequence = panel instanceof Sequence;
    const found = isSequence ? panel.nearest(event.offsetX, event.offsetY) : null;
    const grip = found === null ? this.#grip(panel, event.offsetX) : null;
    panel.canvas.dataset.grip = grip?.part ?? "";
    if (isSequence && found !== panel.chosen) this.#choose(panel, found);
    if (found !== null) this.#tell(panel, found);
    else this.tip.hidden = true;
  }

  #tell(panel, packet) {
    const [x, y] = panel.place(packet);
    const box = panel.canvas.getBoundingClientRect();
    const own = this.place.getBoundingClientRect();
    this.tip.replaceChildren(told(story(panel.sender, packet)));
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    const left = Math.min(Math.max(box.left - own.left + x - width / 2, 0), own.width - width);
    const above = box.top - own.top + y - this.tip.offsetHeight - 14;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${box.top + y - this.tip.offsetHeight - 14 > 0 ? above : box.top - own.top + y + 14}px`;
  }

  /** All panels as one image. */
  async png(title) {
    const palette = colors();
    const drawn = [...this.panels, ...this.lines];
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
    for (const panel of drawn) {
      context.fillText(panel.canvas.parentElement.querySelector("figcaption").textContent, 62, y + 13);
      context.drawImage(panel.canvas, 0, y + gap - 4, panel.width, panel.height);
      y += panel.height + gap;
    }
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }
}

/** What marks and lines mean. */
export function legend() {
  const item = (name, text) => h("li", {}, h("span", { class: `mark mark-${name}` }), text);
  return h(
    "ul",
    { class: "legend", "aria-label": "What marks mean" },
    item("first", "first transmission"),
    item("needed", "needed retransmission"),
    item("unneeded", "unneeded retransmission"),
    item("lost", "lost"),
    item("ack", "acknowledged"),
    item("sack", "SACK block"),
    item("timeout", "timeout"),
    item("fast", "fast retransmit"),
    item("stall", "stall"),
    item("outage", "outage"),
    item("spike", "delay spike"),
  );
}

function spread(pointers) {
  const [a, b] = [...pointers.values()];
  return Math.abs(a - b);
}

function middle(pointers) {
  const [a, b] = [...pointers.values()];
  return (a + b) / 2;
}

