// @ts-check
// A field for a directory on the machine that runs Spinney, with the directories that continue what was typed.

import { make } from "../dom.js";
import { icon } from "../icons.js";

const DELAY = 150; // ms after the last key
const HOME = "~/";

/**
 * @param {import("../app.js").App} app
 * @param {string} label
 * @param {string} [value]
 */
export function directoryField(app, label, value = HOME) {
  const input = make("input", { value, "aria-label": label, autocomplete: "off", spellcheck: false, autocapitalize: "off" });
  const list = make("ul.directories", { "aria-label": "Directories" });
  let timer = 0;
  let lastRequest = 0;
  const load = async () => {
    const request = ++lastRequest;
    const found = await app.connection.call("list_directories", { path: input.value }).catch(() => []);
    if (request === lastRequest) list.replaceChildren(...found.map(row));
  };
  /** @param {{ path: string, holds: string }} directory */
  const row = ({ path, holds }) => {
    const isRepository = holds !== "";
    const name = path.slice(path.lastIndexOf("/") + 1);
    const control = make("button.quiet", icon(isRepository ? "branch" : "folder"), make("span.grow", name), isRepository && make("small", holds), { type: "button", title: path });
    control.addEventListener("click", () => {
      input.value = isRepository ? path : `${path}/`;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      input.focus();
    });
    return make("li", control);
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(load, DELAY);
  });
  const up = make("button.icon-only", icon("chevron-up"), { type: "button", title: "Parent directory", "aria-label": "Parent directory" });
  up.addEventListener("click", () => {
    input.value = input.value.replace(/[^/]*\/?$/, "") || "/";
    load();
    input.focus();
  });
  load();
  return { input, element: make("div.directory-field", make("div.answer-line", input, up), list) };
}
