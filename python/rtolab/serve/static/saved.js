// The saved page: shows an answer of the server without the server.

import { diagnosed } from "./capture.js";
import { byId, h } from "./dom.js";
import { PathView } from "./path.js";
import { legend, Picture } from "./picture.js";
import { themed } from "./theme.js";
import { timeouts } from "./timeouts.js";
import { meanings, totals } from "./totals.js";
import { unpack } from "./unpack.js";

const letters = atob(byId("data").textContent.trim());
const shown = unpack(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)).buffer);
const pictures = shown.pictures ? diagnosed(shown, byId("shown")) : [resulted(shown)];
themed(() => pictures.forEach((picture) => picture.draw()));

function resulted(result) {
  const place = h("div", { class: "picture" });
  const path = h("div", { id: "path-view", role: "group", "aria-label": "The path at a time" });
  const view = new PathView(path, (at) => picture.point(at));
  const picture = new Picture(place, { oncursor: (at) => view.at(at) });
  byId("shown").replaceChildren(totals(result), meanings(), legend(), path, place, timeouts(result, null));
  picture.show(result, null);
  view.show(result, result.end_s / 2);
  picture.point(result.end_s / 2);
  return picture;
}
