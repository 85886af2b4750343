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
  const own = app.state.preferences.keybindings ?? {};
  const keys = [...listActions().map((action) => [keysFor(action, own).join(" · "), action.title]).filter(([names]) => names), ...OTHER_KEYS];
  const element = make(
    "div.page",
    make("h2", "About this page"),
    make("p", "This is the same Spinney as in the terminal, with the same sessions, plans, questions and changes."),
    make("h2", "Keys"),
    make("p.hint", "The preference ", make("a", "Key bindings", { href: hashFor("preferences", "", { q: "key bindings" }) }), " changes them, here and in the terminal. Some keys differ because browsers reserve those of the terminal."),
    make("dl.keys", keys.map(([key, text]) => [make("dt", make("kbd", key)), make("dd", text)]).flat()),
    make("h2", "Status icons"),
    make("ul.tight", Object.entries(MARKS).map(([mark, [, text]]) => make("li", markElement(/** @type {any} */ (mark)), " ", text))),
    make("h2", "On a phone"),
    make("p", isSecureContext ? "You can install this page from the browser's menu, and it can notify you." : INSECURE),
  );
  return { title: "Help", element };
}

const INSECURE =
  "Without HTTPS, browsers allow no notifications, installation or clipboard access. To enable them, use an SSH tunnel to " +
  "127.0.0.1, a mesh VPN with certificates, or a reverse proxy with TLS. Everything else works without HTTPS.";
