// The panels of a run: packets over time, and the senders' windows and timers.

import { lowerBound } from "./axis.js";
import { cross, mark } from "./looks.js";
import { Panel } from "./panel.js";
import { describePacket } from "./description.js";
import { bytes, seconds } from "./units.js";

const NEAR = 14;
const FINE = new Set(["delivered", "underway", "does not show"]);

/** Sequence numbers over time at one host: packets, acknowledgments, SACK blocks. */
export class Sequence extends Panel {
  constructor(canvas, axis, options) {
    super(canvas, axis, { label: "sequence (bytes)", ...options });
  }

  /** Sets the packets of one sender, and its number, which decides its colour. */
  take(sender, shades, number) {
    this.sender = sender;
    this.number = number;
    this.shades = shades;
    this.events = sender.timeouts;
    if (this.chosen !== null && this.chosen >= sender.packets.at_s.length) this.chosen = null;
  }

  range() {
    const { packets, acks } = this.sender;
    let [low, high] = [Infinity, -Infinity];
    const [first, last] = this.#shown(packets.at_s);
    for (let i = first; i < last; i++) {
      low = Math.min(low, packets.seq[i]);
      high = Math.max(high, packets.seq[i] + packets.len[i]);
    }
    const [ackFirst, ackLast] = this.#shown(acks.at_s);
    for (let i = Math.max(ackFirst - 1, 0); i < ackLast; i++) {
      low = Math.min(low, acks.ack[i]);
      high = Math.max(high, acks.ack[i]);
    }
    if (!(high > low)) return [0, Math.max(high, 1)];
    const margin = 0.04 * (high - low);
    return [low - margin, high + margin];
  }

  paint(context, palette) {
    const { packets, acks, sacks, names } = this.sender;
    this.steps(acks.at_s, acks.ack, palette.ack);
    context.strokeStyle = palette.sack;
    context.lineWidth = 2;
    context.beginPath();
    const [firstBlock, lastBlock] = this.#shown(sacks.at_s);
    for (let i = firstBlock; i < lastBlock; i++) {
      const x = this.x(sacks.at_s[i]);
      context.moveTo(x, this.y(sacks.start[i]));
      context.lineTo(x, this.y(sacks.end[i]));
    }
    context.stroke();
    const [first, last] = this.#shown(packets.at_s);
    const own = palette.senders[this.number % palette.senders.length];
    // Retransmissions above the rest.
    for (const again of [false, true]) {
      for (let i = first; i < last; i++) {
        if ((packets.kind[i] > 0) !== again) continue;
        const [x, y] = [this.x(packets.at_s[i]), this.#y(i)];
        mark(context, names.kind[packets.kind[i]], x, y, palette, own);
        if (!FINE.has(names.fate[packets.fate[i]])) cross(context, x, y, palette);
      }
    }
    if (this.chosen !== null) this.#ring(context, palette);
  }

  #ring(context, palette) {
    context.strokeStyle = palette.ink;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(this.x(this.sender.packets.at_s[this.chosen]), this.#y(this.chosen), 9, 0, 2 * Math.PI);
    context.stroke();
  }

  /** The place of a packet: its middle. */
  #y(i) {
    return this.y(this.sender.packets.seq[i] + this.sender.packets.len[i] / 2);
  }

  place(i) {
    return [this.x(this.sender.packets.at_s[i]), this.#y(i)];
  }

  /** The packet nearest to a place, if any is near. */
  nearest(x, y) {
    const { at_s } = this.sender.packets;
    const [first, last] = [lowerBound(at_s, this.at(x - NEAR)), lowerBound(at_s, this.at(x + NEAR))];
    let [best, least] = [null, NEAR * NEAR];
    for (let i = first; i < last; i++) {
      const [px, py] = this.place(i);
      // Of two equally near packets the one drawn above counts.
      const distance = (px - x) ** 2 + (py - y) ** 2 - (this.sender.packets.kind[i] > 0 ? 9 : 0);
      if (distance <= least) [best, least] = [i, distance];
    }
    return best;
  }

  /** The next packet or the one before it, from the first that is shown. */
  step(by) {
    const { at_s } = this.sender.packets;
    const next = this.chosen === null ? lowerBound(at_s, this.axis.view[0]) : this.chosen + by;
    return at_s.length === 0 ? null : Math.min(Math.max(next, 0), at_s.length - 1);
  }

  timeOf(i) {
    return this.sender.packets.at_s[i];
  }

  describe() {
    return describePacket(this.sender, this.chosen);
  }

  #shown(times) {
    const [from, to] = this.axis.view;
    return [lowerBound(times, from), lowerBound(times, to + 1e-9)];
  }
}

/** Lines of all senders over one another, each in its colour: columns of their windows. */
export class Lines extends Panel {
  constructor(canvas, axis, columns, options) {
    super(canvas, axis, options);
    this.columns = columns;
  }

  take(senders, shades) {
    this.senders = senders;
    this.shades = shades;
  }

  range() {
    let high = 0;
    const [from, to] = this.axis.view;
    for (const { windows } of this.senders) {
      const first = Math.max(lowerBound(windows.at_s, from) - 1, 0);
      const last = lowerBound(windows.at_s, to + 1e-9);
      for (const { name } of this.columns) {
        for (let i = first; i < last; i++) if (windows[name][i] > high) high = windows[name][i];
      }
    }
    return [0, high > 0 ? 1.08 * high : 1];
  }

  paint(context, palette) {
    this.senders.forEach(({ windows }, number) => {
      for (const { name, dash } of this.columns) {
        this.steps(windows.at_s, windows[name], palette.senders[number % palette.senders.length], dash);
      }
    });
    if (this.chosen === null) return;
    const x = Math.round(this.x(this.chosen)) + 0.5;
    context.strokeStyle = palette.ink;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, this.height);
    context.stroke();
  }

  /** The selected time. */
  nearest(x) {
    return this.isInside(x) ? this.at(x) : null;
  }

  /** The time of the next or of the previous change. */
  step(by) {
    const from = this.chosen ?? this.axis.view[0];
    const changes = this.senders.map(({ windows: { at_s } }) =>
      by > 0 ? at_s.find((at) => at > from) : at_s[lowerBound(at_s, from) - 1],
    );
    const known = changes.filter((at) => at !== undefined);
    return known.length === 0 ? null : by > 0 ? Math.min(...known) : Math.max(...known);
  }

  timeOf(at) {
    return at;
  }

  place(at) {
    return [this.x(at), 0];
  }

  /** The values of every sender at that time. */
  describe() {
    const of = ({ windows }) => {
      const i = lowerBound(windows.at_s, this.chosen + 1e-9) - 1;
      const values = this.columns.map(({ name, label }) => `${label} ${this.#text(i < 0 ? NaN : windows[name][i])}`);
      return values.join(", ");
    };
    const lines = this.senders.map((sender, number) => [sender.name, of(sender), number + 1]);
    return [["At", `${seconds(this.chosen)} s`], ...lines];
  }

  #text(value) {
    if (Number.isNaN(value)) return "–";
    return this.inBytes ? `${bytes(value)}B` : `${seconds(value)} s`;
  }
}
