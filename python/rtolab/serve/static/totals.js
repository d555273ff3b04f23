// Totals side by side.

import { h, table } from "./dom.js";
import { seconds } from "./units.js";

/** The columns of the totals, and their meanings. */
const TOTALS = [
  { head: "Time (s)", key: "elapsed_s", means: "from the first segment to the last acknowledgment" },
  { head: "kbit/s", key: "goodput_bps", means: "goodput: the data that the application received, over that time, or until the run was cut" },
  { head: "Unneeded", key: "unneeded", means: "retransmitted segments of which an earlier copy arrived" },
  { head: "Retransmitted", key: "retransmissions", means: "all retransmissions, needed or not" },
  { head: "Timeouts", key: "timeouts", means: "how often the retransmission timer expired" },
  { head: "Spurious", key: "spurious_timeouts", means: "timeouts after which data or acknowledgments were only late, not lost" },
  { head: "Undone", key: "found_spurious", means: "timeouts and fast retransmits that the sender itself found spurious" },
  { head: "Fast retransmits", key: "fast_retransmits", means: "retransmissions for duplicate acknowledgments" },
  { head: "Lost", key: "lost", means: "segments that the path lost" },
  { head: "Segments", key: "segments", means: "all segments with data, retransmissions among them" },
];

/** A row per sender, with the totals of its transfer. */
export function totals(result) {
  const rows = result.senders.map(({ name, totals: own }, number) => {
    const title = h("th", { scope: "row" }, h("span", { class: `swatch sender-${number + 1}` }), name);
    const cells = TOTALS.map(({ head, key }) => h("td", { class: "number", "data-total": head }, text(own, key)));
    return h("tr", { "data-sender": name }, title, cells);
  });
  return table("Totals", ["Sender", ...TOTALS.map(({ head }) => head)], rows, { id: "totals-table", class: "cards" });
}

/** The meanings of the columns, folded. */
export function meanings() {
  const terms = TOTALS.map(({ head, means }) => [h("dt", {}, head), h("dd", {}, means)]);
  return h("details", { class: "meanings" }, h("summary", {}, "What the columns mean"), h("dl", {}, terms));
}

/** A sender's totals in words. */
export function inWords({ name, totals: own }) {
  const end = own.completed ? `${seconds(own.elapsed_s)} s` : ending(own);
  const timeouts = `${own.timeouts} timeout${own.timeouts === 1 ? "" : "s"}`;
  return `${name}: ${end}, ${own.unneeded} unneeded, ${timeouts}`;
}

function text(own, key) {
  if (key === "elapsed_s") return own.completed ? seconds(own.elapsed_s) : ending(own);
  if (own[key] === null || own[key] === undefined) return "–";
  return key === "goodput_bps" ? (own[key] / 1000).toFixed(1) : String(own[key]);
}

/** Why a transfer has no end. */
function ending({ endless, cut_s }) {
  if (cut_s === undefined) return "not finished";
  return endless ? `endless, cut at ${Number(cut_s.toFixed(3))} s` : `not finished, cut at ${Number(cut_s.toFixed(3))} s`;
}
