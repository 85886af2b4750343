// @ts-check
// Keys of actions, by default or from the `keybindings` preference, and what pressing them does.

import { currentContext, listActions, performAction } from "./perform.js";

/** Keys that browsers do not pass to pages, or that people need for the browser itself. */
const RESERVED = new Set([
  "ctrl+n", "ctrl+t", "ctrl+w", "ctrl+q", "ctrl+shift+n", "ctrl+shift+t", "ctrl+shift+w", "ctrl+f", "ctrl+r", "ctrl+l",
  "tab", "shift+tab", "f3", "f5", "f6", "f10", "f11", "f12", "alt+left", "alt+right", "ctrl+c", "ctrl+v", "ctrl+x", "ctrl+a", "ctrl+z",
]);

/** Terminal names of keys that browsers name differently. @type {Record<string, string>} */
const KEY_NAMES = { "@": "space", question_mark: "?", right_square_bracket: "]", left_square_bracket: "[", comma: ",", full_stop: "." };

/** The keys of an action. @param {import("./perform.js").Action} action @param {Record<string, string>} [own] the `keybindings` preference */
export function keysFor(action, own = {}) {
  const custom = filterKeys(own[action.id] ?? "");
  return custom.length ? custom : filterKeys(action.keys ?? "");
}

/** The keys that pages receive. @param {string} keys */
const filterKeys = (keys) => keys.split(",").map(normalizeKey).filter((key) => key && !RESERVED.has(key));

/** Normalize a key: modifiers in a fixed order, then the key. @param {string} text */
function normalizeKey(text) {
  const parts = text.trim().toLowerCase().split("+").filter(Boolean);
  const key = parts.pop() ?? "";
  const modifiers = ["ctrl", "alt", "shift"].filter((name) => parts.includes(name));
  return [...modifiers, KEY_NAMES[key] ?? key].join("+");
}

/** The normalized name of the pressed key. @param {KeyboardEvent} event */
export function keyName(event) {
  // With Alt, macOS reports the character it would type instead of the key.
  const character = event.altKey && /^Key[A-Z]$/.test(event.code) ? event.code.slice(3) : event.key;
  const key = character === " " ? "space" : character.toLowerCase();
  const isSymbol = key.length === 1 && !/[a-z0-9]/.test(key);
  const modifiers = [
    (event.ctrlKey || event.metaKey) && "ctrl",
    event.altKey && "alt",
    event.shiftKey && !isSymbol && "shift",
  ];
  return [...modifiers.filter(Boolean), key].join("+");
}

/** @param {import("./app.js").App} app */
export function initKeys(app) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    const key = keyName(event);
    if (isEditable(event.target) && !/^(ctrl|alt)\+|^f\d+$|^escape$/.test(key)) return;
    const own = app.state.preferences.keybindings ?? {};
    const action = listActions().find((candidate) => keysFor(candidate, own).includes(key));
    if (!action || (key === "escape" && !app.state.isLoaded)) return;
    if (key === "escape" && app.route.view !== "session") return;
    event.preventDefault();
    if (action.id === "stop") {
      if (!event.repeat) stopByKey(app, key);
    } else performAction(app, action.id);
  });
  addEventListener("keydown", noteEscape, { capture: true });
}

/** @param {EventTarget | null} target */
function isEditable(target) {
  return target instanceof Element && target.matches("input:not([type=checkbox]), textarea, select");
}

const CONFIRM_TIME = 4000; // ms within which a second press confirms
let firstPress = { request: "", at: -CONFIRM_TIME };

const CLOSE_TIME = 1000; // ms after Escape was for something else, in which it is likely to be meant for that again
/** The last press of Escape, and whether it was to stop the session. */
let escape = { at: -CLOSE_TIME, isStop: true };
let escapeBefore = escape;

/** Note a press of Escape, whatever it is for: a dialog, the drawer, a list of completions. @param {KeyboardEvent} event */
function noteEscape(event) {
  if (event.key !== "Escape" || event.repeat) return;
  escapeBefore = escape;
  escape = { at: performance.now(), isStop: false };
}

/** Whether the current press of Escape follows at once one that was not to stop the session. */
function isEscapeAgain() {
  escape.isStop = true;
  return !escapeBefore.isStop && escape.at - escapeBefore.at < CLOSE_TIME;
}

/**
 * Stop the session by a key. If it waits for the user, the key must be pressed twice; and Escape, too, if it has just
 * closed something.
 * @param {import("./app.js").App} app
 * @param {string} key
 */
function stopByKey(app, key) {
  const { session } = currentContext(app);
  const request = session?.request?.id;
  if (key === "escape" && isEscapeAgain()) {
    if (session?.status === "running" || session?.status === "waiting") app.toast("Esc again stops the run.");
  } else if (request && (firstPress.request !== request || performance.now() - firstPress.at > CONFIRM_TIME)) {
    firstPress = { request, at: performance.now() };
    app.toast(`${REQUESTS[session.waiting_for] ?? "The session"} is waiting for you. Press Escape again to set it aside.`);
  } else performAction(app, "stop");
}

/** @type {Record<string, string>} */
const REQUESTS = { plan: "The plan", question: "The question", permission: "The permission" };
