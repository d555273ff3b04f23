// A timeout's other outcomes as pictures: the run as it was above the run as it would have been.

import { Latest, ask, unpack } from "./api.js";
import { h } from "./dom.js";
import { Picture } from "./picture.js";

/** Which other outcome is drawn, and its picture. */
export class Branches {
  /** `asked` is the question of that timeout; `others` are senders that could go on from there. */
  constructor(asked, others) {
    this.asked = asked;
    this.fault = h("p", { class: "fault", hidden: true });
    this.drawing = h("div", { class: "picture branch" });
    const choice = (name, text) => h("option", { value: name ?? "" }, text);
    const choices = [choice(null, "it had not fired"), ...others.map((name) => choice(name, `${name} had gone on from there`))];
    this.select = h("select", { onchange: () => this.show(this.select.value || null) }, choices);
    const label = h("label", { class: "branching" }, "The run as it was, and as if ", this.select);
    this.elements = [label, this.fault, this.drawing];
    this.newest = new Latest((name) => this.#ask(name));
  }

  /** Draws the run as it would have been with another sender; of none, without the timeout. */
  show(other) {
    this.newest.offer(other ?? "");
  }

  async #ask(other) {
    try {
      const asked = { ...this.asked, others: other ? [other] : [] };
      const result = unpack(await (await ask("api/branch", asked)).arrayBuffer());
      this.picture ??= new Picture(this.drawing);
      this.picture.show(result, null);
      this.drawing.dataset.branch = other;
      this.fault.hidden = true;
    } catch (error) {
      this.fault.textContent = error.message;
      this.fault.hidden = false;
    }
  }

  /** Again, in other colours. */
  draw() {
    this.picture?.draw();
  }
}
