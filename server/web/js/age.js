// @ts-check
// Ages in lists: short, with the full date on hover or, by a tap, as a notice. They are updated once a minute.

import { make } from "./dom.js";
import { formatAge, formatFull } from "./format.js";

const INTERVAL = 60000; // ms

setInterval(() => {
  if (document.hidden) return;
  for (const element of document.querySelectorAll("time.age")) {
    const text = formatAge(Number(/** @type {HTMLElement} */ (element).dataset.at));
    if (element.textContent !== text) element.textContent = text;
  }
}, INTERVAL);

/** The age of something. @param {number} timestamp in seconds */
export function ageElement(timestamp) {
  return make("time.age", formatAge(timestamp), { title: formatFull(timestamp), dateTime: new Date(timestamp * 1000).toISOString(), "data-at": timestamp });
}
