// @ts-check
// The controls of themes and fonts, with previews in their own colors.

import { make } from "../dom.js";

/**
 * @typedef {import("./preference_row.js").Row} Row
 * @typedef {import("./preference_fields.js").Field} Field
 * @typedef {import("./preference_fields.js").Change} Change
 */

/** @type {[string, string][]} */
const THEMES = [["system", "As the device"], ["light", "Light"], ["dark", "Dark"]];

let groups = 0;

/** Swatches of the themes. @param {Row} row @param {Change} change @returns {Field} */
export function themeField(row, change) {
  const group = `themes-${++groups}`;
  const inputs = THEMES.map(([value]) => make("input", { type: "radio", name: group, value }));
  const swatches = THEMES.map(([value, label], index) => {
    const kinds = value === "system" ? ["light", "dark"] : [value];
    return make("label.swatch", inputs[index], make("span.swatch-picture", kinds.map(pictureOf), { "aria-hidden": "true" }), label);
  });
  const control = make("div.swatches", swatches, { role: "radiogroup", "aria-label": "Theme" });
  let shown = row.default;
  const show = (/** @type {string} */ value) => {
    shown = value;
    for (const input of inputs) input.checked = input.value === value;
  };
  for (const input of inputs) {
    input.addEventListener("change", async () => {
      if (!(await change(input.value))) show(shown);
    });
  }
  return { control, element: control, show };
}

/** A small picture of the page in a theme's colors. @param {string} kind */
function pictureOf(kind) {
  const picture = make("span.mini", make("span"), make("span"), make("span"));
  const sheet = /** @type {HTMLLinkElement | null} */ (document.getElementById("theme"))?.sheet;
  if (sheet) applyColors(picture, sheet, kind);
  return picture;
}

/** Give an element the colors that a style sheet has for a kind of theme. @param {HTMLElement} element @param {CSSStyleSheet} sheet @param {string} kind */
function applyColors(element, sheet, kind) {
  for (const rule of sheet.cssRules) {
    if (!(rule instanceof CSSStyleRule) || rule.selectorText !== `:root[data-theme="${kind}"]`) continue;
    for (const name of rule.style) if (name.startsWith("--")) element.style.setProperty(name, rule.style.getPropertyValue(name));
  }
}

/** Token classes and texts of the sample. @type {[string, string][][]} */
const SAMPLE = [
  [["comment", "# Apples of an orchard."]],
  [["keyword", "def "], ["function", "count"], ["", "(trees: "], ["type", "list"], ["", "[int]) -> "], ["type", "int"], ["", ":"]],
  [["", "    total = "], ["number", "0"]],
  [["keyword", "    return "], ["", "f"], ["string", '"{total} apples"']],
];

/** The choice of a code theme, with a sample in its colors. @param {Row} row @param {Field} choice @returns {Field} */
export function codeThemeField(row, choice) {
  const kind = row.key === "syntax_theme_dark" ? "dark" : "light";
  const lines = SAMPLE.flatMap((line) => [...line.map(([token, text]) => (token ? make(/** @type {"span"} */ (`span.tok-${token}`), text) : text)), "\n"]);
  const sample = make("pre.code-sample", lines, { "aria-hidden": "true" });
  let shown = "";
  return {
    control: choice.control,
    element: make("div.wide", choice.element, sample),
    show(value, options) {
      choice.show(value, options);
      if (value === shown) return;
      shown = value;
      loadTheme(value).then((sheet) => shown === value && applyColors(sample, sheet, kind), () => {});
    },
  };
}

/** @param {string} name of a code theme */
async function loadTheme(name) {
  const response = await fetch(`/theme.css?${new URLSearchParams({ dark: name, light: name })}`);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await response.text());
  return sheet;
}

/** Only fonts that are there, and the chosen one. @param {Row} row @param {(available: Row) => Field} makeChoice @returns {Field} */
export function fontField(row, makeChoice) {
  const choices = row.choices.map(({ value, label }) => ({ value, label, isThere: value === "system" || hasFont(value.replaceAll("-", " ")) }));
  const available = { ...row, choices: choices.filter(({ isThere }) => isThere).map(({ value, label }) => ({ value, label: value === "system" ? "The device's own" : label })) };
  const choice = makeChoice(available);
  const note = make("p.hint");
  return {
    control: choice.control,
    element: make("div.wide", choice.element, note),
    show(value, options) {
      const isThere = available.choices.some((each) => each.value === value);
      choice.show(value, options);
      note.textContent = isThere
        ? "Lists the fonts of this device, and of the fonts directory beside the preferences."
        : "This font is not on this device, which uses its own. A file in the fonts directory beside the preferences adds it.";
    },
  };
}

/** Whether the device or the server has a font: texts in it differ from those in the fallbacks. @param {string} family */
function hasFont(family) {
  for (const face of document.fonts) if (face.family.replaceAll('"', "").toLowerCase() === family.toLowerCase()) return true;
  const context = make("canvas").getContext("2d");
  if (!context) return false;
  return ["monospace", "serif"].every((fallback) => {
    const widthIn = (/** @type {string} */ font) => {
      context.font = `40px ${font}`;
      return context.measureText("Spinney mwil 0123456789").width;
    };
    return widthIn(`"${family}", ${fallback}`) !== widthIn(fallback);
  });
}
