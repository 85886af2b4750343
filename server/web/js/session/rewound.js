// @ts-check
// Messages that were taken back: adjacent ones are folded into one line, and dimmed when it is opened.

import { make } from "../dom.js";
import { pluralize } from "../format.js";
import { updateDividers } from "./dividers.js";

/** Ids of the first messages of what is shown, so that it stays open. @type {Set<string>} */
const opened = new Set();

/** Mark the element of a message. @param {HTMLElement} element @param {import("../state.js").Resource} message */
export function setRewound(element, message) {
  element.toggleAttribute("data-rewound", Boolean(message.rewound));
  if (!message.rewound) element.hidden = false;
}

/** Fold the rewound messages of a list, and separate the others. @param {HTMLElement} list of messages, in sections */
export function foldRewound(list) {
  const focused = document.activeElement?.closest("button.rewound")?.id;
  for (const old of list.querySelectorAll("button.rewound")) old.remove();
  /** @type {HTMLElement[]} */ let together = [];
  for (const message of /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(".message"))) {
    if (message.hasAttribute("data-rewound")) together.push(message);
    else together = fold(together, list);
  }
  fold(together, list);
  updateDividers(list);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

/** Open the line that a message is folded into. @param {HTMLElement} list @param {HTMLElement} message */
export function showRewound(list, message) {
  if (!message.hidden) return;
  const all = /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".message")]);
  let first = all.indexOf(message);
  while (all[first - 1]?.hasAttribute("data-rewound")) first--;
  opened.add(all[first].id);
  foldRewound(list);
}

/** Put one line before adjacent messages; returns an empty list. @param {HTMLElement[]} messages @param {HTMLElement} list @returns {HTMLElement[]} */
function fold(messages, list) {
  const [first] = messages;
  if (!first) return [];
  const isOpen = opened.has(first.id);
  for (const message of messages) message.hidden = !isOpen;
  const text = `${pluralize(messages.length, "message")} rewound · ${isOpen ? "hide" : "show"}`;
  const line = make("button.rewound.quiet", text, { type: "button", id: `rewound-${first.id}`, ariaExpanded: String(isOpen) });
  line.addEventListener("click", () => {
    if (!opened.delete(first.id)) opened.add(first.id);
    foldRewound(list);
  });
  const day = first.previousElementSibling;
  (day?.matches(".day") ? day : first).before(line);
  return [];
}
