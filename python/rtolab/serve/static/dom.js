// Elements. Text is only ever set as text: nothing that a server or a capture says becomes markup.

/** An element with attributes, listeners (on...) and children; strings become text. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** The element of this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** A table of texts and elements in a box that scrolls by itself where it is too wide. */
export function table(caption, head, rows, attributes = {}) {
  const cells = (row, tag) => row.map((cell) => (cell instanceof HTMLTableCellElement ? cell : h(tag, {}, cell)));
  return h(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      attributes,
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map((row) => (row instanceof HTMLElement ? row : h("tr", {}, cells(row, "td"))))),
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
