// @ts-check
// The control of a preference, by what kind of value it has. The server judges every value; nothing is checked twice.

import { button, make } from "../dom.js";
import { profilesField } from "./preference-profiles.js";

/**
 * @typedef {import("./preferences.js").Row} Row
 *
 * @typedef {(value: any) => Promise<boolean>} Change gives whether the value was taken
 *
 * @typedef {object} Field
 * @property {HTMLElement} control takes the value, and the name
 * @property {HTMLElement} element all of it
 * @property {(value: any, how?: { anew?: boolean }) => void} show what is set now; leaves alone what is being
 *   written, unless it is to begin `anew`
 */

const NOTHING = "\0null";

/** @param {Row} row @param {Change} change @returns {Field} */
export function fieldOf(row, change) {
  if (row.key === "custom_cli_profiles") return profilesField(row, change);
  if (row.kind === "switch") return switchField(change);
  if (row.kind === "object") return row.entries.length ? entriesField(row, change) : jsonField(change);
  if (row.kind === "list") return textField(make("textarea", { rows: 2, placeholder: "one a line" }), LINES, change);
  if (row.choices.length || row.key === "default_provider") return choiceField(row, change);
  if (row.kind === "number" || row.kind === "whole") return numberField(row, change);
  return row.secret ? secretField(change) : textField(make("input"), row.nullable ? OPTIONAL : PLAIN, change);
}

/** The value as one line of words; secrets are never in it. @param {Row} row @param {any} value @returns {string} */
export function inWords(row, value) {
  if (value === null || value === undefined) return "not set";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value)) return value.map((each) => each.name ?? each).join(", ");
  if (typeof value === "object") return "";
  return row.secret ? "" : `${value} ${row.choices.find((choice) => choice.value === value)?.label ?? ""}`;
}

/** @param {Change} change @returns {Field} */
function switchField(change) {
  const control = make("input", { type: "checkbox" });
  const show = (/** @type {any} */ value) => void (control.checked = value);
  control.onchange = async () => {
    const wanted = control.checked;
    if (!(await change(wanted))) show(!wanted);
  };
  return { control, element: make("label.switch", control), show };
}

/** @param {Row} row @param {Change} change @returns {Field} */
function choiceField(row, change) {
  const control = make("select");
  const show = (/** @type {any} */ value) => fillChoices(control, row, value);
  let shown = /** @type {any} */ (null);
  control.onchange = async () => {
    if (!(await change(control.value === NOTHING ? null : control.value))) show(shown);
  };
  return { control, element: control, show: (value) => show((shown = value)) };
}

/** @param {HTMLSelectElement} control @param {Row} row @param {any} value */
function fillChoices(control, row, value) {
  const known = row.choices.map(({ value, label }) => [value, label === value ? value : `${value} · ${label}`]);
  if (row.nullable) known.unshift([NOTHING, "not set"]);
  const wanted = value ?? NOTHING;
  if (!known.some(([each]) => each === wanted)) known.push([wanted, wanted]);
  control.replaceChildren(...known.map(([value, words]) => make("option", words, { value })));
  control.value = wanted;
}

/** @param {Row} row @param {Change} change @returns {Field} */
function numberField(row, change) {
  const control = make("input", { type: "number", inputMode: row.kind === "whole" ? "numeric" : "decimal", step: row.kind === "whole" ? "1" : "any" });
  if (row.low !== null) control.min = String(row.low);
  if (row.high !== null) control.max = String(row.high);
  return textField(control, { write: String, read: (text) => (text.trim() === "" ? text : Number(text)) }, change);
}

/** @param {Change} change @returns {Field} */
function secretField(change) {
  const control = make("input", { type: "password", autocomplete: "new-password", spellcheck: false });
  const field = textField(control, { write: () => "", read: (text) => text.trim() }, change);
  return {
    ...field,
    show(value, how) {
      control.placeholder = value ? "hidden; a new one replaces it" : "not set";
      field.show(value, how);
    },
  };
}

/** @typedef {{ write: (value: any) => string, read: (text: string) => any }} Form how a value is written */

/** @type {Form} */
const PLAIN = { write: String, read: (text) => text };
/** @type {Form} */
const OPTIONAL = { write: (value) => value ?? "", read: (text) => text.trim() || null };
/** @type {Form} */
const LINES = {
  write: (value) => value.join("\n"),
  read: (text) => text.split("\n").map((line) => line.trim()).filter(Boolean),
};

/**
 * A text that is taken when it is left or Enter is pressed; Escape leaves the value as it was.
 * @param {HTMLInputElement | HTMLTextAreaElement} control
 * @param {Form} form
 * @param {Change} change
 * @returns {Field}
 */
function textField(control, form, change) {
  let shown = "";
  const show = (/** @type {any} */ value, { anew = false } = {}) => {
    const isWritten = control.value !== shown;
    shown = form.write(value);
    if (anew || !isWritten) control.value = shown;
  };
  control.onchange = () => {
    if (control.value !== shown) change(form.read(control.value));
  };
  control.onkeydown = (event) => {
    if (/** @type {KeyboardEvent} */ (event).key !== "Escape") return;
    control.value = shown;
    event.stopPropagation();
  };
  return { control, element: control, show };
}

/** Any object, as JSON; what is no JSON is told and kept to be mended. @param {Change} change @returns {Field} */
function jsonField(change) {
  const control = make("textarea.json", { rows: 3, spellcheck: false });
  const problem = make("p.bad", { role: "alert" });
  const form = { write: (/** @type {any} */ value) => JSON.stringify(value, null, 2), read: (/** @type {string} */ text) => text };
  const field = textField(control, form, async (text) => {
    problem.textContent = "";
    try {
      return await change(JSON.parse(text.trim() || "{}"));
    } catch (error) {
      problem.textContent = `This is no JSON yet: ${/** @type {Error} */ (error).message}`;
      return false;
    }
  });
  return { ...field, element: make("div.wide", control, problem) };
}

/** An object whose entries are known, each changed on its own. @param {Row} row @param {Change} change @returns {Field} */
function entriesField(row, change) {
  const summary = make("summary");
  const control = make("details.wide", summary);
  const isText = !row.choices.length && row.key === "magic_prompts";
  const entries = row.entries.map((name) => {
    const take = (/** @type {any} */ value) => change({ [name]: value });
    const field = isText ? textField(make("textarea", { rows: 2, placeholder: "the built-in text" }), OPTIONAL, take) : choiceField(row, take);
    field.control.ariaLabel = name;
    const back = button("Default", () => take(row.default[name]), ".quiet", { "aria-label": `${name}: back to the default` });
    return { name, field, back, element: make("div.entry", make("span", name), field.element, back) };
  });
  control.append(...entries.map((entry) => entry.element));
  return {
    control,
    element: control,
    show(value, how) {
      let own = 0;
      for (const { name, field, back } of entries) {
        const isOwn = value[name] !== row.default[name];
        own += Number(isOwn);
        back.hidden = !isOwn;
        field.show(value[name], how);
      }
      summary.textContent = own ? `${own} of your own` : "all as built in";
    },
  };
}
