// What tests of the explorer's looks ask of the page.
({
  /** Text whose contrast with what it stands on is below 4.5 to 1 (WCAG 2.2, AA). */
  faint() {
    const parts = (color) => color.match(/[0-9.]+/g).map(Number);
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const light = (color) => {
      const [r, g, b] = color.map((part) => linear(part / 255));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const paper = (one) => {
      for (let at = one; at; at = at.parentElement) {
        const color = parts(getComputedStyle(at).backgroundColor);
        if (color.length === 3) return color;
      }
      return [255, 255, 255];
    };
    const isRead = (one) => {
      const texts = [...one.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
      const isSeen = one.checkVisibility() && one.getBoundingClientRect().width > 2;
      return isSeen && texts.some((node) => node.data.trim()) && !one.closest(".visually-hidden, .skip");
    };
    const found = [];
    for (const one of [...document.querySelectorAll("body *")].filter(isRead)) {
      const [a, b] = [light(parts(getComputedStyle(one).color)), light(paper(one))];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < 4.5) found.push(`${one.tagName} ${contrast.toFixed(2)}: ${one.textContent.slice(0, 40)}`);
    }
    return found;
  },

  /** The shapes of marks, the dashes of events and the lines of shades, without their colours. */
  async shapes() {
    const { EVENTS, SHADES, mark } = await import("/static/looks.js");
    const drawn = (kind) => {
      const done = [];
      const get = (_, name) => (...given) => done.push([name, ...given].join(" "));
      mark(new Proxy({}, { get, set: () => true }), kind, 0, 0, {});
      return done.join("; ");
    };
    const marks = ["first", "needed", "unneeded", "unknown"].map(drawn);
    return [marks, Object.values(EVENTS).map(({ dash }) => dash.join(" ")), Object.values(SHADES).map((one) => JSON.stringify(one))];
  },

  /** How the legend's marks look, without their colours. */
  legend() {
    return [...document.querySelectorAll(".legend .mark")].map((one) => {
      const { clipPath, width, height, borderRadius, borderLeftStyle, backgroundImage } = getComputedStyle(one);
      const stripes = backgroundImage.replace(/(rgba?|color)\([^)]*\)/g, "");
      return [clipPath, width, height, borderRadius, borderLeftStyle, stripes].join("|");
    });
  },

  /** What has the focus: how wide the ring around it is, and what it is called; null if nothing has. */
  focused() {
    const one = document.activeElement;
    if (one === document.body) return null;
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    const labels = [...(one.labels ?? [])].map((label) => label.textContent).join(" ");
    const name = one.getAttribute("aria-label") ?? (labels || one.textContent || one.title);
    const what = `${one.tagName} ${one.id} ${one.className}`;
    return { what, ring: outlineStyle === "none" ? 0 : parseFloat(outlineWidth), name: name.trim() };
  },
})
