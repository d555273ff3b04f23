// A panel: a canvas with a time axis that it shares and a scale of its own.

import { digits, ticks } from "./axis.js";
import { EVENTS, SHADES } from "./looks.js";
import { bytes } from "./units.js";

const LEFT = 62;
const RIGHT = 10;
const TOP = 14;
const BOTTOM = 20;
/** The distance of senders that are drawn over one another, in px. */
const APART = 1.5;

/**
 * The base class of panels. Subclasses have `range()` and `paint(context, palette)`, and for what may be
 * `chosen`: `nearest(x, y)`, `step(by)`, `timeOf(chosen)`, `place(chosen)` and `describe()`.
 */
export class Panel {
  constructor(canvas, axis, { height, labelled = false, label = "", inBytes = true }) {
    Object.assign(this, { canvas, axis, height, labelled, label, inBytes });
    this.context = canvas.getContext("2d");
    this.shades = [];
    this.events = [];
    this.chosen = null;
    this.width = 0;
  }

  get plotBottom() {
    return this.height - (this.labelled ? BOTTOM : 5);
  }

  x(at) {
    const [from, to] = this.axis.view;
    return LEFT + ((at - from) / (to - from)) * (this.width - LEFT - RIGHT);
  }

  /** Is the place in the drawing area? */
  isInside(x) {
    return x >= LEFT && x <= this.width - RIGHT;
  }

  /** The time at a place of the canvas. */
  at(x) {
    const [from, to] = this.axis.view;
    return from + ((x - LEFT) / (this.width - LEFT - RIGHT)) * (to - from);
  }

  y(value) {
    const [low, high] = this.scale;
    return this.plotBottom - ((value - low) / (high - low)) * (this.plotBottom - TOP);
  }

  draw(palette, scale) {
    const { canvas, context, height } = this;
    const ratio = window.devicePixelRatio || 1;
    this.width = canvas.clientWidth;
    if (canvas.width !== Math.round(this.width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, this.width, height);
    this.scale = scale;
    this.#frame(palette);
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP - 4, this.width - LEFT - RIGHT, this.plotBottom - TOP + 6);
    context.clip();
    this.#shade(palette);
    this.#mark(palette);
    this.paint(context, palette);
    context.restore();
  }

  #frame(palette) {
    const { context } = this;
    context.lineWidth = 1;
    context.strokeStyle = palette.grid;
    context.fillStyle = palette.faint;
    context.font = "12px system-ui, sans-serif";
    context.beginPath();
    const across = ticks(this.axis.view, (this.width - LEFT) / 90);
    for (const at of across.values) {
      const x = Math.round(this.x(at)) + 0.5;
      context.moveTo(x, TOP);
      context.lineTo(x, this.plotBottom);
    }
    const up = ticks(this.scale, this.height / 45);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of up.values) {
      const y = Math.round(this.y(value)) + 0.5;
      context.moveTo(LEFT, y);
      context.lineTo(this.width - RIGHT, y);
      context.fillText(this.inBytes ? bytes(value) : digits(value, up.step), LEFT - 6, y);
    }
    context.stroke();
    context.textAlign = "center";
    context.textBaseline = "top";
    if (this.labelled) {
      for (const at of across.values) {
        const x = Math.min(this.x(at), this.width - RIGHT - 14);
        context.fillText(`${digits(at, across.step)} s`, x, this.plotBottom + 5);
      }
    }
    context.save();
    context.translate(11, (TOP + this.plotBottom) / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "middle";
    context.fillText(this.label, 0, 0);
    context.restore();
  }

  #shade(palette) {
    const { context } = this;
    for (const { kind, from_s, to_s } of this.shades) {
      const left = Math.max(this.x(from_s), LEFT);
      const right = Math.min(this.x(to_s), this.width - RIGHT);
      if (right <= LEFT || left >= this.width - RIGHT) continue;
      context.fillStyle = palette[kind] ?? palette.stall;
      context.strokeStyle = context.fillStyle;
      context.globalAlpha = 0.22;
      context.fillRect(left, TOP, Math.max(right - left, 1), this.plotBottom - TOP);
      context.globalAlpha = 1;
      this.#hatch([left, right], [this.x(from_s), this.x(to_s)], SHADES[kind]);
    }
  }

  /** The visible ends of a shade, and lines within it, so that its kind shows without colour. */
  #hatch([left, right], ends, lines) {
    const { context, plotBottom } = this;
    context.lineWidth = 1;
    context.beginPath();
    for (const x of ends.filter((x) => x >= left && x <= right)) {
      context.moveTo(x, TOP);
      context.lineTo(x, plotBottom);
    }
    context.stroke();
    if (!lines || right - left < 3) return;
    context.save();
    context.beginPath();
    context.rect(left, TOP, right - left, plotBottom - TOP);
    context.clip();
    context.globalAlpha = 0.35;
    context.beginPath();
    const rise = -lines.fall * (right - left);
    for (let y = TOP + lines.apart / 2; y < plotBottom + rise; y += lines.apart) {
      context.moveTo(left, y);
      context.lineTo(right, y - rise);
    }
    context.stroke();
    context.restore();
  }

  #mark(palette) {
    const { context } = this;
    context.lineWidth = 1.2;
    for (const event of this.events) {
      const look = EVENTS[event.kind] ?? EVENTS.timeout;
      const x = this.x(event.at_s);
      if (x < LEFT || x > this.width) continue;
      context.strokeStyle = palette[look.color];
      context.setLineDash(look.dash);
      context.beginPath();
      context.moveTo(x, TOP);
      context.lineTo(x, this.plotBottom);
      context.stroke();
    }
    context.setLineDash([]);
  }

  /** Draws one of several senders a little aside, so that equal runs are all seen. */
  aside(number, count, draw) {
    const by = APART * (number - (count - 1) / 2);
    this.context.save();
    this.context.translate(by, -by);
    draw();
    this.context.restore();
  }

  /** A line that keeps each value until the next one; NaN leaves a gap. */
  steps(times, values, color, dash = []) {
    const { context } = this;
    const last = this.axis.view[1];
    context.strokeStyle = color;
    context.lineWidth = 1.5;
    context.setLineDash(dash);
    context.beginPath();
    let isOpen = false;
    for (let i = 0; i < times.length && times[i] <= last; i++) {
      const next = i + 1 < times.length ? times[i + 1] : last;
      if (next < this.axis.view[0]) continue;
      if (Number.isNaN(values[i])) {
        isOpen = false;
        continue;
      }
      const y = this.y(values[i]);
      if (isOpen) context.lineTo(this.x(times[i]), y);
      else context.moveTo(this.x(times[i]), y);
      context.lineTo(this.x(Math.min(next, last)), y);
      isOpen = true;
    }
    context.stroke();
    context.setLineDash([]);
  }
}
