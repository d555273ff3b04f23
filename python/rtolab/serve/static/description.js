// The description of a packet in words.

import { h } from "./dom.js";
import { seconds } from "./units.js";

const CAUSES = {
  new: "sent for the first time",
  timeout: "retransmitted after a timeout",
  "fast retransmit": "retransmitted after duplicate ACKs (fast retransmit)",
  probe: "sent as a probe",
  "after a timeout": "retransmitted in the recovery after the timeout",
  "after a fast retransmit": "retransmitted in the recovery after the fast retransmit",
  "after a probe": "retransmitted after the probe",
  retransmission: "retransmitted",
};
const FATES = {
  delivered: "delivered",
  underway: "still under way at the end",
  queue: "lost: the queue was full",
  error: "lost: a random error",
  outage: "lost: an outage",
  script: "lost: the scenario says so",
  early: "lost: dropped by the queue discipline",
  lifetime: "lost: its lifetime on the link ended",
  retries: "lost: the link gave up",
  corrupt: "damaged in transit",
  absorbed: "removed by a middlebox",
  "does not show": "unknown: the capture does not show whether it arrived",
};
const KINDS = {
  needed: "needed: no earlier copy had arrived",
  unneeded: "unneeded: an earlier copy had delivered all of it",
  unknown: "unknown: the capture does not show whether it was needed",
};

/** The description of packet `i` of a sender: pairs of a heading and a text. */
export function describePacket(sender, i) {
  const { packets, names } = sender;
  const [kind, cause, fate] = ["kind", "cause", "fate"].map((name) => names[name][packets[name][i]]);
  const [seq, length] = [packets.seq[i], packets.len[i]];
  const lines = [
    ["Segment", `${seq} to ${seq + length} (${length} B)`],
    ["Sent", `${seconds(packets.sent_s[i])} s, ${CAUSES[cause] ?? cause}${since(packets.cause_s[i], cause)}`],
  ];
  const timeout = truth(sender, packets.cause_s[i], cause);
  if (timeout) lines.push(["Truth", timeout]);
  if (kind in KINDS) lines.push(["Copy", KINDS[kind]]);
  lines.push(["Fate", arrival(packets, i, fate)]);
  lines.push(["Acknowledged", acknowledged(sender, i)]);
  return lines;
}

/** A description as a list: pairs, with the number of the sender if they belong to one. */
export function descriptionList(lines) {
  const swatch = (number) => (number ? h("span", { class: `swatch sender-${number}` }) : null);
  return h("dl", {}, lines.map(([name, text, number]) => [h("dt", {}, swatch(number), name), h("dd", {}, text)]));
}

function since(at, cause) {
  return Number.isNaN(at) || !cause.startsWith("after") ? "" : ` at ${seconds(at)} s`;
}

function truth(sender, at, cause) {
  if (Number.isNaN(at) || cause === "new") return null;
  const event = sender.timeouts.find((one) => one.at_s === at);
  return event?.truth ? `the ${event.kind.replace("_", " ")} at ${seconds(at)} s was ${event.truth}` : null;
}

function arrival(packets, i, fate) {
  const text = FATES[fate] ?? fate;
  const at = Number.isNaN(packets.fate_at_s[i]) ? "" : ` at ${seconds(packets.fate_at_s[i])} s`;
  const held = packets.held_s[i] > 0.0005 ? `, held by the link for ${seconds(packets.held_s[i])} s` : "";
  return `${text}${at}${held}`;
}

function acknowledged({ packets }, i) {
  const at = packets.acked_s[i];
  if (Number.isNaN(at)) return "never";
  if (at >= packets.sent_s[i] && at < packets.fate_at_s[i]) return `at ${seconds(at)} s, before it arrived`;
  return at < packets.sent_s[i] ? `at ${seconds(at)} s, before it was sent` : `at ${seconds(at)} s`;
}
