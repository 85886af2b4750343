// @ts-check
// Runs before the first paint: the page looks as it did when it was left. looks.js keeps what is read here.

/**
 * @typedef {object} Looks
 * @property {string} theme "light", "dark", or "" for what the device says
 * @property {string} sheet query of /theme.css: the syntax themes
 * @property {Record<string, string>} properties of the root element, custom ones; "" is none
 */

/** @param {Looks} looks */
function showLooks({ theme, sheet, properties }) {
  const root = document.documentElement;
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  for (const [name, value] of Object.entries(properties)) root.style.setProperty(name, value);
  const link = /** @type {HTMLLinkElement} */ (document.getElementById("theme"));
  const address = new URL(link.href);
  const version = address.searchParams.get("v") ?? "";
  address.search = String(new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(sheet)), v: version }));
  if (address.href !== link.href) link.href = address.href; // its `blocking` has the first paint wait for this one, too
}

try {
  const kept = localStorage.getItem("spinney-looks");
  if (kept) showLooks(JSON.parse(kept));
} catch {
  // Kept by another version, or not at all: the usual looks serve until the preferences are here.
}
