// The looks of marks and lines. Colours are of Okabe and Ito's set, which colour-blind readers can tell
// apart; important marks also differ in shape. The style sheet has the colours.

import { h } from "./dom.js";

const NAMES = [
  "ink", "faint", "grid", "paper", "first", "needed", "unneeded", "lost", "ack", "sack", "unknown",
  "stall", "outage", "spike", "timeout", "fast", "probe",
];

const dark = matchMedia("(prefers-color-scheme: dark)");
const palettes = new Map();

/** The current colours of the page. */
export function colors() {
  const theme = `${getComputedStyle(document.body).colorScheme} ${dark.matches}`;
  if (!palettes.has(theme)) palettes.set(theme, resolved());
  return palettes.get(theme);
}

/** The values of the style sheet's names: only an element's own colour shows which of the two applies. */
function resolved() {
  const probe = h("span", { hidden: true });
  document.body.append(probe);
  const color = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = Object.fromEntries(NAMES.map((name) => [name, color(name)]));
  found.senders = Array.from({ length: 8 }, (_, i) => color(`sender-${i + 1}`));
  probe.remove();
  return found;
}

/** Events by kind: a colour and dashes. */
export const EVENTS = {
  timeout: { color: "timeout", dash: [6, 3] },
  fast_retransmit: { color: "fast", dash: [2, 3] },
  probe: { color: "probe", dash: [1, 3] },
};

/** Shades by kind: how far apart their lines are, and how much each falls from left to right, in px. */
export const SHADES = {
  stall: null,
  outage: { apart: 8, fall: -1 },
  spike: { apart: 6, fall: 0 },
};

/** A packet's mark at a place of a drawing. A first transmission has the colour of its sender; so has an edge, if it is `edged`. */
export function mark(context, kind, x, y, palette, own = palette.first, edged = false) {
  context.fillStyle = kind === "first" ? own : palette[kind];
  if (kind === "first") {
    context.fillRect(x - 1.75, y - 1.75, 3.5, 3.5);
    return;
  }
  context.beginPath();
  if (kind === "unknown") {
    context.strokeStyle = palette.unknown;
    context.lineWidth = 2;
    context.arc(x, y, 4.5, 0, 2 * Math.PI);
    context.stroke();
    return;
  }
  if (kind === "needed") {
    context.moveTo(x, y - 5.5);
    context.lineTo(x + 5, y + 3.5);
    context.lineTo(x - 5, y + 3.5);
  } else {
    context.moveTo(x, y - 6);
    context.lineTo(x + 6, y);
    context.lineTo(x, y + 6);
    context.lineTo(x - 6, y);
  }
  context.closePath();
  context.fill();
  if (!edged) return;
  context.strokeStyle = own;
  context.lineWidth = 1.5;
  context.stroke();
}

/** A cross over a packet that was lost. */
export function cross(context, x, y, palette) {
  context.strokeStyle = palette.lost;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x - 4, y - 4);
  context.lineTo(x + 4, y + 4);
  context.moveTo(x + 4, y - 4);
  context.lineTo(x - 4, y + 4);
  context.stroke();
}
