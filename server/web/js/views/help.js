// @ts-check
// Help: the keys and the marks, and what a phone needs for notifications and installing.

import { make } from "../dom.js";
import { keysOf } from "../keys.js";
import { LOOKS, markElement } from "../marks.js";
import { list } from "../perform.js";
import { hashOf } from "../router.js";

/** Keys that are no action's. */
const MORE = [
  ["enter", "Send the message (shift+enter: a new line; on a touch screen enter makes one)"],
  ["@", "Mention a file, in the message box"],
  ["/", "A command of Spinney or of the agent, first in the message box"],
  ["tab", "The next thing that can be pressed"],
];

/** @type {import("../app.js").MakeView} */
export function helpView(app) {
  const own = app.state.preferences.keybindings ?? {};
  const keys = [...list().map((action) => [keysOf(action, own).join(" · "), action.title]).filter(([each]) => each), ...MORE];
  const element = make(
    "div.page",
    make("h2", "What this is"),
    make("p", "The same Spinney as in the terminal: sessions, plans, questions, changes. What you do here happens there, and the other way round."),
    make("h2", "Keys"),
    make("p.hint", "The preference ", make("a", "keybindings", { href: hashOf("preferences") }), " changes them, here and in the terminal. A few keys of the terminal belong to the browser and have others here."),
    make("dl.keys", keys.map(([key, words]) => [make("dt", make("kbd", key)), make("dd", words)]).flat()),
    make("h2", "Marks"),
    make("ul.tight", Object.entries(LOOKS).map(([mark, [, words]]) => make("li", markElement(/** @type {any} */ (mark)), " ", words))),
    make("h2", "On a phone"),
    make("p", isSecureContext ? "This page can be installed from the browser's menu, and can notify you." : INSECURE),
  );
  return { title: "Help", element };
}

const INSECURE =
  "This address has no encryption, so the browser allows no notifications, no installing and no clipboard. Any of these helps: " +
  "an SSH tunnel to 127.0.0.1, a mesh VPN with certificates, or a reverse proxy with TLS. Everything else works as it is.";
