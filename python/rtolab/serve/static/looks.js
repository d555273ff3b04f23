// How things are drawn. Colours are of Okabe and Ito's set, which the colour-blind tell apart; what
// matters differs in shape too. The style sheet has them, once for light and once for dark.

const NAMES = [
  "ink", "faint", "grid", "paper", "first", "needed", "unneeded", "lost", "ack", "sack", "unknown",
  "stall", "outage", "spike", "timeout", "fast", "probe",
];

/** The colours as the page has them now. */
export function colors() {
  const style = getComputedStyle(document.documentElement);
  const found = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  found.senders = Array.from({ length: 8 }, (_, i) => style.getPropertyValue(`--sender-${i + 1}`).trim());
  return found;
}

/** Events by kind: a colour and dashes. */
export const EVENTS = {
  timeout: { color: "timeout", dash: [6, 3] },
  fast_retransmit: { color: "fast", dash: [2, 3] },
  probe: { color: "probe", dash: [1, 3] },
};

/** A packet's mark at a place of a drawing. */
export function mark(context, kind, x, y, palette) {
  context.fillStyle = palette[kind];
  if (kind === "first") {
    context.fillRect(x - 1.75, y - 1.75, 3.5, 3.5);
    return;
  }
  context.beginPath();
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
