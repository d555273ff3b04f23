// Results of sweeps and experiments in the folders given to the server.

import { look } from "./api.js";
import { h, table } from "./dom.js";

/** Lists the results and shows the selected one. */
export function browsed(results, place) {
  if (results.length === 0) {
    const how = h("p", {}, "Nothing to browse. Start the explorer with a folder of results to list its sweeps and reports here:");
    place.replaceChildren(how, h("pre", {}, "rtolab serve --browse out"));
    return;
  }
  const shown = h("div", { id: "shown" });
  const names = results.map(({ number, kind, name }) => h("option", { value: String(number) }, `${kind}: ${name}`));
  const choice = h("select", { id: "which", onchange: () => show(Number(choice.value), shown) }, names);
  place.replaceChildren(h("div", { class: "row" }, h("label", { for: "which" }, "Results"), choice), shown);
  show(results[0].number, shown);
}

async function show(number, place, measure) {
  const request = measure ? `?measure=${encodeURIComponent(measure)}` : "";
  try {
    const found = await look(`api/results/${number}${request}`);
    place.replaceChildren(...(found.kind === "sweep" ? sweep(found, number, place) : experiment(found, number)));
  } catch (error) {
    place.replaceChildren(h("p", { class: "fault" }, error.message));
  }
}

function sweep(found, number, place) {
  const measures = found.measures.map((name) => h("option", { value: name, selected: name === found.measure }, name));
  const choice = h("select", { id: "measure", onchange: () => show(number, place, choice.value) }, measures);
  const senders = [...new Set(found.cells.map((cell) => cell.sender))];
  const points = new Map();
  for (const cell of found.cells) {
    const key = JSON.stringify(found.grid.map((name) => cell[name]));
    if (!points.has(key)) points.set(key, { values: found.grid.map((name) => cell[name]), of: {} });
    points.get(key).of[cell.sender] = cell;
  }
  const most = Math.max(...found.cells.map((cell) => cell.high ?? 0), 1e-12);
  const rows = [...points.values()].map(({ values, of }) => [
    ...values.map(String),
    ...senders.map((sender, at) => h("td", {}, of[sender] ? bar(of[sender], most, at) : "–")),
  ]);
  return [
    h("div", { class: "row" }, h("label", { for: "measure" }, "Measure"), choice),
    h(
      "p",
      { class: "note" },
      "Medians over runs, with quartiles in brackets; bars from 0 to the largest upper quartile. A run counts once, with the mean over its flows.",
    ),
    table(`${found.measure} at every point`, [...found.grid, ...senders], rows),
  ];
}

function bar(cell, most, sender) {
  if (cell.median === null) return `no value, ${counted(cell)}`;
  const inner = h("span", { class: `bar sender-${(sender % 8) + 1}` });
  inner.style.width = `${Math.max(0, Math.min(100, (100 * cell.median) / most))}%`;
  const text = `${short(cell.median)} (${short(cell.low)} to ${short(cell.high)}), ${counted(cell)}`;
  return h("span", { class: "barred" }, h("span", { class: "rail" }, inner), text);
}

/** The runs of a cell, and how many of them have finished or have a value, unless all do. */
function counted({ runs, finished, values, median }) {
  const all = `${runs} ${runs === 1 ? "run" : "runs"}`;
  if (finished === runs && values === runs) return all;
  const shown = values === finished || median === null ? "" : `, ${values} with a value`;
  return `${finished} of ${all} finished${shown}`;
}

function short(value) {
  return value === null ? "–" : String(Number(value.toPrecision(4)));
}

function experiment(found, number) {
  const address = (file) => `api/results/${number}/${file.number}`;
  // Older results have each picture as PNG, too.
  const pictures = found.files.filter((file) => file.name.endsWith(".svg"));
  return [
    h("h2", {}, `${found.title} `, verdict(found.verdict)),
    h("p", {}, `${found.experiment}: ${found.source}. ${found.runs} runs.`),
    found.note ? h("p", {}, found.note) : null,
    measured(found.rows ?? []),
    ...(found.tables ?? []).map((one) => table(one.caption, one.head, one.rows.map((row) => row.map((cell) => cellText(cell))))),
    checks(found.checks ?? []),
    ...pictures.map((file) => h("img", { src: address(file), alt: file.name, class: "drawn", loading: "lazy" })),
    h("h3", {}, "Files"),
    h("ul", {}, found.files.map((file) => h("li", {}, h("a", { href: address(file), download: file.name }, file.name)))),
  ].filter(Boolean);
}

function verdict(text) {
  return h("span", { class: `verdict verdict-${text}` }, text ?? "");
}

function measured(rows) {
  if (rows.length === 0) return null;
  const cells = rows.map((row) => [
    row.label,
    row.metric,
    h("td", { class: "number" }, row.published === null ? "–" : String(row.published)),
    h("td", { class: "number" }, row.measured ? `${short(row.measured.median)} (${short(row.measured.q1)} to ${short(row.measured.q3)})` : "–"),
  ]);
  return table("Published and measured", ["Variant", "Measure", "Published", "Measured: median (quartiles)"], cells);
}

function checks(all) {
  if (all.length === 0) return null;
  const rows = all.map((check) => [
    check.name,
    check.kind,
    check.expected,
    h("td", { class: "number" }, check.measured === null ? "–" : short(check.measured)),
    h("td", {}, verdict(check.verdict)),
  ]);
  return table("Checks", ["Claim", "Kind", "Expected", "Measured", "Verdict"], rows);
}

function cellText(cell) {
  if (cell === null) return "–";
  if (typeof cell === "object") return short(cell.value ?? null);
  return typeof cell === "number" ? short(cell) : String(cell);
}
