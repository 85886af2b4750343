// @ts-check
// The controls of preferences, by kind of value. Values are only validated by the server.

import { button, make } from "../dom.js";
import { LABELS } from "../generated.js";
import { codeThemeField, fontField, themeField } from "./preference_appearance.js";
import { keysField } from "./preference_keys.js";
import { noticesField } from "./preference_notices.js";
import { profilesField } from "./preference_profiles.js";
import { promptsField } from "./preference_prompts.js";

/**
 * @typedef {import("./preference_row.js").Row} Row
 *
 * @typedef {(value: any, problem?: HTMLElement) => Promise<boolean>} Change returns whether the value was accepted;
 *   `problem` shows why not, instead of the row
 *
 * @typedef {object} Field
 * @property {HTMLElement} control the input, which gets the label
 * @property {HTMLElement} element the control with everything that belongs to it
 * @property {(value: any, options?: { reset?: boolean }) => void} show the current value; keeps unsaved
 *   input, unless `reset` is set
 */

const NULL_VALUE = "\0null";

/** @param {import("../app.js").App} app @param {Row} row @param {Change} change @returns {Field} */
export function makeField(app, row, change) {
  if (row.key === "custom_cli_profiles") return profilesField(row, change);
  if (row.key === "theme") return themeField(row, change);
  if (row.key === "magic_prompts") return promptsField(app, change);
  if (row.key === "notify_matrix") return noticesField(app, row, change);
  if (row.key === "keybindings") return keysField(change);
  if (row.key.startsWith("syntax_theme_")) return codeThemeField(row, choiceField(row, change));
  if (row.key === "ui_font" || row.key === "chat_font") return fontField(row, (available) => choiceField(available, change));
  if (row.kind === "switch") return switchField(change);
  if (row.kind === "object") return entriesField(row, change);
  if (row.kind === "list") return textField(make("textarea", { rows: 2, placeholder: "One per line" }), ONE_PER_LINE, change);
  if (row.choices.length || row.key === "default_provider") return choiceField(row, change);
  if (row.kind === "number" || row.kind === "whole") return numberField(row, change);
  return row.secret ? secretField(change) : textField(make("input"), row.nullable ? OPTIONAL : PLAIN, change);
}

/** The label of a preference, or of an entry of one. @param {string} key @returns {string} */
export const readableName = (key) => LABELS[/** @type {keyof typeof LABELS} */ (key)] ?? key;

/** The value as one line of text, without secrets. @param {Row} row @param {any} value @returns {string} */
export function describeValue(row, value) {
  if (value === null || value === undefined) return "not set";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value)) return value.map((item) => item.name ?? item).join(", ");
  if (typeof value === "object") return "";
  return row.secret ? "" : `${value} ${row.choices.find((choice) => choice.value === value)?.label ?? ""}`;
}

/** @param {Change} change @returns {Field} */
function switchField(change) {
  const control = make("input.toggle", { type: "checkbox" });
  const show = (/** @type {any} */ value) => void (control.checked = value);
  control.addEventListener("change", async () => {
    const newValue = control.checked;
    if (!(await change(newValue))) show(!newValue);
  });
  return { control, element: make("label.switch", control), show };
}

/** @param {Row} row @param {Change} change @returns {Field} */
function choiceField(row, change) {
  const control = make("select");
  const show = (/** @type {any} */ value) => fillChoices(control, row, value);
  let shown = /** @type {any} */ (null);
  control.addEventListener("change", async () => {
    if (!(await change(control.value === NULL_VALUE ? null : control.value))) show(shown);
  });
  return { control, element: control, show: (value) => show((shown = value)) };
}

/** @param {HTMLSelectElement} control @param {Row} row @param {any} value */
function fillChoices(control, row, value) {
  const options = row.choices.map(({ value, label }) => [value, readableChoice(label || value)]);
  if (row.nullable) options.unshift([NULL_VALUE, "not set"]);
  const newValue = value ?? NULL_VALUE;
  if (!options.some(([item]) => item === newValue)) options.push([newValue, readableChoice(newValue)]);
  control.replaceChildren(...options.map(([value, label]) => make("option", label, { value })));
  control.value = newValue;
}

/** A choice that is one lower-case word, or several with hyphens, as words: `Vitesse dark`. @param {string} text */
export const readableChoice = (text) => (/^[a-z][a-z0-9-]*$/.test(text) ? `${text[0].toUpperCase()}${text.slice(1).replaceAll("-", " ")}` : text);

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
    show(value, options) {
      control.placeholder = value ? "Hidden. Enter a new one to replace it" : "Not set";
      field.show(value, options);
    },
  };
}

/** @typedef {{ write: (value: any) => string, read: (text: string) => any }} Format how a value is converted to text and back */

/** @type {Format} */
const PLAIN = { write: String, read: (text) => text };
/** @type {Format} */
const OPTIONAL = { write: (value) => value ?? "", read: (text) => text.trim() || null };
/** @type {Format} */
const ONE_PER_LINE = {
  write: (value) => value.join("\n"),
  read: (text) => text.split("\n").map((line) => line.trim()).filter(Boolean),
};

/**
 * A text field that is saved on blur or Enter; Escape restores the value.
 * @param {HTMLInputElement | HTMLTextAreaElement} control
 * @param {Format} format
 * @param {Change} change
 * @returns {Field}
 */
function textField(control, format, change) {
  let shown = "";
  const show = (/** @type {any} */ value, { reset = false } = {}) => {
    const hasInput = control.value !== shown;
    shown = format.write(value);
    if (reset || !hasInput) control.value = shown;
  };
  control.addEventListener("change", () => {
    if (control.value !== shown) change(format.read(control.value));
  });
  control.addEventListener("keydown", (event) => {
    if (/** @type {KeyboardEvent} */ (event).key !== "Escape") return;
    control.value = shown;
    event.stopPropagation();
  });
  return { control, element: control, show };
}

/** An object with known entries, each changed separately. @param {Row} row @param {Change} change @returns {Field} */
function entriesField(row, change) {
  const summary = make("summary");
  const control = make("details.wide", summary);
  const entries = row.entries.map((name) => {
    const changeEntry = (/** @type {any} */ value) => change({ [name]: value });
    const field = choiceField(row, changeEntry);
    field.control.ariaLabel = readableName(name);
    const resetButton = button("Default", () => changeEntry(row.default[name]), ".quiet", { "aria-label": `Reset ${readableName(name)} to the default` });
    return { name, field, resetButton, element: make("div.entry", make("span", readableName(name)), field.element, resetButton) };
  });
  control.append(...entries.map((entry) => entry.element));
  return {
    control,
    element: control,
    show(value, options) {
      let customCount = 0;
      for (const { name, field, resetButton } of entries) {
        const isCustom = value[name] !== row.default[name];
        customCount += Number(isCustom);
        resetButton.hidden = !isCustom;
        field.show(value[name], options);
      }
      summary.textContent = customCount ? `${customCount} customized` : "All built-in";
    },
  };
}
