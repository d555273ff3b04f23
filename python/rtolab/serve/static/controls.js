// The form: scenario, senders, and sliders for the path.

import { byId, h } from "./dom.js";
import { log, power } from "./scales.js";
import { faultOfSeed } from "./state.js";
import { firstStall, moved, scripted, spanOf } from "./stall.js";
import { chance, rate, time } from "./units.js";

const STEPS = 1000;

const SENDERS = [
  ...["newreno", "newreno+frto", "sack", "sack+frto", "sack+frto+rfc4015", "sack+eifel", "sack+eifel:rfc4015"],
  ...["sack+dualrtt", "sack+dsack", "rack+prr", "linux", "freebsd-14"],
];

/** The sliders. `keys` are the scenario's; the two of the stall share one. */
const PARAMETERS = [
  { id: "stall-at", label: "Stall begins", unit: time, scale: power(60, 2), digits: 2 },
  { id: "stall-for", label: "Stall lasts", unit: time, scale: power(30, 2), digits: 2 },
  { id: "rate", label: "Rate", unit: rate, scale: log(9600, 1e8), keys: (link) => [`link.${link?.name}.${link?.keys.rate}`] },
  { id: "delay", label: "Delay, one way", unit: time, scale: log(1e-3, 2), keys: (link) => [`link.${link?.name}.${link?.keys.delay}`] },
  { id: "loss", label: "Loss", unit: chance, scale: power(0.3, 3), keys: (link) => [`link.${link?.name}.${link?.keys.loss}`] },
  { id: "rto", label: "RTO floor", unit: time, scale: log(5e-3, 5), keys: () => ["tcp.rto.min", "kernel.rto_min"] },
];

export class Controls {
  /**
   * `changed(why)` is called whenever a person has changed the state, `say(message)` shows what is
   * wrong with a sender, and `check(senders)` finds that out.
   */
  constructor(index, changed, say, check) {
    Object.assign(this, { index, changed, say, check });
    this.written = { links: [], rto_min: null };
    this.parameters = PARAMETERS.map((parameter) => this.#parameter(parameter));
    byId("parameters").replaceChildren(...this.parameters.map((parameter) => parameter.row));
    this.#scenarios();
    this.#senders();
    byId("link").addEventListener("change", (event) => this.#change(() => (this.state.link = event.target.value)));
    byId("seed").addEventListener("input", (event) => {
      const seed = event.target.value.trim();
      if (this.#blameSeed(faultOfSeed(seed))) return;
      this.#change(() => (this.state.seed = seed));
    });
    byId("flow").addEventListener("change", (event) => this.#change(() => (this.state.flow = event.target.value)));
    byId("place").addEventListener("change", (event) => this.#change(() => (this.state.place = event.target.value)));
  }

  #change(how, why = "value") {
    how();
    this.show();
    this.changed(why);
  }

  #scenarios() {
    const options = this.index.scenarios.map(({ name, title }) => h("option", { value: name }, `${name}: ${title}`));
    byId("scenario").replaceChildren(...options);
    byId("scenario").addEventListener("change", (event) => {
      Object.assign(this.state, { scenario: event.target.value, toml: null, set: {}, link: null, flow: null, view: null });
      this.changed("scenario");
    });
  }

  #senders() {
    const known = SENDERS.map((name) => h("option", { value: name }));
    byId("known-senders").replaceChildren(...known, ...this.index.senders.map((one) => h("option", { value: one.name }, one.about)));
    byId("add-sender").addEventListener("submit", async (event) => {
      event.preventDefault();
      const input = byId("new-sender");
      const name = input.value.trim();
      if (!name) return;
      const most = this.index.limits.senders;
      if (this.state.senders.length >= most) {
        this.say(`At most ${most} senders at a time; remove one first.`);
        return;
      }
      const fault = await this.check([...this.state.senders, name]);
      // The sender stays in the field, to be corrected.
      if (fault) return this.say(fault.message);
      input.value = "";
      if (!this.state.senders.includes(name)) this.#change(() => this.state.senders.push(name));
    });
  }

  /** The state, and the values of its scenario (`written`), with which the sliders begin. */
  take(state, written) {
    Object.assign(this, { state, written });
    this.show();
  }

  get link() {
    const { links } = this.written;
    const chosen = links.find((one) => one.name === this.state.link);
    return chosen ?? links.find((one) => one.troubled) ?? links[links.length - 1] ?? null;
  }

  show() {
    const { state } = this;
    byId("scenario").value = state.scenario;
    byId("about").textContent = this.index.scenarios.find((one) => one.name === state.scenario)?.title ?? "";
    byId("edited").hidden = state.toml === null;
    byId("seed").value = state.seed;
    this.#blameSeed(null);
    byId("place").value = state.place;
    const { links } = this.written;
    byId("link").replaceChildren(...links.map(({ name }) => h("option", { value: name }, name)));
    byId("link").value = this.link?.name ?? "";
    byId("link-row").hidden = links.length < 2;
    this.#chips();
    for (const parameter of this.parameters) parameter.show();
  }

  /** Shows what is wrong with the seed in the field; returns whether anything is. */
  #blameSeed(fault) {
    byId("seed").setAttribute("aria-invalid", String(fault !== null));
    byId("seed-fault").textContent = fault ?? "";
    byId("seed-fault").hidden = fault === null;
    return fault !== null;
  }

  #chips() {
    const chips = this.state.senders.map((name, number) =>
      h(
        "li",
        { class: "chip" },
        h("span", { class: `swatch sender-${number + 1}` }),
        name,
        h("button", { type: "button", "aria-label": `Remove ${name}`, onclick: () => this.#remove(name) }, "×"),
      ),
    );
    byId("senders").replaceChildren(...chips);
  }

  #remove(name) {
    if (this.state.senders.length < 2) return;
    this.#change(() => (this.state.senders = this.state.senders.filter((one) => one !== name)));
  }

  /** The flows of the last run. */
  flows(names, shown) {
    byId("flow").replaceChildren(...names.map((name) => h("option", { value: name }, name)));
    byId("flow").value = shown;
    byId("flow-row").hidden = names.length < 2;
  }

  #parameter(parameter) {
    const slider = h("input", { type: "range", id: parameter.id, min: "0", max: String(STEPS), step: "1", value: "0" });
    const text = h("input", { type: "text", id: `${parameter.id}-text`, "aria-label": `${parameter.label}, as text`, autocomplete: "off", spellcheck: "false" });
    const back = h("button", { type: "button", class: "back", "aria-label": `${parameter.label}: restore the scenario's value`, title: "restore the scenario's value" }, "↺");
    const fault = h("p", { class: "fault", hidden: true });
    const row = h("div", { class: "parameter" }, h("label", { for: parameter.id }, parameter.label), text, back, slider, fault);
    const show = () => {
      const value = this.#value(parameter);
      const number = parameter.unit.parse(value);
      slider.disabled = this.link === null && parameter.id !== "rto";
      if (document.activeElement !== text) text.value = value ?? "";
      text.placeholder = parameter.id === "rto" || parameter.id === "delay" ? "default" : "none";
      if (value === null) slider.value = "0";
      if (number !== null) slider.value = String(Math.round(STEPS * parameter.scale.from(number)));
      slider.setAttribute("aria-valuetext", value ?? "none");
      row.classList.toggle("unset", value === null);
      back.hidden = !this.#isSet(parameter);
    };
    slider.addEventListener("input", () => {
      this.#put(parameter, parameter.unit.format(round(parameter.scale.to(Number(slider.value) / STEPS), parameter)));
      text.value = this.#value(parameter);
    });
    text.addEventListener("input", () => {
      if (text.value.trim()) this.#put(parameter, text.value.trim());
    });
    text.addEventListener("blur", show);
    back.addEventListener("click", () => this.#change(() => this.#clear(parameter)));
    return { ...parameter, row, show, fault };
  }

  #keys(parameter) {
    return parameter.keys ? parameter.keys(this.link) : [this.stallKey];
  }

  get stallKey() {
    return `link.${this.link?.name}.${this.link?.keys.stalls}.scripted`;
  }

  #isSet(parameter) {
    return this.#keys(parameter)[0] in this.state.set;
  }

  /** The value of a parameter as text: the set value, or else the scenario's. */
  #value(parameter) {
    if (!parameter.keys) return this.stall?.[parameter.id === "stall-at" ? "at" : "for"] ?? null;
    if (this.#isSet(parameter)) return this.state.set[this.#keys(parameter)[0]];
    return parameter.id === "rto" ? this.written.rto_min : (this.link?.[parameter.id] ?? null);
  }

  #put(parameter, value) {
    this.#change(() => {
      if (parameter.keys) for (const key of this.#keys(parameter)) this.state.set[key] = value;
      else this.#putStall({ ...(this.stall ?? { at: "1 s", for: "2 s" }), [parameter.id === "stall-at" ? "at" : "for"]: value });
    });
  }

  #clear(parameter) {
    for (const key of this.#keys(parameter)) delete this.state.set[key];
  }

  /** The first stall, as set or as written. */
  get stall() {
    return firstStall(this.state.set[this.stallKey]) ?? this.link?.stall ?? null;
  }

  #putStall(stall) {
    this.state.set[this.stallKey] = scripted(stall);
  }

  /** The stall that a picture may drag, in seconds. */
  stallSpan() {
    return spanOf(this.stall);
  }

  /** A part of the stall was dragged by a number of seconds. */
  dragStall(grip, by) {
    this.#change(() => this.#putStall(moved(grip, by)));
  }

  /** Shows the error in a parameter's value; returns whether a parameter has that key. */
  blame(fault) {
    let found = false;
    for (const parameter of this.parameters) {
      const own = fault?.where === "set" && this.#keys(parameter).includes(fault.key) && !found;
      parameter.fault.hidden = !own;
      parameter.fault.textContent = own ? fault.message : "";
      found ||= own;
    }
    return found;
  }
}

/** A slider's value with no more digits than a person would write. */
function round(value, { digits }) {
  return digits === undefined ? value : Number(value.toFixed(digits));
}
