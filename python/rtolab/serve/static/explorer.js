// The page: each change sends a request, and the newest answer becomes a picture.

import { ask, look, send } from "./api.js";
import { engine, savedPage } from "./backend.js";
import { Branches } from "./branches.js";
import { browsed } from "./browse.js";
import { diagnosed } from "./capture.js";
import { Controls } from "./controls.js";
import { byId, h, keep } from "./dom.js";
import { Fault } from "./fault.js";
import { Latest } from "./latest.js";
import { otherwise } from "./otherwise.js";
import { PathView } from "./path.js";
import { legend, Picture } from "./picture.js";
import { KeptRuns } from "./pinned.js";
import { question, read, written } from "./state.js";
import { themed } from "./theme.js";
import { timeouts } from "./timeouts.js";
import { inWords, meanings, totals } from "./totals.js";
import { unpack } from "./unpack.js";

const PHONE = 720;
/** Narrower pages begin with the sliders folded away, in px. */
const OTHERS = ["reno", "newreno", "newreno+frto", "sack", "sack+frto", "sack+eifel", "sack+dualrtt", "linux"];

const index = await look("api/index");
let { state, faults } = await read(location.hash, index);
sayAddress(faults);
let changedAt = null;

function saySender(message) {
  byId("sender-fault").textContent = message;
  byId("sender-fault").hidden = false;
}

/** Says what is wrong with the address, until something changes. */
function sayAddress(faults) {
  byId("address-fault").textContent = faults.join(" ");
  byId("address-fault").hidden = faults.length === 0;
}

/** The error in these senders, or null. */
async function faultOf(senders) {
  try {
    await ask("api/check", { ...question(state), senders });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.where === "sender") return error;
  }
  return null;
}

const controls = new Controls(index, changed, saySender, faultOf);
const picture = new Picture(byId("picture"), {
  handle: { stall: () => controls.stallSpan(), drag: (grip, by) => controls.dragStall(grip, by) },
  oncursor: (at) => pathView.at(at),
});
const pathView = new PathView(byId("path-view"), (at) => picture.point(at));
byId("legend").replaceWith(legend());
byId("meanings").replaceWith(meanings());
byId("version").textContent = index.version;
let captured = [];
let branched = [];
themed(() => [picture, ...captured, ...branched].forEach((one) => one.draw()));

const runs = new Latest(run);
const loads = new Latest(load);
runs.onwait = () => engine?.stopLongRuns();

/** The state has changed: run again. */
function changed(why) {
  sayAddress([]);
  changedAt ??= performance.now();
  if (why === "scenario") loads.offer(true);
  else runs.offer(true);
  remember();
}

/** Shows the scenario of the state, as text and as values of sliders; runs it if there is no error. */
async function load() {
  try {
    const found = await (await ask("api/scenario", question(state))).json();
    controls.take(state, found);
    if (document.activeElement !== byId("toml")) byId("toml").value = found.toml;
    // An error is shown sooner than a run ends, and the last figure stays; at first there is none.
    if (newest) await ask("api/check", question(state));
    runs.offer(true);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    blame(error);
  }
}

async function runOf(request) {
  return unpack(await (await ask("api/run", request)).arrayBuffer());
}

/** Runs that the reader keeps, to compare others with. */
const keptRuns = new KeptRuns(runOf);

async function run() {
  const began = changedAt;
  changedAt = null;
  document.body.classList.add("running");
  try {
    const whole = structuredClone(question(state));
    const result = await runOf({ ...whole, between: isLarge ? picture.around : null });
    shown = whole;
    const fault = await keptRuns.follow(state.kept).then(() => null, (error) => error);
    if (fault && fault.where !== "stopped") state.kept = null;
    show(result);
    if (fault) throw fault;
    blame(null);
    // It is on the screen with the next frame.
    if (began !== null) requestAnimationFrame(() => performance.measure("drag to picture", { start: began }));
    else requestAnimationFrame(() => firstPicture());
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.where !== "stopped") blame(error);
  }
  document.body.classList.remove("running");
}

/** The first picture is on the screen. A recorded one has left the processor to the page until now. */
function firstPicture() {
  performance.mark("picture");
  setTimeout(() => engine?.start());
}

/** Has the run too many packets to be drawn as a whole? */
let isLarge = false;

/** The newest result, and the request that it answers. */
let newest = null;
let shown = null;

function show(own) {
  newest = own;
  const result = keptRuns.beside(own, index.limits.senders);
  picture.overlay = state.overlay;
  picture.show(result, state.view);
  pathView.show(result, picture.cursor ?? firstTrouble(own));
  if (picture.cursor === null) picture.point(firstTrouble(own));
  isLarge = picture.every > 1 || result.senders.some(({ shown, end_s }) => shown[1] - shown[0] < end_s);
  byId("cut").hidden = picture.every === 1;
  byId("cut").textContent = `Too many packets to draw: one of ${picture.every} is shown, and more of the lost and retransmitted ones. Zoom in to see all.`;
  controls.flows(result.flows, result.flow);
  byId("totals").replaceChildren(totals(result));
  branched = [];
  byId("timeouts").replaceChildren(timeouts(own, whatIf));
  byId("overlay").setAttribute("aria-pressed", String(state.overlay));
  byId("pin").setAttribute("aria-pressed", String(state.kept !== null));
  byId("status").textContent = own.senders.map(inWords).join("; ");
  document.body.dataset.runs = String(Number(document.body.dataset.runs ?? 0) + 1);
}

/** Where the time cursor begins: at the first timeout, or in the middle of the run. */
function firstTrouble({ senders, end_s }) {
  const times = senders.flatMap((sender) => sender.timeouts.map((one) => one.at_s));
  return times.length > 0 ? Math.min(...times) : end_s / 2;
}

let faultyLine = null;

/** Shows an error at its place; nothing if there is none. */
function blame(fault) {
  const isShown = controls.blame(fault);
  const message = fault && !isShown ? `${fault.line ? `line ${fault.line}: ` : ""}${fault.key ? `${fault.key}: ` : ""}${fault.message}` : "";
  for (const [id, own] of [["toml-fault", fault?.where === "scenario"], ["sender-fault", fault?.where === "sender"]]) {
    byId(id).textContent = own ? message : "";
    byId(id).hidden = !own;
  }
  byId("to-line").hidden = !(fault?.where === "scenario" && fault.line);
  faultyLine = fault?.line;
  byId("toml").setAttribute("aria-invalid", String(fault?.where === "scenario"));
  const rest = fault && !isShown && !["scenario", "sender"].includes(fault.where);
  byId("fault").textContent = rest ? message : "";
  byId("fault").hidden = !rest;
  document.body.classList.toggle("stale", fault !== null);
}

async function whatIf(sender, timeout, place) {
  place.replaceChildren("…");
  const others = [...new Set([...state.senders, ...OTHERS])].filter((name) => name !== sender.name).slice(0, index.limits.senders);
  const request = { ...question(state), senders: [sender.name], at_s: timeout.at_s, seq: timeout.seq, others };
  try {
    const found = await (await ask("api/what-if", request)).json();
    const branches = new Branches(request, found.others.filter((one) => !one.error).map((one) => one.sender));
    place.replaceChildren(...otherwise(sender.name, found), ...branches.elements);
    branched.push(branches);
    branches.show(null);
  } catch (error) {
    place.replaceChildren(h("p", { class: "fault" }, error.message));
  }
}

/** Stores the state in the address, without another entry in the history. */
let remembering = null;
let ours = location.hash;
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(async () => {
    ours = `#${await written(state)}`;
    history.replaceState(null, "", ours);
  }, 200);
}

async function arrive() {
  if (location.hash === ours) return;
  ours = location.hash;
  ({ state, faults } = await read(location.hash, index));
  sayAddress(faults);
  loads.offer(true);
}

picture.onview = (axis) => {
  state.view = axis.isWhole ? null : [...axis.view];
  picture.view = state.view;
  if (picture.misses()) changed("view");
  remember();
};
byId("toml").addEventListener("input", () => {
  state.toml = byId("toml").value;
  changed("scenario");
});
byId("to-line").addEventListener("click", () => {
  const editor = byId("toml");
  const lines = editor.value.split("\n");
  const start = lines.slice(0, faultyLine - 1).reduce((sum, line) => sum + line.length + 1, 0);
  byId("editor").open = true;
  editor.focus();
  editor.setSelectionRange(start, start + (lines[faultyLine - 1] ?? "").length);
  editor.scrollTop = (editor.scrollHeight / lines.length) * Math.max(faultyLine - 5, 0);
});
byId("as-shipped").addEventListener("click", () => {
  state.toml = null;
  changed("scenario");
});
byId("zoom-in").addEventListener("click", () => picture.axis.zoom(0.6));
byId("zoom-out").addEventListener("click", () => picture.axis.zoom(1 / 0.6));
byId("zoom-all").addEventListener("click", () => picture.axis.reset());
byId("overlay").addEventListener("click", () => {
  state.overlay = !state.overlay;
  if (newest) show(newest);
  remember();
});
byId("pin").addEventListener("click", () => {
  if (!newest) return;
  state.kept = state.kept ? null : shown;
  keptRuns.take(state.kept, state.kept && newest);
  show(newest);
  remember();
});
addEventListener("hashchange", arrive);
// Not as a link does: what stands after # is the state.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("results").focus();
});

byId("share").addEventListener("click", async () => {
  ours = `#${await written(state)}`;
  history.replaceState(null, "", ours);
  const isCopied = await navigator.clipboard.writeText(location.href).then(() => true, () => false);
  byId("share").textContent = isCopied ? "Copied" : "It is in the address bar";
  setTimeout(() => (byId("share").textContent = "Copy link"), 2000);
});

// Downloads: the server repeats the run, except for the picture, which is the visible one.
async function download(kind) {
  const name = `rtolab-${state.scenario}-seed-${state.seed}`;
  try {
    const title = `${state.scenario}, seed ${state.seed}`;
    if (kind === "png") {
      keep(`${name}.png`, await picture.png(title));
    } else if (engine) {
      await keepHere(kind, name, title);
    } else {
      const answer = await ask(`api/download/${kind}`, question(state));
      keep(`${name}.${kind === "html" ? "html" : `${kind}.zip`}`, await answer.blob());
    }
  } catch (error) {
    blame(error);
  }
}
/** A download without a server: a page, or the capture of each sender. */
async function keepHere(kind, name, title) {
  if (kind === "html") {
    keep(`${name}.html`, await savedPage(title, await engine.ask("run", question(state))));
    return;
  }
  for (const sender of state.senders) {
    const capture = await engine.capture({ ...question(state), senders: [sender] });
    keep(`${name}-${sender}-${state.place}.pcapng`, new Blob([capture]));
  }
}
for (const button of document.querySelectorAll("[data-download]")) {
  button.addEventListener("click", () => {
    byId("download").open = false;
    download(button.dataset.download);
  });
}
addEventListener("click", (event) => {
  if (!byId("download").contains(event.target)) byId("download").open = false;
});
byId("download").addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  byId("download").open = false;
  byId("download").querySelector("summary").focus();
});

// The view: a run, a capture, or results.
const tabs = [...document.querySelectorAll("[data-tab]")];
function turn(name) {
  for (const tab of tabs) {
    if (tab.dataset.tab === name) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
    byId(tab.dataset.tab).hidden = tab.dataset.tab !== name;
  }
  for (const id of ["share", "download"]) byId(id).hidden = name !== "simulate";
  if (name === "browse" && !byId("browse").hasChildNodes()) browsed(index.results, byId("browse"));
}
for (const tab of tabs) tab.addEventListener("click", () => turn(tab.dataset.tab));

let file = null;
async function take(taken) {
  turn("capture");
  file = taken;
  byId("capture-fault").hidden = true;
  byId("keep-diagnosis").hidden = true;
  byId("diagnosis").replaceChildren(h("p", {}, `Reading ${file.name}…`));
  try {
    if (file.size > index.limits.capture) {
      throw new Error(`${file.name} has ${Math.ceil(file.size / 1e6)} MB; the explorer takes at most ${index.limits.capture / 1e6} MB: cut it (editcap -c), or use rtolab diagnose`);
    }
    const answer = await send(`api/capture?name=${encodeURIComponent(file.name)}`, file);
    captured = diagnosed(unpack(await answer.arrayBuffer()), byId("diagnosis"));
    byId("keep-diagnosis").hidden = false;
  } catch (error) {
    byId("diagnosis").replaceChildren();
    byId("capture-fault").textContent = error.message;
    byId("capture-fault").hidden = false;
  }
}
byId("file").addEventListener("change", (event) => event.target.files[0] && take(event.target.files[0]));
byId("keep-diagnosis").addEventListener("click", async () => {
  if (engine) return keep(`${file.name}.html`, await savedPage(file.name, await engine.diagnose(file.name, file)));
  const answer = await send(`api/capture/html?name=${encodeURIComponent(file.name)}`, file);
  return keep(`${file.name}.html`, await answer.blob());
});
addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
for (const name of ["dragleave", "drop"]) addEventListener(name, () => document.body.classList.remove("dropping"));
addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
});

byId("controls").open = innerWidth > PHONE;
changedAt = null;
loads.offer(true);
