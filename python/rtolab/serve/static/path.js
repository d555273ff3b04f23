// The path of a run at one time: its hosts and links, and the packets that wait and are in transit in each.

import { lowerBound } from "./axis.js";
import { h } from "./dom.js";
import { seconds } from "./units.js";

const STEPS = 1000;
/** How long a whole run plays, in ms. */
const PLAYED = 12_000;
const STATES = { stall: "stalled", outage: "outage", spike: "delayed" };

export class PathView {
  /** Shows the path in an element; `point(at)` moves the time cursor. */
  constructor(place, point) {
    Object.assign(this, { place, point, lanes: [], playing: null });
    this.slider = h("input", { type: "range", id: "cursor", min: "0", max: String(STEPS), step: "1", value: "0" });
    this.slider.addEventListener("input", () => this.point((Number(this.slider.value) / STEPS) * this.end));
    this.output = h("output", { for: "cursor" });
    this.button = h("button", { type: "button", onclick: () => (this.playing ? this.pause() : this.play()) }, "Play");
    this.hops = h("ol", { class: "hops" });
    const row = h("div", { class: "row path-time" }, h("label", { for: "cursor" }, "Time"), this.slider, this.output, this.button);
    place.replaceChildren(row, this.hops);
  }

  /** Shows the path of a result with all its senders, at a time. */
  show(result, at) {
    const first = result.senders.find(({ path }) => path?.links.length > 0);
    this.place.hidden = !first;
    if (!first) return;
    this.result = result;
    this.end = Math.max(result.end_s, ...result.senders.map(({ end_s }) => end_s));
    const names = JSON.stringify([first.path.links.map(({ name, from, to }) => [name, from, to]), result.senders.map(({ name }) => name)]);
    if (names !== this.names) this.#build(first.path.links, names);
    this.at(at);
  }

  #build(links, names) {
    this.names = names;
    this.lanes = [];
    const items = [];
    links.forEach((link, number) => {
      const before = links[number - 1];
      // An unnamed end is the host of an access link.
      if (number === 0 || before.to !== link.from) items.push(host(link.from ?? "host"));
      items.push(this.#hop(link));
      if (link.to) items.push(host(link.to));
    });
    this.hops.replaceChildren(...items.filter((item, at) => at === 0 || item.textContent !== items[at - 1].textContent || item.className !== "host"));
  }

  #hop(link) {
    const state = h("span", { class: "state" });
    const lanes = [["there", "data →"], ["back", "ACKs ←"]].map(([way, text]) => {
      const most = Math.max(1, ...this.result.senders.map((sender) => this.#most(sender, link, way)));
      const rows = this.result.senders.map((sender, number) => this.#row(sender, number, link, way, most));
      return h("div", { class: `lane lane-${way}` }, h("span", { class: "way" }, text), h("div", { class: "lane-rows" }, rows));
    });
    this.lanes.push({ state, name: link.name });
    return h("li", { class: "hop" }, h("p", { class: "link-name" }, link.name, " ", state), lanes);
  }

  #row(sender, number, link, way, most) {
    const waiting = h("span", { class: `bar sender-${number + 1}` });
    const moving = h("span", { class: `bar moving sender-${number + 1}` });
    const text = h("span", { class: "count" });
    this.lanes.push({ sender: number, name: link.name, way, waiting, moving, text, most });
    return h("div", { class: "lane-row" }, h("span", { class: "rail", "aria-hidden": "true" }, waiting, moving), h("span", { class: "visually-hidden" }, `${sender.name}: `), text);
  }

  #most({ path }, { name }, way) {
    const found = path?.links.find((one) => one.name === name)?.[way];
    return found ? found.waiting.reduce((most, count, at) => Math.max(most, count + found.moving[at]), 0) : 0;
  }

  /** Shows the path at a time. */
  at(time) {
    if (!this.result) return;
    this.time = time;
    this.slider.value = String(Math.round((STEPS * time) / this.end));
    this.output.textContent = `${seconds(time)} s`;
    for (const lane of this.lanes) {
      if (lane.state) this.#showState(lane, time);
      else this.#showLane(lane, time);
    }
    const [lane] = this.lanes.filter(({ text }) => text);
    this.slider.setAttribute("aria-valuetext", `${seconds(time)} s, ${lane.name}: ${lane.text.textContent}`);
  }

  #showState({ state, name }, time) {
    const now = this.result.disturbances.find((one) => one.link === name && one.from_s <= time && time < one.to_s);
    state.textContent = now ? (STATES[now.kind] ?? now.kind) : "";
  }

  #showLane({ sender, name, way, waiting, moving, text, most }, time) {
    const { path } = this.result.senders[sender];
    const found = path?.links.find((one) => one.name === name)?.[way];
    const at = path ? lowerBound(path.at_s, time + 1e-9) - 1 : -1;
    const [stays, moves] = found && at >= 0 ? [found.waiting[at], found.moving[at]] : [0, 0];
    waiting.style.width = `${(100 * stays) / most}%`;
    moving.style.width = `${(100 * moves) / most}%`;
    text.textContent = `${stays} waiting, ${moves} in transit`;
  }

  /** Moves the cursor through the run. */
  play() {
    const from = this.time >= this.end * 0.999 ? 0 : this.time;
    const began = performance.now();
    this.button.textContent = "Pause";
    const step = (now) => {
      const at = from + ((now - began) / PLAYED) * this.end;
      this.point(Math.min(at, this.end));
      if (at < this.end) this.playing = requestAnimationFrame(step);
      else this.pause();
    };
    this.playing = requestAnimationFrame(step);
  }

  pause() {
    cancelAnimationFrame(this.playing);
    this.playing = null;
    this.button.textContent = "Play";
  }
}

function host(name) {
  return h("li", { class: "host" }, name);
}
