// The panels of a run: packets over time, and the senders' windows and timers.

import { lowerBound } from "./axis.js";
import { cross, mark } from "./looks.js";
import { Panel } from "./panel.js";
import { describePacket } from "./description.js";
import { bytes, seconds } from "./units.js";

const NEAR = 14;
const FINE = new Set(["delivered", "underway", "does not show"]);

/** Sequence numbers over time at one host: packets, acknowledgments, SACK blocks; of one sender, or of several over one another. */
export class Sequence extends Panel {
  constructor(canvas, axis, options) {
    super(canvas, axis, { label: "sequence (bytes)", ...options });
  }

  /** Sets the packets of senders, and their numbers, which decide their colours. */
  take(senders, shades, numbers) {
    Object.assign(this, { senders, shades, numbers });
    this.events = senders.flatMap((sender) => sender.timeouts);
    if (this.chosen === null) return;
    const [sender, i] = this.#packet(this.chosen);
    if (i >= sender.packets.at_s.length) this.chosen = null;
  }

  /** A chosen packet has one number among those of all senders. */
  #packet(chosen) {
    const count = this.senders.length;
    return [this.senders[chosen % count], Math.floor(chosen / count)];
  }

  range() {
    const ends = this.senders.map((sender) => this.#ends(sender)).filter(([low, high]) => high > low);
    const [low, high] = [Math.min(...ends.map(([low]) => low)), Math.max(...ends.map(([, high]) => high))];
    if (!(high > low)) return [0, 1];
    const margin = 0.04 * (high - low);
    return [low - margin, high + margin];
  }

  /** The least and the largest sequence number of a sender that is shown. */
  #ends({ packets, acks }) {
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
    return [low, high];
  }

  paint(context, palette) {
    const own = this.numbers.map((number) => palette.senders[number % palette.senders.length]);
    const isOverlay = this.senders.length > 1;
    const count = this.senders.length;
    this.senders.forEach(({ acks, sacks }, at) => {
      this.aside(at, count, () => {
        this.steps(acks.at_s, acks.ack, isOverlay ? own[at] : palette.ack);
        this.#blocks(sacks, context, palette);
      });
    });
    // Retransmissions above the rest.
    for (const again of [false, true]) {
      this.senders.forEach((sender, at) => this.aside(at, count, () => this.#marks(sender, again, context, palette, own[at], isOverlay)));
    }
    if (this.chosen !== null) this.#ring(context, palette);
  }

  #blocks(sacks, context, palette) {
    context.strokeStyle = palette.sack;
    context.lineWidth = 2;
    context.beginPath();
    const [first, last] = this.#shown(sacks.at_s);
    for (let i = first; i < last; i++) {
      const x = this.x(sacks.at_s[i]);
      context.moveTo(x, this.y(sacks.start[i]));
      context.lineTo(x, this.y(sacks.end[i]));
    }
    context.stroke();
  }

  #marks({ packets, names }, again, context, palette, own, isOverlay) {
    const [first, last] = this.#shown(packets.at_s);
    for (let i = first; i < last; i++) {
      if ((packets.kind[i] > 0) !== again) continue;
      const [x, y] = [this.x(packets.at_s[i]), this.#y(packets, i)];
      mark(context, names.kind[packets.kind[i]], x, y, palette, own, isOverlay);
      if (!FINE.has(names.fate[packets.fate[i]])) cross(context, x, y, palette);
    }
  }

  #ring(context, palette) {
    const [x, y] = this.place(this.chosen);
    context.strokeStyle = palette.ink;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, 9, 0, 2 * Math.PI);
    context.stroke();
  }

  /** The place of a packet: its middle. */
  #y(packets, i) {
    return this.y(packets.seq[i] + packets.len[i] / 2);
  }

  place(chosen) {
    const [{ packets }, i] = this.#packet(chosen);
    return [this.x(packets.at_s[i]), this.#y(packets, i)];
  }

  /** The packet nearest to a place, if any is near. */
  nearest(x, y) {
    let [best, least] = [null, NEAR * NEAR];
    this.senders.forEach(({ packets }, own) => {
      const [first, last] = [lowerBound(packets.at_s, this.at(x - NEAR)), lowerBound(packets.at_s, this.at(x + NEAR))];
      for (let i = first; i < last; i++) {
        const [px, py] = [this.x(packets.at_s[i]), this.#y(packets, i)];
        // Of two equally near packets the one drawn above counts.
        const distance = (px - x) ** 2 + (py - y) ** 2 - (packets.kind[i] > 0 ? 9 : 0);
        if (distance <= least) [best, least] = [i * this.senders.length + own, distance];
      }
    });
    return best;
  }

  /** The next packet of the same sender or the one before it, from the first that is shown. */
  step(by) {
    const count = this.senders.length;
    const { at_s } = this.senders[(this.chosen ?? 0) % count].packets;
    if (at_s.length === 0) return null;
    if (this.chosen === null) return Math.min(lowerBound(at_s, this.axis.view[0]), at_s.length - 1) * count;
    const next = Math.floor(this.chosen / count) + by;
    return Math.min(Math.max(next, 0), at_s.length - 1) * count + (this.chosen % count);
  }

  timeOf(chosen) {
    const [{ packets }, i] = this.#packet(chosen);
    return packets.at_s[i];
  }

  describe() {
    const [sender, i] = this.#packet(this.chosen);
    const lines = describePacket(sender, i);
    if (this.senders.length === 1) return lines;
    return [["Sender", sender.name, this.numbers[this.chosen % this.senders.length] + 1], ...lines];
  }

  #shown(times) {
    const [from, to] = this.axis.view;
    return [lowerBound(times, from), lowerBound(times, to + 1e-9)];
  }
}

/** Lines of all senders over one another, each in its colour: columns of what `of` finds of a sender, by default its windows. */
export class Lines extends Panel {
  constructor(canvas, axis, columns, { of = (sender) => sender.windows, text = null, ...options }) {
    super(canvas, axis, options);
    Object.assign(this, { columns, text });
    this.of = of;
  }

  take(senders, shades) {
    this.senders = senders;
    this.shades = shades;
  }

  range() {
    let high = 0;
    const [from, to] = this.axis.view;
    for (const windows of this.senders.map(this.of)) {
      const first = Math.max(lowerBound(windows.at_s, from) - 1, 0);
      const last = lowerBound(windows.at_s, to + 1e-9);
      for (const { name } of this.columns) {
        for (let i = first; i < last; i++) if (windows[name][i] > high) high = windows[name][i];
      }
    }
    return [0, high > 0 ? 1.08 * high : 1];
  }

  paint(context, palette) {
    this.senders.map(this.of).forEach((windows, number) => {
      this.aside(number, this.senders.length, () => {
        for (const { name, dash } of this.columns) {
          this.steps(windows.at_s, windows[name], palette.senders[number % palette.senders.length], dash);
        }
      });
    });
  }

  /** The selected time. */
  nearest(x) {
    return this.isInside(x) ? this.at(x) : null;
  }

  /** The time of the next or of the previous change. */
  step(by) {
    const from = this.chosen ?? this.axis.view[0];
    const changes = this.senders.map(this.of).map(({ at_s }) =>
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
    const values = (sender) => {
      const windows = this.of(sender);
      const i = lowerBound(windows.at_s, this.chosen + 1e-9) - 1;
      return this.columns.map(({ name, label }) => `${label} ${this.#text(i < 0 ? NaN : windows[name][i])}`).join(", ");
    };
    const lines = this.senders.map((sender, number) => [sender.name, values(sender), number + 1]);
    return [["At", `${seconds(this.chosen)} s`], ...lines];
  }

  #text(value) {
    if (Number.isNaN(value)) return "–";
    if (this.text) return this.text(value);
    return this.inBytes ? `${bytes(value)}B` : `${seconds(value)} s`;
  }
}
