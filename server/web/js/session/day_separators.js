// @ts-check
// Separators with the date before the first message of each day.

import { make } from "../dom.js";

/** @param {Date} time */
function formatDay(time) {
  const year = time.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return time.toLocaleDateString("en", { weekday: "long", month: "long", day: "numeric", year });
}

/** Set the day of a message's element. @param {HTMLElement} message @param {number} seconds */
export function setDay(message, seconds) {
  message.dataset.day = formatDay(new Date(seconds * 1000));
}

/**
 * Insert separators where days begin, and remove those that are within a day now.
 * @param {HTMLElement} list of messages, in sections
 * @param {HTMLElement} [from] the first new message; the previous ones are up to date
 */
export function updateDaySeparators(list, from) {
  const messages = /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".message")]);
  const first = from ? messages.lastIndexOf(from) : 0;
  let before = messages[first - 1]?.dataset.day;
  for (const message of messages.slice(first)) {
    const { day = "" } = message.dataset;
    const separator = message.previousElementSibling;
    const hasSeparator = separator?.matches(".day");
    if (day === before && hasSeparator) separator?.remove();
    if (day !== before && !hasSeparator) message.before(make("p.day", day, { role: "separator" }));
    before = day;
  }
}
