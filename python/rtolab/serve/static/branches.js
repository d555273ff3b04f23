// The counterfactuals of a timeout as figures: the actual run above the alternative.

import { ask } from "./api.js";
import { h } from "./dom.js";
import { Latest } from "./latest.js";
import { Picture } from "./picture.js";
import { unpack } from "./unpack.js";

/** The alternative that is drawn, and its figure. */
export class Branches {
  /** `asked` is the request about that timeout; `others` are senders that could continue from there. */
  constructor(request, others) {
    this.request = request;
    this.fault = h("p", { class: "fault", hidden: true });
    this.drawing = h("div", { class: "picture branch" });
    const choice = (name, text) => h("option", { value: name ?? "" }, text);
    const choices = [choice(null, "if it had not fired"), ...others.map((name) => choice(name, `with ${name} from there on`))];
    this.select = h("select", { onchange: () => this.show(this.select.value || null) }, choices);
    const label = h("label", { class: "branching" }, "The actual run, and the run ", this.select);
    this.elements = [label, this.fault, this.drawing];
    this.newest = new Latest((name) => this.#ask(name));
  }

  /** Draws the run with another sender from there on, or without a sender the run without the timeout. */
  show(other) {
    this.newest.offer(other ?? "");
  }

  async #ask(other) {
    try {
      const request = { ...this.request, others: other ? [other] : [] };
      const result = unpack(await (await ask("api/branch", request)).arrayBuffer());
      this.picture ??= new Picture(this.drawing);
      this.picture.show(result, null);
      this.drawing.dataset.branch = other;
      this.fault.hidden = true;
    } catch (error) {
      this.fault.textContent = error.message;
      this.fault.hidden = false;
    }
  }

  /** Redraws in other colours. */
  draw() {
    this.picture?.draw();
  }
}
