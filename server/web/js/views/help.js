// @ts-check
// The help view: keys, marks, and requirements for notifications and installation.

import { make } from "../dom.js";
import { keysFor } from "../keys.js";
import { MARKS, markElement } from "../marks.js";
import { listActions } from "../perform.js";
import { hashFor } from "../router.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("palette");

/** Keys without an action. */
const OTHER_KEYS = [
  ["enter", "Send the message (shift+enter for a new line; on touch screens enter starts a new line)"],
  ["@", "Mention a file in the message box"],
  ["/", "Run a command of Spinney or the agent, at the start of a message"],
  ["tab", "Go to the next control"],
];

/** @type {import("../app.js").MakeView} */
export function helpView(app) {
  const keys = make("dl.keys");
  const update = (/** @type {{ preferences?: boolean }} */ change) => change.preferences && keys.replaceChildren(...keyRows(app.state.preferences.keybindings));
  update({ preferences: true });
  const keyHelp = [
    make("h2", "Keys"),
    make("p.hint", "The preference ", make("a", "Key bindings", { href: hashFor("preferences", "", { q: "key bindings" }) }), " changes them, here and in the terminal. Some keys differ because browsers reserve those of the terminal."),
    keys,
  ];
  const phoneHelp = [make("h2", "On a phone"), make("p", isSecureContext ? "You can install this page from the browser's menu, and it can notify you." : INSECURE)];
  const statusHelp = [
    make("h2", "Status icons"),
    make("ul.tight", Object.entries(MARKS).map(([mark, [, text]]) => make("li", markElement(/** @type {any} */ (mark)), " ", text))),
  ];
  const hasKeyboard = matchMedia("(hover: hover)").matches;
  const element = make(
    "div.page",
    make("h2", "About this page"),
    make("p", "This is the same Spinney as in the terminal, with the same sessions, plans, questions and changes."),
    (hasKeyboard ? [keyHelp, statusHelp, phoneHelp] : [phoneHelp, statusHelp, keyHelp]).flat(),
  );
  return { title: "Help", element, update };
}

/** The rows of the actions with keys, and of the other keys. @param {Record<string, string>} [own] the `keybindings` preference */
function keyRows(own) {
  const actions = listActions().map((action) => [keysFor(action, own).join(" · "), action.title]);
  const rows = [...actions.filter(([names]) => names), ...OTHER_KEYS];
  return rows.flatMap(([key, text]) => [make("dt", make("kbd", key)), make("dd", text)]);
}

const INSECURE =
  "Without HTTPS, browsers allow no notifications, installation or clipboard access. To enable them, start Spinney with " +
  "'spinney serve --certificate FILE --key FILE', or use an SSH tunnel to 127.0.0.1, a mesh VPN with certificates, or a " +
  "reverse proxy with TLS. Everything else works without HTTPS.";
