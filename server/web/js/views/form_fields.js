// @ts-check
// Fields of forms.

import { make } from "../dom.js";

/** @param {string} name @param {[string, string][]} options values and labels */
export function select(name, options) {
  return make("select", optionsOf(options), { "aria-label": name });
}

/** @param {[string, string][]} options values and labels */
export const optionsOf = (options) => options.map(([value, label]) => make("option", label, { value }));

/** @param {string} label @param {HTMLElement} field */
export const labeled = (label, field) => make("label", make("span", label), field);

let groups = 0;

/**
 * Alternatives side by side.
 * @param {string} name
 * @param {[string, string][]} options values and labels
 * @param {string} chosen
 * @param {(value: string) => void} [onChange]
 */
export function segmented(name, options, chosen, onChange = () => {}) {
  const group = `segmented-${++groups}`;
  const inputs = options.map(([value]) => make("input", { type: "radio", name: group, value, checked: value === chosen }));
  for (const input of inputs) input.addEventListener("change", () => onChange(input.value));
  const element = make("div.segmented", options.map(([, label], index) => make("label", inputs[index], label)), { role: "radiogroup", "aria-label": name });
  return {
    element,
    value: () => inputs.find((input) => input.checked)?.value ?? "",
    /** @param {string} value */
    show(value) {
      for (const input of inputs) input.checked = input.value === value;
    },
  };
}
