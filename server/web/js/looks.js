// @ts-check
// The page looks as the preferences say, at once when they change and from the first paint of the next start.

const KEY = "spinney-looks"; // first.js reads it

/** Faces whose letters are all of one width; code is set in them as well. */
const MONO = /mono|code/;

/** The browser's own bar, and that of a phone, in the colour of the page's. */
function tint() {
  const bar = document.querySelector('meta[name="theme-color"]');
  bar?.setAttribute("content", getComputedStyle(document.documentElement).getPropertyValue("--ui-surface").trim());
}

/** @param {import("./app.js").App} app */
export function looks(app) {
  let shown = "";
  document.getElementById("theme")?.addEventListener("load", tint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tint);
  tint();
  // Paper is white.
  addEventListener("beforeprint", () => (document.documentElement.dataset.theme = "light"));
  addEventListener("afterprint", () => showLooks(looksOf(app.state.preferences)));
  const follow = () => {
    const looks = looksOf(app.state.preferences);
    const kept = JSON.stringify(looks);
    if (kept === shown) return;
    shown = kept;
    localStorage.setItem(KEY, kept);
    showLooks(looks);
    tint();
  };
  app.follow((change) => change.preferences && app.state.isLoaded && follow());
}

/** @param {Record<string, any>} preferences @returns {Looks} */
export function looksOf(preferences) {
  const { theme, syntax_theme_dark: dark, syntax_theme_light: light, zoom_level: zoom } = preferences;
  const { ui_font: face, chat_font: chat, ui_font_size: size, chat_font_size: chatSize } = preferences;
  return {
    theme: theme === "system" ? "" : theme,
    sheet: String(new URLSearchParams({ dark, light })),
    properties: {
      "--ui-size": `${size}px`,
      "--zoom": String(zoom / 100),
      "--chat-size": `${(chatSize * zoom) / 100}px`,
      "--ui-font": stack(face),
      "--chat-font": stack(chat),
      "--mono": MONO.test(chat) ? stack(chat) : "",
    },
  };
}

/** The face where this device or the server has it, and what stands in for it. @param {string} name */
function stack(name) {
  if (name === "system") return "system-ui, sans-serif";
  const face = `"${name.replaceAll("-", " ")}"`; // names of faces are the same in small letters
  return MONO.test(name) ? `${face}, ui-monospace, monospace` : `${face}, system-ui, sans-serif`;
}
