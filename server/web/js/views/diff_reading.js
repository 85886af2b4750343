// @ts-check
// Rows of a diff that are only read: of an edit in a conversation, or of a commit.

import { make } from "../dom.js";
import { drawRows } from "./diff_rows.js";
import { loadCodeColors, loadStylesheet } from "./stylesheet.js";

await Promise.all([loadStylesheet("diff"), loadCodeColors()]);

/** @param {import("./diff_rows.js").Row[]} rows @param {string} label */
export function readingRows(rows, label) {
  const { groups } = drawRows(rows, { split: false, hunk: () => [] });
  const element = make("div.diff-rows", groups);
  for (const part of element.querySelectorAll("[role]")) part.removeAttribute("role"); // a group, not a grid
  Object.assign(element, { role: "group", ariaLabel: label, tabIndex: 0 }); // it scrolls
  const digits = rows.map((row) => String(row.new ?? row.old ?? 0).length);
  element.style.setProperty("--digits", String(Math.max(3, ...digits)));
  return element;
}
