// @ts-check
// Style sheets that only some views need.

import { make } from "../dom.js";

/** @type {Map<string, Promise<void>>} */
const brought = new Map();

/**
 * Bring a style sheet of `css/`; done when it applies, or cannot be had: looks are not worth a view.
 * @param {string} name
 */
export function sheet(name) {
  const known = brought.get(name);
  if (known) return known;
  /** @type {Promise<void>} */
  const coming = new Promise((resolve) => {
    const href = new URL(`../../css/${name}.css`, import.meta.url).href;
    const link = make("link", { rel: "stylesheet", href, onload: () => resolve(), onerror: () => resolve() });
    document.head.append(link);
  });
  brought.set(name, coming);
  return coming;
}
