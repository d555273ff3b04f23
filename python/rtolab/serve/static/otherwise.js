// What would have come of a timeout otherwise, in words and as a table.

import { h, table } from "./dom.js";
import { seconds } from "./units.js";

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
