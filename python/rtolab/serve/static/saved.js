// The saved page: shows an answer of the server without the server.

import { diagnosed } from "./capture.js";
import { byId, h } from "./dom.js";
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
  const picture = new Picture(place);
  byId("shown").replaceChildren(totals(result), meanings(), legend(), place, timeouts(result, null));
  picture.show(result, null);
  return picture;
}
