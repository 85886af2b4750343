// @ts-check
// Rows of a diff that are only read: of an edit in a conversation, or of a commit.

import { make } from "../dom.js";
import { pluralize } from "../format.js";
import { drawRows } from "./diff_rows.js";
import { loadCodeColors, loadStylesheet } from "./stylesheet.js";

await Promise.all([loadStylesheet("diff"), loadCodeColors()]);

/** @param {import("./diff_rows.js").Row[]} rows @param {string} label @param {boolean} [split] whether old and new are in two columns */
export function readingRows(rows, label, split = false) {
  const { groups } = drawRows(rows, { split, hunk: () => [] });
  const element = make("div.diff-rows", groups);
  element.classList.toggle("split", split);
  for (const part of element.querySelectorAll("[role]")) part.removeAttribute("role"); // a group, not a grid
  Object.assign(element, { role: "group", ariaLabel: label, tabIndex: 0 }); // it scrolls
  const digits = rows.map((row) => String(row.new ?? row.old ?? 0).length);
  element.style.setProperty("--digits", String(Math.max(3, ...digits)));
  return element;
}

/**
 * A file whose changes are loaded when it is opened.
 * @param {import("../app.js").App} app @param {Record<string, unknown>} args of the command, which say the changes of what
 * @param {{ path: string, added: number | null, removed: number | null }} file
 * @param {{ isOpen?: boolean, command?: "get_diff_rows" | "get_compared_rows", split?: boolean }} [options] `isOpen`: from the beginning
 */
export function readingFile(app, args, { path, added, removed }, { isOpen = false, command = "get_diff_rows", split = false } = {}) {
  const counts = make("span.counts", make("ins", `+${added ?? 0}`), " ", make("del", `−${removed ?? 0}`));
  const element = make("details.commit-file", make("summary", make("span.path", path), counts));
  element.addEventListener("toggle", async () => {
    if (!element.open || element.childElementCount > 1) return;
    const page = await app.read(command, { ...args, path });
    if (!page) return;
    element.append(make("div.patch", readingRows(page.rows, `Changes in ${path}`, split)));
    if (page.rows.length < page.total) element.append(make("p.hint", `${pluralize(page.total - page.rows.length, "row")} more`));
  });
  element.open = isOpen;
  return element;
}
