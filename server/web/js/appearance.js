// @ts-check
// Applies the appearance preferences: immediately when they change, and from the first paint of the next start.

const KEY = "spinney-looks"; // first.js reads it

/** Names of monospace fonts, which are then used for code as well. */
const MONO = /mono|code/;

/** Set the color of the browser's and the phone's own bars to that of the header. */
function updateThemeColor() {
  const bar = document.querySelector('meta[name="theme-color"]');
  bar?.setAttribute("content", getComputedStyle(document.documentElement).getPropertyValue("--ui-surface").trim());
}

/** @param {import("./app.js").App} app */
export function initAppearance(app) {
  let applied = "";
  document.getElementById("theme")?.addEventListener("load", updateThemeColor);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", updateThemeColor);
  updateThemeColor();
  // Paper is white.
  addEventListener("beforeprint", () => (document.documentElement.dataset.theme = "light"));
  addEventListener("afterprint", () => applyAppearance(appearanceFor(app.state.preferences)));
  const update = () => {
    const appearance = appearanceFor(app.state.preferences);
    const serialized = JSON.stringify(appearance);
    if (serialized === applied) return;
    applied = serialized;
    localStorage.setItem(KEY, serialized);
    applyAppearance(appearance);
    updateThemeColor();
  };
  app.onChange((change) => change.preferences && app.state.isLoaded && update());
}

/** @param {Record<string, any>} preferences @returns {Appearance} */
export function appearanceFor(preferences) {
  const { theme, syntax_theme_dark: dark, syntax_theme_light: light, zoom_level: zoom } = preferences;
  const { ui_font: font, chat_font: chatFont, ui_font_size: fontSize, chat_font_size: chatSize } = preferences;
  return {
    theme: theme === "system" ? "" : theme,
    sheet: String(new URLSearchParams({ dark, light })),
    properties: {
      "--ui-size": `${fontSize}px`,
      "--zoom": String(zoom / 100),
      "--chat-size": `${(chatSize * zoom) / 100}px`,
      "--ui-font": fontStack(font),
      "--chat-font": fontStack(chatFont),
      "--mono": MONO.test(chatFont) ? fontStack(chatFont) : "",
    },
  };
}

/** The font stack: the font if this device or the server has it, then generic ones. @param {string} name */
function fontStack(name) {
  if (name === "system") return "system-ui, sans-serif";
  const font = `"${name.replaceAll("-", " ")}"`; // font names are not case-sensitive
  return MONO.test(name) ? `${font}, ui-monospace, monospace` : `${font}, system-ui, sans-serif`;
}
