// Scales of sliders: a share from 0 to 1 as a value, and back.

/** Logarithmic between two values. */
export const log = (low, high) => ({
  to: (part) => low * (high / low) ** part,
  from: (value) => Math.log(Math.min(Math.max(value, low), high) / low) / Math.log(high / low),
});

/** A power of the share, from 0. */
export const power = (high, exponent) => ({
  to: (part) => high * part ** exponent,
  from: (value) => (Math.min(Math.max(value, 0), high) / high) ** (1 / exponent),
});
