// Pointer, wheel and keys over a picture: zoom and pan, the details of a place, dragging the stall.

import { h } from "./dom.js";
import { Sequence } from "./panels.js";
import { descriptionList } from "./description.js";

const GRIP = 9;
/** A finger that moves less than this, in px, has not moved. */
const TAP = 8;

export class Pointing {
  /** For a picture; `handle` gives the stall that may be dragged, and receives how far it is dragged. */
  constructor(picture, handle) {
    Object.assign(this, { picture, handle, dragging: false });
    this.tip = h("div", { class: "tip", role: "tooltip", hidden: true });
    this.live = h("p", { class: "visually-hidden", "aria-live": "polite" });
    this.elements = [this.tip, this.live];
  }

  listen(panel) {
    const { canvas } = panel;
    const pointers = new Map();
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, event.offsetX);
      const grip = this.#grip(panel, event.offsetX);
      drag = { at: panel.at(event.offsetX), grip, x: event.offsetX, isTap: event.pointerType === "touch" };
      this.dragging = grip !== null;
      if (pointers.size === 2) drag = { pinch: spread(pointers), view: [...this.axis.view], middle: panel.at(middle(pointers)) };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!pointers.has(event.pointerId)) {
        this.#hover(panel, event);
        return;
      }
      pointers.set(event.pointerId, event.offsetX);
      if (drag?.isTap && Math.abs(event.offsetX - drag.x) < TAP) return;
      if (drag) drag.isTap = false;
      this.#forget();
      if (drag?.pinch) this.#pinch(drag, spread(pointers));
      else if (drag?.grip) this.handle.drag(drag.grip, panel.at(event.offsetX) - drag.at);
      else if (drag) this.#pull(panel, drag, event.offsetX);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => {
        pointers.delete(event.pointerId);
        if (pointers.size > 0) return;
        const isTap = name === "pointerup" && drag?.isTap;
        drag = null;
        this.release();
        if (isTap) this.#hover(panel, event);
      });
    }
    canvas.addEventListener("pointerleave", (event) => {
      // Lifting a finger counts as leaving, too: its details stay.
      if (event.pointerType !== "touch") this.#forget();
    });
    canvas.addEventListener("dblclick", () => this.axis.reset());
    canvas.addEventListener("wheel", (event) => this.#wheel(panel, event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(panel, event));
    canvas.addEventListener("blur", () => this.#forget());
  }

  get axis() {
    return this.picture.axis;
  }

  /** The stall is no longer dragged: the time axis fits the run again. */
  release() {
    if (!this.dragging) return;
    this.dragging = false;
    this.picture.show(this.picture.result, this.picture.view);
  }

  /** Shows the details of the selected place in a new result, if it still has that place. */
  renew() {
    const panel = this.picture.all.find((one) => one.chosen !== null);
    if (panel) this.#tell(panel);
    else this.tip.hidden = true;
  }

  /** The part of the draggable stall at a place: its begin, its end or its middle. */
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
      Escape: () => this.#forget(),
    };
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
  }

  /** Selects the next or the previous packet, or change of the windows. */
  #step(panel, by) {
    const next = panel.step(by);
    if (next === null) return;
    const [from, to] = this.axis.view;
    const at = panel.timeOf(next);
    if (at < from || at > to) this.axis.show([at - (to - from) / 2, at + (to - from) / 2]);
    this.#choose(panel, next);
    this.picture.point(at);
    this.#tell(panel);
    this.live.textContent = panel.describe().map(([name, text]) => `${name}: ${text}`).join(". ");
  }

  #choose(panel, chosen) {
    for (const one of this.picture.all) one.chosen = null;
    panel.chosen = chosen;
    this.picture.draw();
  }

  #forget() {
    this.tip.hidden = true;
    const panel = this.picture.all.find((one) => one.chosen !== null);
    if (panel) this.#choose(panel, null);
  }

  #hover(panel, event) {
    if (panel.isInside(event.offsetX)) this.picture.point(panel.at(event.offsetX));
    const found = panel.nearest(event.offsetX, event.offsetY);
    const isPacket = found !== null && panel instanceof Sequence;
    const grip = isPacket ? null : this.#grip(panel, event.offsetX);
    panel.canvas.dataset.grip = grip?.part ?? "";
    if (found === null) this.#forget();
    else {
      if (found !== panel.chosen) this.#choose(panel, found);
      this.#tell(panel);
    }
  }

  #tell(panel) {
    const [x, y] = panel.place(panel.chosen);
    const box = panel.canvas.getBoundingClientRect();
    const own = this.picture.place.getBoundingClientRect();
    this.tip.replaceChildren(descriptionList(panel.describe()));
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    const left = Math.min(Math.max(box.left - own.left + x - width / 2, 0), own.width - width);
    const above = box.top - own.top + y - this.tip.offsetHeight - 14;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${box.top + y - this.tip.offsetHeight - 14 > 0 ? above : box.top - own.top + y + 14}px`;
  }
}

function spread(pointers) {
  const [a, b] = [...pointers.values()];
  return Math.abs(a - b);
}

function middle(pointers) {
  const [a, b] = [...pointers.values()];
  return (a + b) / 2;
}
