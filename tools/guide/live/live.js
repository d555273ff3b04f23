// The guide's live figures: runs that the reader changes, in place of their pictures.

import { h } from "./dom.js";
import { Engine } from "./engine.js";
import { Fault } from "./fault.js";
import { Latest } from "./latest.js";
import { legend, Picture } from "./picture.js";
import { log, power } from "./scales.js";
import { firstStall, moved, scripted, spanOf } from "./stall.js";
import { inWords } from "./totals.js";
import { chance, rate, time } from "./units.js";
import { unpack } from "./unpack.js";

const UNITS = { time, rate, chance };
const SCALES = { log, power };
const STEPS = 1000;
/** A figure begins when it is closer than this to what is visible. */
const CLOSE = "400px";

const folder = new URL(".", document.querySelector("script[data-live-figures]").src).href;

/** The bytes of a file of the explorer. A page on a disk may not fetch: a script has them, too. */
async function asset(name) {
  if (location.protocol !== "file:") return (await fetch(`${folder}static/${name}`)).arrayBuffer();
  await loaded();
  return Uint8Array.from(atob(globalThis.rtolabFiles[name]), (letter) => letter.charCodeAt(0)).buffer;
}

let script = null;
function loaded() {
  script ??= new Promise((resolve, reject) => {
    document.head.append(h("script", { src: `${folder}files.js`, onload: resolve, onerror: reject }));
  });
  return script;
}

/** The engine, which all figures of the page share. */
let engine = null;
async function begin() {
  const [bytes, worker] = await Promise.all(["rtolab.wasm", "engine-worker.js"].map(asset));
  const address = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));
  const load = async () => ({ module: await WebAssembly.compile(bytes), texts: new TextEncoder().encode("{}") });
  return new Engine({ worker: address, load }, 1);
}

class LiveFigure {
  /** In place of the picture in an element, which says in JSON what runs. */
  constructor(place) {
    this.place = place;
    this.given = JSON.parse(place.dataset.live);
    this.set = {};
    this.view = this.given.view;
    this.runs = new Latest(() => this.#run());
  }

  begin() {
    this.runs.offer(true);
  }

  async #run() {
    try {
      engine ??= begin();
      const { toml, senders } = this.given;
      const request = { scenario: "", toml, senders, seed: 1, set: { ...this.given.set, ...this.set } };
      const result = unpack(await (await engine).ask("run", request));
      if (!this.picture) this.#build();
      this.#show(result);
      this.#blame("");
    } catch (error) {
      // Without the engine the picture stays.
      if (error instanceof Fault && this.picture) this.#blame(error.message);
      else if (!this.picture) this.place.dataset.fault = error.message;
      else throw error;
    }
  }

  #show(result) {
    // The seed and the senders do not change: neither do the totals' places.
    this.totals.replaceChildren(...result.senders.map((sender) => h("li", { "data-sender": sender.name, "data-unneeded": String(sender.totals.unneeded) }, inWords(sender))));
    this.picture.show(result, this.view);
    this.place.dataset.runs = String(Number(this.place.dataset.runs ?? 0) + 1);
  }

  #build() {
    this.totals = h("ul", { class: "live-totals" });
    this.fault = h("p", { class: "fault", role: "alert", hidden: true });
    const drawing = h("div", { class: "picture" });
    this.sliders = this.given.sliders.map((slider) => this.#slider(slider));
    const restore = h("button", { type: "button", onclick: () => this.#restore() }, "Restore");
    const more = h("a", { href: this.#address(), class: "live-more" }, "Open in the explorer");
    more.addEventListener("click", () => (more.href = this.#address()));
    const hint = this.given.stall ? "Drag the handles of the shaded stall, or move them with the arrow keys." : "Move the slider.";
    this.place.replaceChildren(
      ...this.sliders.map(({ row }) => row),
      h("div", { role: "status" }, this.totals),
      drawing,
      this.fault,
      h("p", { class: "live-hint" }, hint, " ", restore, " ", more),
      h("details", {}, h("summary", {}, "What the marks mean"), legend()),
    );
    const handle = this.given.stall && { stall: () => spanOf(this.stall), drag: (grip, by) => this.#drag(grip, by) };
    this.picture = new Picture(drawing, { handle, windows: false });
    this.picture.onview = (axis) => {
      this.view = [...axis.view];
      this.isZoomed = true;
    };
  }

  get stall() {
    return firstStall(this.set[this.given.stall.key]) ?? this.given.stall;
  }

  #drag(grip, by) {
    this.set[this.given.stall.key] = scripted(moved(grip, by));
    this.#follow();
    this.runs.offer(true);
  }

  /** Moves what is shown with the stall, unless the reader has zoomed. */
  #follow() {
    if (this.isZoomed || !this.given.view) return;
    const [was, now] = [spanOf(this.given.stall), spanOf(this.stall)];
    const [from, to] = this.given.view;
    this.view = [Math.max(0, now.from_s - (was.from_s - from)), now.to_s + (to - was.to_s)];
  }

  #slider({ label, keys, unit, scale: [kind, ...ends], value }) {
    const [units, scale] = [UNITS[unit], SCALES[kind](...ends)];
    const output = h("output", {});
    const input = h("input", { type: "range", min: "0", max: String(STEPS), step: "1", value: "0" });
    const show = (text) => {
      output.textContent = text;
      input.setAttribute("aria-valuetext", text);
    };
    const restore = () => {
      input.value = String(Math.round(STEPS * scale.from(units.parse(value))));
      show(value);
    };
    input.addEventListener("input", () => {
      const text = units.format(scale.to(Number(input.value) / STEPS));
      for (const key of keys) this.set[key] = text;
      show(text);
      this.runs.offer(true);
    });
    restore();
    return { row: h("label", { class: "live-slider" }, h("span", {}, label), input, output), restore };
  }

  #restore() {
    this.set = {};
    this.view = this.given.view;
    this.isZoomed = false;
    for (const slider of this.sliders) slider.restore();
    this.runs.offer(true);
  }

  #blame(message) {
    this.fault.textContent = message;
    this.fault.hidden = !message;
  }

  /** The address of the explorer with this run. */
  #address() {
    const words = new URLSearchParams({ scenario: "hold", toml: this.given.packed });
    for (const [key, value] of Object.entries({ ...this.given.set, ...this.set })) words.append("set", `${key}=${value}`);
    for (const sender of this.given.senders) words.append("sender", sender);
    return `${folder}${location.protocol === "file:" ? "explorer" : "index"}.html#${words}`;
  }
}

const waiting = new Map([...document.querySelectorAll("[data-live]")].map((place) => [place, new LiveFigure(place)]));
const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      waiting.get(target).begin();
    }
  },
  { rootMargin: CLOSE },
);
for (const place of waiting.keys()) observer.observe(place);
new MutationObserver(() => {
  for (const { picture } of waiting.values()) picture?.draw();
}).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
