// @ts-check
// Help: the keys, and what a phone needs for notifications and installing.

import { button, make } from "../dom.js";
import { addProject } from "./project.js";

const KEYS = [
  ["enter", "send (shift+enter: new line)"],
  ["esc", "close what is open over the page"],
  ["tab", "the next thing that can be pressed"],
];

/** @type {import("../app.js").MakeView} */
export function helpView(app) {
  const element = make(
    "div.page",
    make("h2", "What this is"),
    make("p", "The same Spinney as in the terminal: sessions, plans, questions, changes. What you do here happens there, and the other way round."),
    make("div.choices", button("Add a project", () => addProject(app))),
    make("h2", "Keys"),
    make("dl", KEYS.map(([key, words]) => [make("dt", key), make("dd", words)]).flat()),
    make("h2", "On a phone"),
    make("p", isSecureContext ? "This page can be installed from the browser's menu, and can notify you." : INSECURE),
  );
  return { title: "Help", element };
}

const INSECURE =
  "This address has no encryption, so the browser allows no notifications, no installing and no clipboard. Any of these helps: " +
  "an SSH tunnel to 127.0.0.1, a mesh VPN with certificates, or a reverse proxy with TLS. Everything else works as it is.";
