// @ts-check
// Rows of a diff that are only read: of an edit in a conversation, of a commit, of a turn, or of a comparison.

import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { drawRows } from "./diff_rows.js";
import { loadCodeColors, loadStylesheet } from "./stylesheet.js";

await Promise.all([loadStylesheet("diff"), loadCodeColors()]);

const PAGE = 1000; // rows that are loaded at once

/** @typedef {import("./diff_rows.js").Row} Row */

/** @param {Row[]} rows @param {string} label @param {boolean} [split] whether old and new are in two columns */
export function readingRows(rows, label, split = false) {
  const element = make("div.diff-rows");
  element.classList.toggle("split", split);
  Object.assign(element, { role: "group", ariaLabel: label, tabIndex: 0 }); // it scrolls
  appendRows(element, rows, 0, split);
  return element;
}

/** Draw the rows from an index below those before it; returns the first of them. @param {HTMLElement} element @param {Row[]} rows @param {number} from @param {boolean} split */
function appendRows(element, rows, from, split) {
  const { groups, drawn } = drawRows(rows, { split, from, hunk: () => [] });
  element.append(...groups);
  for (const part of element.querySelectorAll("[role]")) part.removeAttribute("role"); // a group, not a grid
  const digits = rows.slice(from).map((row) => String(row.new ?? row.old ?? 0).length);
  element.style.setProperty("--digits", String(Math.max(3, ...digits)));
  return drawn[0];
}

/**
 * A file whose changes are loaded when it is opened, the beginning of long ones first.
 * @param {import("../app.js").App} app @param {Record<string, unknown>} args of the command, which say the changes of what
 * @param {{ path: string, added: number | null, removed: number | null }} file
 * @param {{ isOpen?: boolean, command?: "get_diff_rows" | "get_compared_rows", split?: boolean }} [options] `isOpen`: from the beginning
 */
export function readingFile(app, args, { path, added, removed }, { isOpen = false, command = "get_diff_rows", split = false } = {}) {
  const counts = make("span.counts", make("ins", `+${added ?? 0}`), " ", make("del", `−${removed ?? 0}`));
  const element = make("details.commit-file", make("summary", make("span.path", path), counts));
  const more = button("", () => load(), "", { hidden: true });
  /** @type {Row[]} */ const rows = [];
  /** @type {HTMLElement | undefined} */ let grid;
  let isLoading = false;

  const load = async () => {
    isLoading = true;
    const page = await app.read(command, { ...args, path, offset: rows.length, limit: PAGE });
    isLoading = false;
    if (!page) return;
    const from = rows.length;
    rows.push(...page.rows);
    if (grid) {
      const first = appendRows(grid, rows, from, split);
      first.tabIndex = -1;
      first.focus({ preventScroll: true });
    } else {
      grid = readingRows(rows, `Changes in ${path}`, split);
      element.append(make("div.patch", grid), more);
    }
    const left = page.total - rows.length;
    more.hidden = left <= 0;
    more.textContent = `Show ${Math.min(left, PAGE).toLocaleString("en")} more of ${pluralize(left, "row")}`;
  };
  element.addEventListener("toggle", () => {
    if (element.open && !grid && !isLoading) load();
  });
  element.open = isOpen;
  return element;
}
