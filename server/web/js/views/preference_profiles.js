// @ts-check
// Provider profiles: named settings of an agent program. The settings may contain API keys and are never shown.

import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";

/**
 * @typedef {import("./preference_fields.js").Field} Field
 * @typedef {import("./preference_fields.js").Change} Change
 * @typedef {{ name: string, settings_json: string, file_path?: string | null, supports_thinking?: boolean | null }} Profile
 */

/** Whether the models can think. @type {[string, boolean | null, string][]} */
const THINKING_OPTIONS = [["", null, "As set in the session"], ["no", false, "Off, not supported"]];

/** @param {import("./preference_row.js").Row} row @param {Change} change @returns {Field} */
export function profilesField(row, change) {
  /** @type {Profile[]} */
  let shown = [];
  const list = make("div.profiles");
  const control = make("div.wide", list, button("Add a profile", () => add()));

  const draw = () => {
    list.replaceChildren(...shown.map((profile) => profileForm(profile, { submit: (changed) => replace(profile, changed), remove: () => remove(profile) })));
  };
  /** @param {Profile} profile @param {Profile} changed */
  const replace = (profile, changed) => change(shown.map((other) => (other.name === profile.name ? changed : other)));
  /** @param {Profile} profile */
  const remove = async (profile) => {
    const details = `Remove '${profile.name}' and its settings? This cannot be undone.`;
    if (await confirm("Remove the profile", details, "Remove", { danger: true })) await change(shown.filter((other) => other.name !== profile.name));
  };
  const add = () => {
    const form = profileForm(null, { submit: (changed) => change([...shown, changed]), remove: () => form.remove() });
    list.append(form);
    form.open = true;
    form.querySelector("input")?.focus();
  };
  return {
    control,
    element: control,
    show(value, { reset = false } = {}) {
      const isSame = JSON.stringify(value) === JSON.stringify(shown);
      shown = value;
      if (reset || !isSame || !list.childElementCount) draw();
    },
  };
}

/**
 * @param {Profile | null} profile `null` for a new one
 * @param {{ submit: (changed: Profile) => Promise<boolean>, remove: () => unknown }} actions
 */
function profileForm(profile, { submit, remove }) {
  const name = make("input", { value: profile?.name ?? "", required: true, spellcheck: false });
  const placeholder = profile ? "Hidden. Enter new settings to replace them" : '{"env": {…}}';
  const settings = make("textarea.json", { rows: 3, placeholder, spellcheck: false, autocomplete: "off" });
  const filePath = make("input", { value: profile?.file_path ?? "", spellcheck: false });
  const thinking = make("select", THINKING_OPTIONS.map(([value, , label]) => make("option", label, { value })));
  thinking.value = profile?.supports_thinking === false ? "no" : "";
  const labeled = (/** @type {string} */ label, /** @type {HTMLElement} */ field) => make("label", make("span", label), field);
  const form = make(
    "form.fields",
    labeled("Name", name),
    labeled("Settings (JSON in the program's format)", settings),
    labeled("Settings file (JSON or TOML, read at each start, optional)", filePath),
    labeled("Thinking", thinking),
    make("div.choices", make("button.primary", "Save"), button("Remove", remove, ".danger")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit({
      ...profile,
      name: name.value.trim(),
      settings_json: settings.value.trim() || (profile?.settings_json ?? "{}"),
      file_path: filePath.value.trim() || null,
      supports_thinking: THINKING_OPTIONS.find(([value]) => value === thinking.value)?.[1] ?? null,
    });
  });
  return make("details.profile", make("summary", profile?.name ?? "New profile"), form);
}
