// The counterfactuals of a timeout, in words and as a table.

import { h, table } from "./dom.js";
import { seconds } from "./units.js";

/** The outcome of the run without the timeout, and with other senders from there on. */
export function otherwise(sender, found) {
  const had = found.completed ? `It actually ended at ${seconds(found.end_s)} s.` : "It did not end within the run.";
  const not =
    found.cost_s === null
      ? `Without this timeout no acknowledgment of the segment would have arrived (${found.truth}). ${had}`
      : `Without this timeout the transfer would have ended ${seconds(found.cost_s)} s sooner, with ${found.cost_segments} ${found.cost_segments === 1 ? "segment" : "segments"} fewer. ${had}`;
  const rows = found.others.filter((one) => !one.error).map((one) => {
    const sooner = one.time_s === null ? "does not end" : signed(one.time_s);
    return h("tr", {}, h("th", { scope: "row" }, one.sender), h("td", { class: "number" }, seconds(one.end_s)), h("td", { class: "number" }, sooner), h("td", { class: "number" }, one.segments > 0 ? `+${one.segments}` : String(one.segments)));
  });
  const title = `If another sender had continued from there in place of ${sender}`;
  const others = table(title, ["Sender", "Ends at (s)", "Difference (s)", "Segments"], rows);
  return [h("p", {}, not), rows.length > 0 ? others : null, ...unable(found.others)].filter(Boolean);
}

/** The senders that could not continue, by the reason. */
function unable(others) {
  const reasons = new Map();
  for (const { sender, error } of others) {
    if (!error) continue;
    const reason = error.replace(/^`[^`]*` cannot continue a connection of `[^`]*`: /, "");
    reasons.set(reason, [...(reasons.get(reason) ?? []), sender]);
  }
  return [...reasons].map(([reason, senders]) => h("p", { class: "note" }, `Cannot continue from there: ${senders.join(", ")} (${reason}).`));
}

function signed(value) {
  return `${value > 0 ? "+" : ""}${value.toFixed(3)}`;
}
