// The handles of the stall in a figure, for pointers and for keys.

import { h } from "./dom.js";
import { time } from "./units.js";

const PARTS = { begin: "Stall begins", whole: "Whole stall", end: "Stall ends" };
const SIZE = 24;
/** What a key moves, in seconds; with Shift a tenth of it. */
const STEP = 0.1;
const KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

export class Handles {
  /** For a picture; `handle` gives the stall, and receives how far which part of it is dragged. */
  constructor(picture, handle) {
    Object.assign(this, { picture, handle });
    this.elements = Object.entries(PARTS).map(([part, label]) => this.#element(part, label));
  }

  /** Moves the handles into the figure of a panel. */
  attach(panel) {
    this.panel = panel;
    panel.canvas.after(...this.elements);
  }

  /** Puts the handles at the stall; hides those that are out of view. */
  place() {
    const stall = this.handle.stall();
    for (const element of this.elements) {
      const { part } = element.dataset;
      const at = stall && valueOf(part, stall);
      const x = stall && this.panel.x(part === "whole" ? (stall.from_s + stall.to_s) / 2 : at);
      element.hidden = !stall || !this.panel.isInside(x);
      if (element.hidden) continue;
      // Outside of the shade, so that a short stall has room for all three.
      const left = { begin: x - SIZE + 6, whole: x - SIZE / 2, end: x - 6 }[part];
      element.style.left = `${left}px`;
      element.style.top = `${this.panel.canvas.offsetTop - 1}px`;
      element.setAttribute("aria-valuenow", at.toFixed(3));
      element.setAttribute("aria-valuemin", "0");
      element.setAttribute("aria-valuemax", Math.max(this.picture.axis.whole[1], at).toFixed(3));
      element.setAttribute("aria-valuetext", time.format(Number(at.toFixed(3))));
    }
  }

  #element(part, label) {
    const element = h("div", { class: "handle", role: "slider", tabindex: "0", "aria-label": label, "data-part": part, title: `${label}: drag, or use the arrow keys`, hidden: true });
    let from = null;
    element.addEventListener("pointerdown", (event) => {
      // A second finger changes nothing.
      if (from) return;
      event.preventDefault();
      element.focus({ preventScroll: true });
      element.setPointerCapture(event.pointerId);
      from = { pointer: event.pointerId, at: this.#at(event), grip: { part, ...this.handle.stall() } };
      this.picture.pointing.dragging = true;
    });
    element.addEventListener("pointermove", (event) => {
      if (from?.pointer === event.pointerId) this.handle.drag(from.grip, this.#at(event) - from.at);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      element.addEventListener(name, (event) => {
        if (from?.pointer !== event.pointerId) return;
        from = null;
        this.picture.pointing.release();
      });
    }
    element.addEventListener("keydown", (event) => {
      const steps = KEYS[event.key];
      if (!steps || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.handle.drag({ part, ...this.handle.stall() }, steps * STEP * (event.shiftKey ? 0.1 : 1));
      this.place();
    });
    return element;
  }

  /** The time under a pointer. */
  #at(event) {
    return this.panel.at(event.clientX - this.panel.canvas.getBoundingClientRect().left);
  }
}

/** What a handle sets: the time of an end of the stall, in seconds. */
function valueOf(part, { from_s, to_s }) {
  return part === "end" ? to_s : from_s;
}
