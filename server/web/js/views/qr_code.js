// @ts-check
// QR codes, dark on light in every theme, because cameras expect that.

const QUIET = 4; // modules around a QR code, as the standard requires
const SVG = "http://www.w3.org/2000/svg";

/** @param {string[]} rows a `1` is dark @param {string} label for screen readers */
export function qrElement(rows, label) {
  const size = rows.length + 2 * QUIET;
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  const dark = rows.flatMap((row, y) => [...row].map((module, x) => (module === "1" ? `M${x + QUIET},${y + QUIET}h1v1h-1z` : "")));
  path.setAttribute("d", dark.join(""));
  svg.append(path);
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("class", "qr");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  return svg;
}
