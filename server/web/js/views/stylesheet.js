// @ts-check
// Loads style sheets that only some views need.

import { make } from "../dom.js";

/** @type {Map<string, Promise<void>>} */
const loaded = new Map();

/**
 * Load a style sheet of `css/`; also resolves if it fails, because a view without styles is better than none.
 * @param {string} name
 */
export const loadStylesheet = (name) => load(name, new URL(`../../css/${name}.css`, import.meta.url).href);

/** Load the colors of code: the page starts with those of everything else. Resolves as `loadStylesheet` does. */
export function loadCodeColors() {
  const address = new URL(/** @type {HTMLLinkElement} */ (document.getElementById("theme")).href);
  address.searchParams.delete("plain");
  return load("code-colors", address.href);
}

/** @param {string} id @param {string} href */
function load(id, href) {
  const existing = loaded.get(id);
  if (existing) return existing;
  /** @type {Promise<void>} */
  const loading = new Promise((resolve) => {
    document.head.append(make("link", { rel: "stylesheet", id, href, onload: () => resolve(), onerror: () => resolve() }));
  });
  loaded.set(id, loading);
  return loading;
}
