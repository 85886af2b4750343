// @ts-check
// What separates messages: the date before the first one of each day, and the agent where it changes.

import { make } from "../dom.js";

/** @param {Date} time */
function formatDay(time) {
  const year = time.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return time.toLocaleDateString("en", { weekday: "long", month: "long", day: "numeric", year });
}

/** Set the day and the author of a message's element. @param {HTMLElement} element @param {import("../state.js").Resource} message */
export function setDivider(element, message) {
  element.dataset.day = formatDay(new Date(message.timestamp * 1000));
  if (message.role === "assistant") element.dataset.author = `${message.backend ?? ""} ${message.model ?? ""}`;
}

/**
 * Insert separators where days begin, and remove those that are within a day now; hide the author of an answer that is
 * by the same agent as the previous one.
 * @param {HTMLElement} list of messages, in sections
 * @param {HTMLElement} [from] the first new message; the previous ones are up to date
 */
export function updateDividers(list, from) {
  for (const day of list.querySelectorAll(".day:has(+ .message[hidden])")) day.remove();
  const messages = /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".message:not([hidden])")]);
  const first = from ? messages.lastIndexOf(from) : 0;
  let before = messages[first - 1]?.dataset.day;
  let author = messages.slice(0, first).findLast((message) => message.dataset.author)?.dataset.author;
  for (const message of messages.slice(first)) {
    const { day = "" } = message.dataset;
    const separator = message.previousElementSibling;
    const hasSeparator = separator?.matches(".day");
    if (day === before && hasSeparator) separator?.remove();
    if (day !== before && !hasSeparator) message.before(make("p.day", day, { role: "separator" }));
    before = day;
    if (!message.dataset.author) continue;
    message.classList.toggle("same-author", message.dataset.author === author);
    author = message.dataset.author;
  }
}
