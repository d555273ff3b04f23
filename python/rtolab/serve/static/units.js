// Quantities as the engine reads them ("28.8 kbit/s", "200 ms") and as sliders have them.

const TIMES = { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };
const RATES = { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9 };

function parse(text, units) {
  const found = /^\s*([0-9.]+(?:e[+-]?\d+)?)\s*(\S+)\s*$/.exec(text ?? "");
  return found && found[2] in units ? Number(found[1]) * units[found[2]] : null;
}

function short(number, digits = 3) {
  return String(Number(number.toPrecision(digits)));
}

/** A time in seconds and back. */
export const time = {
  parse: (text) => parse(text, TIMES),
  format: (seconds) => {
    if (seconds >= 0.9995 || seconds === 0) return `${short(seconds)} s`;
    return seconds >= 0.9995e-3 ? `${short(seconds * 1e3)} ms` : `${short(seconds * 1e6)} us`;
  },
};

/** A rate in bit/s and back. */
export const rate = {
  parse: (text) => parse(text, RATES),
  format: (bits) => {
    for (const [name, factor] of Object.entries(RATES).reverse()) {
      if (bits >= 0.9995 * factor) return `${short(bits / factor)} ${name}`;
    }
    return `${short(bits)} bit/s`;
  },
};

/** A probability and back. */
export const chance = {
  parse: (text) => (/^\s*[0-9.]+\s*$/.test(text ?? "") ? Number(text) : null),
  format: (part) => short(part, 2),
};

/** Seconds as tables show them. */
export function seconds(value, digits = 3) {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : value.toFixed(digits);
}

/** A number of bytes, short. */
export function bytes(value) {
  for (const [limit, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= limit) return `${short(value / limit, 4)}${name}`;
  }
  return String(Math.round(value));
}
