// @ts-check
// Loads style sheets that only some views need.

import { make } from "../dom.js";

/** @type {Map<string, Promise<void>>} */
const loaded = new Map();

/**
 * Load a style sheet of `css/`; also resolves if it fails, because a view without styles is better than none.
 * @param {string} name
 */
export function loadStylesheet(name) {
  const existing = loaded.get(name);
  if (existing) return existing;
  /** @type {Promise<void>} */
  const loading = new Promise((resolve) => {
    const href = new URL(`../../css/${name}.css`, import.meta.url).href;
    const link = make("link", { rel: "stylesheet", href, onload: () => resolve(), onerror: () => resolve() });
    document.head.append(link);
  });
  loaded.set(name, loading);
  return loading;
}
