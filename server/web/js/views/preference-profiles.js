// @ts-check
// Provider profiles: settings of an agent program under a name. Their settings may hold keys and are never shown.

import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";

/**
 * @typedef {import("./preference-fields.js").Field} Field
 * @typedef {import("./preference-fields.js").Change} Change
 * @typedef {{ name: string, settings_json: string, file_path?: string | null, supports_thinking?: boolean | null }} Profile
 */

/** Whether its models can think. @type {[string, boolean | null, string][]} */
const THINKS = [["", null, "as the session says"], ["no", false, "off: its models cannot"]];

/** @param {import("./preferences.js").Row} row @param {Change} change @returns {Field} */
export function profilesField(row, change) {
  /** @type {Profile[]} */
  let shown = [];
  const list = make("div.profiles");
  const control = make("div.wide", list, button("Add a profile", () => add()));

  const draw = () => {
    list.replaceChildren(...shown.map((profile) => profileForm(profile, { take: (wanted) => put(profile, wanted), remove: () => remove(profile) })));
  };
  /** @param {Profile} profile @param {Profile} wanted */
  const put = (profile, wanted) => change(shown.map((each) => (each.name === profile.name ? wanted : each)));
  /** @param {Profile} profile */
  const remove = async (profile) => {
    const told = `Remove “${profile.name}” with its settings? They cannot be brought back.`;
    if (await confirm("Remove the profile", told, "Remove", { danger: true })) await change(shown.filter((each) => each.name !== profile.name));
  };
  const add = () => {
    const form = profileForm(null, { take: (wanted) => change([...shown, wanted]), remove: () => form.remove() });
    list.append(form);
    form.open = true;
    form.querySelector("input")?.focus();
  };
  return {
    control,
    element: control,
    show(value, { anew = false } = {}) {
      const isSame = JSON.stringify(value) === JSON.stringify(shown);
      shown = value;
      if (anew || !isSame || !list.childElementCount) draw();
    },
  };
}

/**
 * @param {Profile | null} profile `null` for a new one
 * @param {{ take: (wanted: Profile) => Promise<boolean>, remove: () => unknown }} actions
 */
function profileForm(profile, { take, remove }) {
  const name = make("input", { value: profile?.name ?? "", required: true, spellcheck: false });
  const placeholder = profile ? "hidden; what you write here replaces them" : '{"env": {…}}';
  const settings = make("textarea.json", { rows: 3, placeholder, spellcheck: false, autocomplete: "off" });
  const file = make("input", { value: profile?.file_path ?? "", spellcheck: false });
  const thinks = make("select", THINKS.map(([value, , words]) => make("option", words, { value })));
  thinks.value = profile?.supports_thinking === false ? "no" : "";
  const labelled = (/** @type {string} */ words, /** @type {HTMLElement} */ field) => make("label", make("span", words), field);
  const form = make(
    "form.fields",
    labelled("Name", name),
    labelled("Settings, as JSON in the program's own format", settings),
    labelled("File that holds them, JSON or TOML, read at each start (optional)", file),
    labelled("Thinking", thinks),
    make("div.choices", make("button.primary", "Take it"), button("Remove", remove, ".danger")),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    take({
      ...profile,
      name: name.value.trim(),
      settings_json: settings.value.trim() || (profile?.settings_json ?? "{}"),
      file_path: file.value.trim() || null,
      supports_thinking: THINKS.find(([value]) => value === thinks.value)?.[1] ?? null,
    });
  };
  return make("details.profile", make("summary", profile?.name ?? "New profile"), form);
}
