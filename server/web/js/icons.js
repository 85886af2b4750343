// @ts-check
// The icons of icons.svg: strokes in the color of the text around them.

const SVG = "http://www.w3.org/2000/svg";
const FILE = new URL("../icons.svg", import.meta.url).pathname;

/**
 * An icon; without a label it is hidden from screen readers, because a text beside it says the same.
 * @param {string} name of a symbol in icons.svg
 * @param {string} [label]
 */
export function icon(name, label) {
  const element = document.createElementNS(SVG, "svg");
  element.setAttribute("class", "icon");
  if (label) {
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", label);
  } else element.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${FILE}#${name}`);
  element.append(use);
  return element;
}
