// The state of the page, and its form in an address.

/** 2^64 - 1. Numbers of JavaScript end before, so that a seed is the text of its digits. */
const LARGEST_SEED = 18446744073709551615n;

/** What is wrong with a seed; null if nothing is. */
export function faultOfSeed(text) {
  if (/^\d{1,20}$/.test(text) && BigInt(text) <= LARGEST_SEED) return null;
  return `Seed: found "${text.slice(0, 40)}"; expected a whole number from 0 to 2^64 - 1.`;
}

/** The initial state of the page. */
export function initial(index) {
  return {
    scenario: index.default.scenario,
    toml: null,
    link: null,
    set: {},
    senders: [...index.default.senders],
    seed: "1",
    flow: null,
    place: "sender",
    view: null,
    overlay: false,
    kept: null,
  };
}

/** The request for a state, with the span of the requested packets. */
export function question(state, between = null) {
  const { scenario, toml, set, senders, seed, flow, place } = state;
  return { scenario, toml, set, senders, seed, flow, place, between };
}

/** The part of an address after #, with the names of the command line. */
export async function written(state) {
  const words = await inWords(state);
  if (state.link) words.set("link", state.link);
  if (state.overlay) words.set("overlay", "1");
  if (state.kept) words.set("kept", (await inWords(state.kept)).toString());
  if (state.view) words.set("view", state.view.map((at) => at.toPrecision(6)).join(","));
  return words.toString();
}

/** A request in the words of an address. */
async function inWords({ scenario, toml, set, senders, seed, flow, place }) {
  const words = new URLSearchParams();
  words.set("scenario", scenario);
  if (toml !== null) words.set("toml", await packed(toml));
  for (const [key, value] of Object.entries(set)) words.append("set", `${key}=${value}`);
  for (const sender of senders) words.append("sender", sender);
  if (seed !== "1") words.set("seed", seed);
  if (flow) words.set("flow", flow);
  if (place !== "sender") words.set("place", place);
  return words;
}

/**
 * The state in an address, and what is wrong with the address. Values that it lacks, or that are
 * wrong, are the initial ones.
 */
export async function read(text, index) {
  const words = new URLSearchParams(text.replace(/^#/, ""));
  const state = initial(index);
  const faults = [];
  const scenario = words.get("scenario") ?? state.scenario;
  if (index.scenarios.some((one) => one.name === scenario)) state.scenario = scenario;
  else faults.push(`The address names the scenario "${scenario.slice(0, 40)}", which this page does not have.`);
  if (words.has("toml")) state.toml = await unpacked(words.get("toml"));
  for (const pair of words.getAll("set")) {
    const at = pair.indexOf("=");
    if (at > 0) state.set[pair.slice(0, at)] = pair.slice(at + 1);
  }
  if (words.has("sender")) state.senders = words.getAll("sender").slice(0, index.limits.senders);
  const seed = words.get("seed") ?? state.seed;
  const fault = faultOfSeed(seed);
  if (fault) faults.push(fault);
  else state.seed = seed;
  for (const name of ["link", "flow"]) state[name] = words.get(name);
  if (words.get("place") === "receiver") state.place = "receiver";
  state.overlay = words.has("overlay");
  if (words.has("kept")) {
    const kept = new URLSearchParams(words.get("kept"));
    kept.delete("kept");
    state.kept = question((await read(kept.toString(), index)).state);
  }
  const view = (words.get("view") ?? "").split(",").map(Number);
  if (view.length === 2 && view.every(Number.isFinite) && view[0] < view[1]) state.view = view;
  return { state, faults };
}

async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function unpacked(text) {
  try {
    const letters = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return await new Response(stream).text();
  } catch {
    return null;
  }
}
