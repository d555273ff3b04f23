// The time axis that all panels share, and numbers along an axis.

/** The time span of the panels, in seconds; zooming and panning move all of them. */
export class TimeAxis {
  constructor() {
    this.whole = [0, 1];
    this.view = [0, 1];
    this.onchange = () => {};
  }

  /** A new run: shows its span, or the part of it in `view`. */
  fit(end, view) {
    this.whole = [0, Math.max(end, 1e-6)];
    this.view = view ? this.#within(view) : [...this.whole];
  }

  get isWhole() {
    return this.view[0] <= this.whole[0] && this.view[1] >= this.whole[1];
  }

  show(view) {
    this.view = this.#within(view);
    this.onchange();
  }

  reset() {
    this.show(this.whole);
  }

  /** Zoom so that `at` stays where it is; a factor below 1 shows less. */
  zoom(factor, at = (this.view[0] + this.view[1]) / 2) {
    this.show(this.view.map((end) => at + (end - at) * factor));
  }

  /** Move by a multiple of the visible span. */
  pan(spans) {
    const by = spans * (this.view[1] - this.view[0]);
    this.show(this.view.map((end) => end + by));
  }

  #within([from, to]) {
    const [low, high] = this.whole;
    const span = Math.min(Math.max(to - from, 1e-6), high - low);
    const start = Math.min(Math.max(from, low), high - span);
    return [start, start + span];
  }
}

/** About `count` round numbers between two values. */
export function ticks([from, to], about) {
  const raw = (to - from) / Math.max(about, 1);
  if (!(raw > 0)) return { step: 1, values: [from] };
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw * 0.999);
  const values = [];
  for (let at = Math.ceil(from / step - 1e-9); at * step <= to + step * 1e-9; at++) values.push(at * step);
  return { step, values };
}

/** A number with as many digits as a step of its axis needs. */
export function digits(value, step) {
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
}

/** The first index at which an ascending column is not below a value. */
export function lowerBound(column, value) {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
