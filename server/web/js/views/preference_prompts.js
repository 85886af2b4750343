// @ts-check
// The field of the magic prompts: the purpose of each, its text, and the variables that the text may contain.

import { button, make } from "../dom.js";
import { icon } from "../icons.js";

/**
 * @typedef {object} MagicPrompt an item of `list_prompts`
 * @property {string} key
 * @property {string} label
 * @property {string} purpose
 * @property {string} default the built-in text, or ""
 * @property {{ name: string, help: string }[]} variables
 */

/**
 * @param {import("../app.js").App} app
 * @param {import("./preference_fields.js").Change} change
 * @returns {import("./preference_fields.js").Field}
 */
export function promptsField(app, change) {
  const summary = make("summary");
  const list = make("div.prompts");
  const control = make("details.wide", summary, list);
  /** @type {ReturnType<typeof promptEntry>[]} */ let entries = [];
  /** @type {Record<string, string | null>} */ let shown = {};

  const show = (/** @type {Record<string, string | null>} */ value, /** @type {{ reset?: boolean }} */ options = {}) => {
    shown = value;
    const count = Object.values(value).filter(Boolean).length;
    summary.textContent = count ? `${count} customized` : "All built-in";
    for (const entry of entries) entry.show(value[entry.key] ?? "", options);
  };
  control.addEventListener("toggle", async () => {
    if (!control.open || entries.length) return;
    /** @type {MagicPrompt[] | undefined} */ const prompts = await app.read("list_prompts");
    if (!prompts || entries.length) return;
    entries = prompts.map((prompt) => promptEntry(prompt, change));
    list.replaceChildren(...entries.map((entry) => entry.element));
    show(shown);
  });
  return { control, element: control, show };
}

/** @param {MagicPrompt} prompt @param {import("./preference_fields.js").Change} change */
function promptEntry({ key, label, purpose, default: builtIn, variables }, change) {
  const id = `prompt-${key}`;
  const box = make("textarea", { rows: 3, placeholder: builtIn || "Nothing built in", "aria-label": label, "aria-describedby": `${id}-help` });
  const problem = make("p.bad", { role: "alert" });
  let saved = "";
  const save = () => change({ [key]: box.value.trim() || null }, problem);
  box.addEventListener("change", () => {
    if (box.value !== saved) save();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    box.value = saved;
    event.stopPropagation();
  });
  const insert = (/** @type {string} */ name) => {
    box.setRangeText(`{${name}}`, box.selectionStart, box.selectionEnd, "end");
    box.focus();
  };
  const edit = button([icon("edit"), "Edit the built-in text"], () => {
    box.value = builtIn;
    box.focus();
  }, ".quiet", { hidden: !builtIn, "aria-label": `Edit the built-in text of ${label}` });
  const reset = button([icon("undo"), "Default"], () => change({ [key]: null }, problem), ".quiet", { "aria-label": `Reset ${label} to the default` });
  const names = variables.map((variable) => button(`{${variable.name}}`, () => insert(variable.name), ".quiet.variable", { title: variable.help, "aria-label": `Insert {${variable.name}} into ${label}: ${variable.help}` }));
  const element = make(
    "div.prompt-entry",
    make("b", label),
    make("p.hint", `${purpose}.`.replace(/\.\.$/, "."), { id: `${id}-help` }),
    box,
    names.length > 0 && make("p.variables", make("span.hint", "May contain "), names),
    problem,
    make("div.choices", edit, reset),
  );
  return {
    key,
    element,
    /** @param {string} value @param {{ reset?: boolean }} [options] */
    show(value, { reset: isReset = false } = {}) {
      if (isReset || box.value === saved) box.value = value;
      saved = value;
      edit.hidden = !builtIn || Boolean(value);
      reset.hidden = !value;
      if (box.value === saved) problem.textContent = "";
    },
  };
}
