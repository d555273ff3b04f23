// Elements. Text is always set as text: nothing from a server or a capture becomes markup.

/** An element with attributes, listeners (on...) and children; strings become text. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** The element of this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** A table of texts and elements in a box that scrolls by itself if the table is too wide. */
export function table(caption, head, rows, attributes = {}) {
  const cells = (row) => row.map((cell) => (cell instanceof HTMLTableCellElement ? cell : h("td", {}, cell)));
  const lines = rows.map((row) => (row instanceof HTMLElement ? row : h("tr", {}, cells(row))));
  // The heading of a cell, for narrow pages, which show no headings above columns.
  for (const { cells } of lines) [...cells].forEach((cell, at) => cell.colSpan === 1 && (cell.dataset.label = head[at]));
  // A heading stands over its numbers.
  const isNumber = (at) => lines[0]?.cells[at]?.classList.contains("number");
  const heading = (name, at) => h("th", { scope: "col", class: isNumber(at) ? "number" : null }, name);
  return h(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      attributes,
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, head.map(heading))),
      h("tbody", {}, lines),
    ),
  );
}

/** A file that the browser keeps. */
export function keep(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
