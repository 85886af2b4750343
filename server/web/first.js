// @ts-check
// Runs before the first paint and applies the last appearance, which appearance.js saves.

/**
 * @typedef {object} Appearance
 * @property {string} theme "light", "dark", or "" for the device's setting
 * @property {string} sheet query of /theme.css, with the syntax themes
 * @property {Record<string, string>} properties CSS custom properties of the root element; "" removes one
 */

/** @param {Appearance} appearance */
function applyAppearance({ theme, sheet, properties }) {
  const root = document.documentElement;
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  for (const [name, value] of Object.entries(properties)) root.style.setProperty(name, value);
  for (const link of /** @type {NodeListOf<HTMLLinkElement>} */ (document.querySelectorAll("#theme, #code-colors"))) {
    const address = new URL(link.href);
    for (const [name, value] of new URLSearchParams(sheet)) address.searchParams.set(name, value);
    if (address.href !== link.href) link.href = address.href; // because of its `blocking`, the first paint waits for this one, too
  }
}

try {
  const saved = localStorage.getItem("spinney-looks");
  if (saved) applyAppearance(JSON.parse(saved));
} catch {
  // Saved by another version: the default appearance is used until the preferences are loaded.
}
