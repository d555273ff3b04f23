// Totals side by side, and the timeouts with their truth and what every detector said.

import { h, table } from "./dom.js";
import { seconds } from "./units.js";

const VERDICTS = ["spurious", "genuine", "open", "blind"];

/** A row a sender: what its transfer took. */
export function totals(result) {
  const head = ["Sender", "Time (s)", "Unneeded", "Sent again", "Timeouts", "Spurious", "Undone", "Fast retransmits", "Lost", "Segments"];
  const rows = result.senders.map(({ name, totals: own }, number) => {
    const numbers = [
      own.completed ? seconds(own.elapsed_s) : "not finished",
      ...[own.unneeded, own.retransmissions, own.timeouts, own.spurious_timeouts, own.found_spurious, own.fast_retransmits, own.lost, own.segments].map(count),
    ];
    const title = h("th", { scope: "row" }, h("span", { class: `swatch sender-${number + 1}` }), name);
    return h("tr", { "data-sender": name }, title, numbers.map((text, at) => h("td", { class: "number", "data-total": head[at + 1] }, text)));
  });
  return table("Totals", head, rows, { id: "totals-table" });
}

function count(value) {
  return value === null || value === undefined ? "–" : String(value);
}

/** Each sender's timeouts; `whatIf(sender, timeout, place)` fills a place when it is asked for. */
export function timeouts(result, whatIf) {
  const parts = result.senders.map((sender) => ofSender(sender, whatIf));
  return h("div", {}, parts);
}

function ofSender(sender, whatIf) {
  const title = `Timeouts and fast retransmits of ${sender.name}`;
  if (sender.timeouts.length === 0) return h("p", {}, `${sender.name}: no timeouts and no fast retransmits.`);
  const head = ["At (s)", "What", "Segment", "RTO (s)", "Truth", "Sender's verdict", "Cost", "Detectors", "What if?"];
  const rows = sender.timeouts.flatMap((one) => row(sender, one, head.length, whatIf));
  const more = sender.all_timeouts - sender.timeouts.length;
  const rest = more > 0 ? h("p", {}, `and ${more} more; make the run shorter to see them.`) : null;
  return h("div", {}, table(title, head, rows, { "data-timeouts": sender.name }), rest);
}

function row(sender, one, width, whatIf) {
  const told = h("td", { colspan: String(width), class: "told" });
  const below = h("tr", { hidden: true }, told);
  const button = h(
    "button",
    {
      type: "button",
      "aria-expanded": "false",
      "aria-label": `What if the timeout at ${seconds(one.at_s)} s had not fired, or the sender were another?`,
      onclick: () => {
        below.hidden = !below.hidden;
        button.setAttribute("aria-expanded", String(!below.hidden));
        if (!below.hidden) whatIf(sender, one, told);
      },
    },
    "what if?",
  );
  const cells = [
    h("td", { class: "number" }, seconds(one.at_s)),
    h("td", {}, one.kind.replace("_", " ")),
    h("td", { class: "number" }, String(one.seq)),
    h("td", { class: "number" }, seconds(one.rto_s)),
    h("td", {}, verdict(one.truth ?? "–")),
    h("td", {}, one.verdict ? [verdict(one.verdict), ` by ${one.detector}, after ${seconds(one.verdict_at_s - one.at_s)} s`] : "–"),
    h("td", {}, cost(one)),
    h("td", { class: "said" }, detectors(one.verdicts)),
    h("td", {}, one.kind === "timeout" && whatIf ? button : ""),
  ];
  return [h("tr", {}, cells), below];
}

function cost(one) {
  if (one.cost_s === null || one.cost_s === undefined) return "–";
  return `${seconds(one.cost_s)} s, ${one.cost_segments} segments`;
}

function verdict(text) {
  return h("span", { class: `verdict verdict-${text}` }, text);
}

/** What they said, verdict by verdict. */
function detectors(said) {
  if (said.length === 0) return "–";
  const groups = VERDICTS.map((name) => [name, said.filter((one) => one.verdict === name)]);
  const lines = groups
    .filter(([, those]) => those.length > 0)
    .map(([name, those]) => h("li", {}, verdict(name), ": ", those.map((one) => one.detector).join(", ")));
  const why = said.map((one) => h("li", {}, `${one.detector}: ${one.verdict}${one.why ? ` (${one.why})` : ""}${one.delay_s === null ? "" : `, after ${seconds(one.delay_s)} s`}`));
  const counts = groups.filter(([, those]) => those.length > 0).map(([name, those]) => `${those.length} ${name}`);
  return h("details", {}, h("summary", {}, counts.join(", ")), h("ul", {}, lines), h("details", {}, h("summary", {}, "each of them"), h("ul", {}, why)));
}

/** What would have come of a timeout otherwise. */
export function otherwise(sender, found) {
  const had = found.completed ? `It ended at ${seconds(found.end_s)} s.` : "It did not end within the run.";
  const not =
    found.cost_s === null
      ? `Had it not fired: nothing would have come that acknowledges the segment (${found.truth}). ${had}`
      : `Had it not fired: the transfer would have ended ${seconds(found.cost_s)} s sooner, with ${found.cost_segments} segments fewer. ${had}`;
  const rows = found.others.filter((one) => !one.error).map((one) => {
    const sooner = one.time_s === null ? "does not end" : signed(one.time_s);
    return h("tr", {}, h("th", { scope: "row" }, one.sender), h("td", { class: "number" }, seconds(one.end_s)), h("td", { class: "number" }, sooner), h("td", { class: "number" }, one.segments > 0 ? `+${one.segments}` : String(one.segments)));
  });
  const title = `Had another sender gone on from there in place of ${sender}`;
  const others = table(title, ["Sender", "Ends at (s)", "Difference (s)", "Segments"], rows);
  return [h("p", {}, not), rows.length > 0 ? others : null, ...unable(found.others)].filter(Boolean);
}

/** Who could not go on, by what they lack. */
function unable(others) {
  const reasons = new Map();
  for (const { sender, error } of others) {
    if (!error) continue;
    const reason = error.replace(/^`[^`]*` cannot go on from `[^`]*`: /, "");
    reasons.set(reason, [...(reasons.get(reason) ?? []), sender]);
  }
  return [...reasons].map(([reason, senders]) => h("p", { class: "note" }, `Not from there: ${senders.join(", ")} (${reason}).`));
}

function signed(value) {
  return `${value > 0 ? "+" : ""}${value.toFixed(3)}`;
}
