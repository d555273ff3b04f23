// The theme: light, dark, or that of the system.

import { byId } from "./dom.js";

const THEMES = ["auto", "light", "dark"];

/** Shows the theme that was last chosen, and lets the switch change it; `redraw` follows. */
export function themed(redraw) {
  let theme = THEMES.includes(kept()) ? kept() : "auto";
  const show = () => {
    document.documentElement.dataset.theme = theme;
    byId("theme").textContent = `Theme: ${theme}`;
  };
  show();
  byId("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // Not every browser keeps something; the theme then lasts as long as the page.
    }
    show();
    redraw();
  });
}

function kept() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}
