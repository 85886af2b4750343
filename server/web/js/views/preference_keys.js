// @ts-check
// The user's own keys: one row for each changed action, and one to add another.

import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { listActions } from "../perform.js";
import { optionsOf } from "./form_fields.js";

/** @param {import("./preference_fields.js").Change} change @returns {import("./preference_fields.js").Field} */
export function keysField(change) {
  /** @type {Record<string, string>} */ let shown = {};
  const list = make("div.key-rows");
  const action = make("select", { "aria-label": "Action" });
  const keys = make("input", { placeholder: "ctrl+y", "aria-label": "Keys", autocomplete: "off", spellcheck: false, autocapitalize: "off" });
  const add = button([icon("plus"), "Add"], async () => {
    const text = keys.value.trim();
    if (!text || !action.value) return keys.focus();
    if (await change({ ...shown, [action.value]: text })) keys.value = "";
    return undefined;
  });
  keys.addEventListener("keydown", (event) => event.key === "Enter" && add.click());
  const control = make("div.wide", list, make("div.key-row", action, keys, add));
  const draw = () => {
    const focused = list.contains(document.activeElement) && document.activeElement?.ariaLabel;
    list.replaceChildren(...Object.entries(shown).map(([id, text]) => keyRow(id, text)));
    const others = listActions().filter(({ id }) => !(id in shown));
    action.replaceChildren(...optionsOf(others.map(({ id, title }) => [id, title])));
    if (focused) /** @type {HTMLElement | null} */ (list.querySelector(`[aria-label="${CSS.escape(focused)}"]`))?.focus();
  };
  /** @param {string} id @param {string} text */
  const keyRow = (id, text) => {
    const input = make("input", { value: text, "aria-label": `Keys of ${titleOf(id)}`, autocomplete: "off", spellcheck: false, autocapitalize: "off" });
    input.addEventListener("change", () => input.value.trim() && change({ ...shown, [id]: input.value.trim() }));
    const remove = button(icon("undo"), () => {
      const { [id]: _, ...rest } = shown;
      return change(rest);
    }, ".quiet.icon-only", { title: "Built-in keys", "aria-label": `Reset ${titleOf(id)} to its built-in keys` });
    return make("div.key-row", make("span.grow", titleOf(id)), input, remove);
  };
  return {
    control,
    element: control,
    show(value) {
      if (list.contains(document.activeElement) && JSON.stringify(value) === JSON.stringify(shown)) return;
      shown = value ?? {};
      draw();
    },
  };
}

/** The title of an action; those that only the terminal has are named by their words. @param {string} id */
function titleOf(id) {
  return listActions().find((action) => action.id === id)?.title ?? `${id.replaceAll("_", " ")} (terminal)`;
}
