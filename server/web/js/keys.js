// @ts-check
// Keys: which each action has, by default or by the `keybindings` preference, and what a press does.

import { hereOf, list, perform } from "./perform.js";

/** What a browser does not give to a page, or people need for the browser itself. */
const TAKEN = new Set([
  "ctrl+n", "ctrl+t", "ctrl+w", "ctrl+q", "ctrl+shift+n", "ctrl+shift+t", "ctrl+shift+w", "ctrl+f", "ctrl+r", "ctrl+l",
  "tab", "shift+tab", "f3", "f5", "f6", "f10", "f11", "f12", "alt+left", "alt+right", "ctrl+c", "ctrl+v", "ctrl+x", "ctrl+a", "ctrl+z",
]);

/** The terminal's names of keys that a browser calls otherwise. @type {Record<string, string>} */
const NAMES = { "@": "space", question_mark: "?", right_square_bracket: "]", left_square_bracket: "[", comma: ",", full_stop: "." };

/** The keys of an action. @param {import("./perform.js").Action} action @param {Record<string, string>} [own] of the preference */
export function keysOf(action, own = {}) {
  const wanted = usable(own[action.id] ?? "");
  return wanted.length ? wanted : usable(action.keys ?? "");
}

/** Those of some keys that a page gets. @param {string} keys */
const usable = (keys) => keys.split(",").map(spelt).filter((key) => key && !TAKEN.has(key));

/** One spelling for each: modifiers in their order, then the key. @param {string} text */
function spelt(text) {
  const parts = text.trim().toLowerCase().split("+").filter(Boolean);
  const key = parts.pop() ?? "";
  const held = ["ctrl", "alt", "shift"].filter((name) => parts.includes(name));
  return [...held, NAMES[key] ?? key].join("+");
}

/** What was pressed, as the table spells it. @param {KeyboardEvent} event */
export function pressed(event) {
  // With alt held, a Mac gives the letter that it would write, and not the key.
  const letter = event.altKey && /^Key[A-Z]$/.test(event.code) ? event.code.slice(3) : event.key;
  const key = letter === " " ? "space" : letter.toLowerCase();
  const isSign = key.length === 1 && !/[a-z0-9]/.test(key);
  const held = [
    (event.ctrlKey || event.metaKey) && "ctrl",
    event.altKey && "alt",
    event.shiftKey && !isSign && "shift",
  ];
  return [...held.filter(Boolean), key].join("+");
}

/** @param {import("./app.js").App} app */
export function keys(app) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    const key = pressed(event);
    if (isWriting(event.target) && !/^(ctrl|alt)\+|^f\d+$|^escape$/.test(key)) return;
    const own = app.state.preferences.keybindings ?? {};
    const action = list().find((each) => keysOf(each, own).includes(key));
    if (!action || (key === "escape" && !app.state.isLoaded)) return;
    // What is opened by escape alone goes first: the drawer.
    if (key === "escape" && (document.body.classList.contains("drawer") || app.route.view !== "session")) return;
    event.preventDefault();
    if (action.id === "stop") {
      if (!event.repeat) stopByKey(app);
    } else perform(app, action.id);
  });
}

/** @param {EventTarget | null} target */
function isWriting(target) {
  return target instanceof Element && target.matches("input:not([type=checkbox]), textarea, select");
}

const AGAIN = 4000; // ms within which a second press is meant
let first = { request: "", at: -AGAIN };

/**
 * Stop by a key. What waits for a person goes on waiting until the key is pressed a second time.
 * @param {import("./app.js").App} app
 */
function stopByKey(app) {
  const { session } = hereOf(app);
  const request = session?.request?.id;
  if (request && (first.request !== request || performance.now() - first.at > AGAIN)) {
    first = { request, at: performance.now() };
    app.say(`${ASKED[session.waiting_for] ?? "This"} goes on waiting. Press escape again to set it aside.`);
  } else perform(app, "stop");
}

/** @type {Record<string, string>} */
const ASKED = { plan: "The plan", question: "The question", permission: "The permission" };
