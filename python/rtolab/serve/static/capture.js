// A capture's diagnosis: its connections, and the worst of them drawn as runs are.

import { h, table } from "./dom.js";
import { legend, Picture } from "./picture.js";
import { timeouts } from "./timeouts.js";
import { seconds } from "./units.js";

const WHERE = {
  sender: "at the sender",
  receiver: "at the receiver",
  between: "between the ends",
  unknown: "at an unknown place",
};

/** Shows a diagnosis in an element; returns its pictures, so that callers can redraw them. */
export function diagnosed(found, place) {
  const { packets, connections, retransmissions } = found.summary;
  const many = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const summary = [many(packets, "TCP packet"), many(connections, "connection"), many(retransmissions, "retransmission")].join(", ");
  const error = found.error ? h("p", { class: "fault" }, found.error) : null;
  const head = [h("h2", {}, found.name), error, h("p", {}, summary)].filter(Boolean);
  place.replaceChildren(...head, legend(), named(found.connections));
  return found.pictures.map((one) => connection(one, place));
}

function named(connections) {
  const rows = connections.map((one) => [
    String(one.number),
    `${one.client} and ${one.server}`,
    WHERE[one.vantage],
    number(one.packets),
    number(one.retransmissions),
    number(one.timeouts),
  ]);
  return table("Connections, the worst first", ["#", "Client and server", "Captured", "Packets", "Retransmitted", "Timeouts"], rows, { class: "cards" });
}

function number(value) {
  return h("td", { class: "number" }, String(value));
}

function connection(one, place) {
  const cut = one.drawn < one.packets ? ` The first ${one.drawn} of ${one.packets} packets are drawn.` : "";
  const episodes = one.episodes.map(({ at_s, frame, description }) => h("li", {}, `At ${seconds(at_s)} s, frame ${frame}: ${description}`));
  const findings = one.findings.map((finding) => h("li", {}, finding));
  const drawing = h("div", { class: "picture" });
  const rows = one.retransmissions.map((row) => [
    number(row.frame),
    number(seconds(row.t, 6)),
    row.from,
    number(row.len),
    row.trigger,
    h("td", {}, h("span", { class: `verdict verdict-${row.verdict}` }, row.verdict)),
    number(row.confidence.toFixed(2)),
    row.evidence.join(", "),
  ]);
  const head = ["Frame", "At (s)", "From", "Bytes", "Trigger", "Verdict", "Confidence", "Evidence"];
  place.append(
    h(
      "section",
      { class: "connection" },
      h("h3", {}, `${one.number}: ${one.senders[0].name}`),
      h("p", {}, `Captured ${WHERE[one.vantage]}; the ${one.from} sends.${cut}`),
      h("ul", {}, episodes, findings),
      drawing,
      timeouts({ senders: one.senders }, null),
      h("details", {}, h("summary", {}, `${rows.length} retransmissions`), table("Retransmissions", head, rows)),
    ),
  );
  const picture = new Picture(drawing);
  picture.show(one, null);
  return picture;
}
