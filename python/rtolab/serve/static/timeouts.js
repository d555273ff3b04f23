// The timeouts with their truth, and every detector's verdict.

import { h, table } from "./dom.js";
import { seconds } from "./units.js";

const VERDICTS = ["spurious", "genuine", "open", "blind"];
/** The number of rows that are shown at first. */
const FIRST = 12;

/** The columns of a timeout; a column that is empty for all timeouts is left out. */
const FACTS = [
  { head: "At (s)", class: "number", of: (one) => seconds(one.at_s) },
  { head: "Kind", of: (one) => one.kind.replace("_", " ") },
  { head: "Segment", class: "number", of: (one) => String(one.seq) },
  { head: "RTO (s)", class: "number", of: (one) => seconds(one.rto_s) },
  { head: "Truth", of: (one) => (one.truth ? verdict(one.truth) : null) },
  { head: "Sender's verdict", of: said },
  { head: "Cost", of: cost },
];

/** Each sender's timeouts; `whatIf(sender, timeout, place)` fills a place on request. */
export function timeouts(result, whatIf) {
  return h("div", {}, result.senders.map((sender) => ofSender(sender, whatIf)));
}

function ofSender(sender, whatIf) {
  const { name, timeouts: all } = sender;
  if (all.length === 0) return h("p", {}, `${name}: no timeouts and no fast retransmits.`);
  const columns = FACTS.filter(({ of }) => all.some((one) => of(one) !== null));
  const head = [...columns.map((column) => column.head), "Detectors", ...(whatIf ? ["What if?"] : [])];
  const rows = all.map((one) => row(sender, one, columns, whatIf));
  const shown = table(`Timeouts and fast retransmits of ${name}`, head, rows.flat(), { "data-timeouts": name, class: "cards" });
  const more = sender.all_timeouts - all.length;
  const rest = more > 0 ? h("p", {}, `and ${more} more; shorten the run to see them.`) : null;
  return h("div", {}, shown, folded(rows), rest);
}

/** Shows the remaining rows on request. */
function folded(rows) {
  if (rows.length <= FIRST) return null;
  const later = rows.slice(FIRST).map(([first]) => first);
  for (const one of later) one.hidden = true;
  const button = h("button", { type: "button", class: "more" }, `Show all ${rows.length}`);
  button.addEventListener("click", () => {
    for (const one of later) one.hidden = false;
    button.remove();
    later[0].querySelector("button")?.focus();
  });
  return button;
}

/** A timeout's row, and below it the expandable parts: the detectors' verdicts, and what if. */
function row(sender, one, columns, whatIf) {
  const width = String(columns.length + (whatIf ? 2 : 1));
  const below = () => h("tr", { hidden: true }, h("td", { colspan: width, class: "details" }));
  const [verdicts, otherwise] = [below(), below()];
  const cells = columns.map((column) => h("td", { class: column.class }, column.of(one) ?? "–"));
  cells.push(h("td", { class: "said" }, one.verdicts.length > 0 ? detectors(one, verdicts) : "–"));
  if (whatIf) {
    const label = `What if the timeout at ${seconds(one.at_s)} s had not fired, or another sender had continued?`;
    const button = unfolding("what if?", otherwise, (place) => whatIf(sender, one, place));
    button.setAttribute("aria-label", label);
    cells.push(h("td", {}, one.kind === "timeout" ? button : null));
  }
  return [h("tr", {}, cells), verdicts, otherwise];
}

/** A button that shows and hides a row; the row is filled each time. */
function unfolding(text, row, fill) {
  const button = h("button", { type: "button", "aria-expanded": "false" }, text);
  button.addEventListener("click", () => {
    row.hidden = !row.hidden;
    button.setAttribute("aria-expanded", String(!row.hidden));
    if (!row.hidden) fill(row.cells[0]);
  });
  return button;
}

function said(one) {
  if (!one.verdict) return null;
  return [judged(one.verdict, one.truth), ` by ${one.detector}, after ${seconds(one.verdict_at_s - one.at_s)} s`];
}

function cost(one) {
  if (one.cost_s === null || one.cost_s === undefined) return null;
  return `${seconds(one.cost_s)} s, ${one.cost_segments} segment${one.cost_segments === 1 ? "" : "s"}`;
}

function verdict(text) {
  return h("span", { class: `verdict verdict-${text.replace(" ", "-")}` }, text);
}

/** A verdict, and whether it is wrong. */
function judged(text, truth) {
  const sure = ["spurious", "genuine"];
  const isWrong = text !== truth && sure.includes(text) && sure.includes(truth);
  return [verdict(text), isWrong ? h("span", { class: "mistaken" }, " (wrong)") : null];
}

/** A summary of the verdicts, which expands to each of them. */
function detectors(one, below) {
  const groups = VERDICTS.map((name) => [name, one.verdicts.filter((said) => said.verdict === name)]);
  const counts = groups.filter(([, those]) => those.length > 0).map(([name, those]) => `${those.length} ${name}`);
  return unfolding(counts.join(", "), below, (place) => {
    const ordered = groups.flatMap(([, those]) => those);
    place.replaceChildren(h("ul", { class: "verdicts", "aria-label": "The verdict of each detector" }, ordered.map((said) => each(said, one.truth))));
  });
}

function each({ detector, verdict: text, why, delay_s }, truth) {
  const after = delay_s === null ? "" : `, after ${seconds(delay_s)} s`;
  return h("li", {}, h("b", {}, detector), " ", judged(text, truth), `${why ? `: ${why}` : ""}${after}`);
}
