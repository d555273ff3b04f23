// The stall that a figure lets its reader drag, as times in a scenario's own units.

import { time } from "./units.js";

/** The shortest stall that dragging leaves, in seconds. */
const SHORTEST = 0.01;

/** A stall as the value of a key `stalls.scripted`. */
export function scripted({ at, for: length }) {
  return `[{ at = "${at.replace(/"/g, "")}", for = "${length.replace(/"/g, "")}" }]`;
}

/** The first stall of such a value; null if it has none. */
export function firstStall(text) {
  const found = /^\[\{ at = "([^"]*)", for = "([^"]*)" \}/.exec(text ?? "");
  return found ? { at: found[1], for: found[2] } : null;
}

/** The begin and end of a stall in seconds; null if one is no time. */
export function spanOf(stall) {
  const [at, length] = [time.parse(stall?.at), time.parse(stall?.for)];
  return at === null || length === null ? null : { from_s: at, to_s: at + length };
}

/** The stall after one of its parts (begin, end or whole) has moved by a number of seconds. */
export function moved({ part, from_s, to_s }, by) {
  const begin = part === "begin" ? Math.min(from_s + by, to_s - SHORTEST) : from_s + by;
  const from = part === "end" ? from_s : Math.max(0, begin);
  const lengths = { whole: to_s - from_s, begin: to_s - from, end: Math.max(SHORTEST, to_s + by - from_s) };
  return { at: short(from), for: short(lengths[part]) };
}

/** With no more digits than a person would write. */
function short(seconds) {
  return time.format(Number(seconds.toFixed(3)));
}
