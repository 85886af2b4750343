// @ts-check
// The days of a conversation: a line stands before the first message of each.

import { make } from "../dom.js";

/** @param {Date} time */
function dayOf(time) {
  const year = time.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return time.toLocaleDateString("en", { weekday: "long", month: "long", day: "numeric", year });
}

/** Say of a message's element on which day it was written. @param {HTMLElement} message @param {number} seconds */
export function setDay(message, seconds) {
  message.dataset.day = dayOf(new Date(seconds * 1000));
}

/**
 * Put the lines where days begin, and take away those that stand within one now.
 * @param {HTMLElement} list of messages, in sections
 * @param {HTMLElement} [from] the first message that is new; the ones before it have their lines
 */
export function markDays(list, from) {
  const messages = /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".message")]);
  const first = from ? messages.lastIndexOf(from) : 0;
  let before = messages[first - 1]?.dataset.day;
  for (const message of messages.slice(first)) {
    const { day = "" } = message.dataset;
    const line = message.previousElementSibling;
    const hasLine = line?.matches(".day");
    if (day === before && hasLine) line?.remove();
    if (day !== before && !hasLine) message.before(make("p.day", day, { role: "separator" }));
    before = day;
  }
}
