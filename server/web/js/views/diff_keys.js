// @ts-check
// The keys of the changes: the same letters as in the terminal, and arrows through lines and files.

import { make } from "../dom.js";
import { spoken } from "./diff_rows.js";

/**
 * @typedef {import("./diff.js").DiffView} DiffView
 * @typedef {import("./diff_file.js").DiffFile} DiffFile
 */

/** What each key does, and with what. @type {Record<string, [string, (view: DiffView, here: Here) => unknown]>} */
const KEYS = {
  s: ["stage the file or hunk", (view, here) => view.actions.actHere("stage_changes", here)],
  u: ["unstage the file or hunk", (view, here) => view.actions.actHere("unstage_changes", here)],
  x: ["discard the file's or hunk's changes", (view, here) => view.actions.actHere("discard_changes", here)],
  a: ["stage or unstage everything", (view) => view.actions.onAll()],
  z: ["bring back what was discarded last", (view) => view.actions.undo()],
  c: ["comment on the lines or the hunk", (view, here) => comment(view, here)],
  k: ["mark lines to comment on", (view, here) => here.at !== null && here.file && view.marks.tap(here.file, here.at, false)],
  e: ["look at the comments, and send them", (view) => view.review.focus()],
  v: ["not staged, staged, against the base", (view) => view.nextSide()],
  t: ["one or two columns", (view) => view.look.choose({ split: !view.look.isSplit })],
  g: ["wrap long lines, or scroll them", (view) => view.look.choose({ wrap: !view.look.wraps })],
  n: ["the next hunk or file", (view) => jump(view, +1)],
  p: ["the hunk or file before", (view) => jump(view, -1)],
  m: ["commit", (view) => view.git.commit()],
  l: ["pull the base branch", (view) => view.git.pull(view.git.base)],
  w: ["push the branch", (view) => view.git.push()],
  r: ["pull request", (view) => view.git.pullRequest()],
};

/**
 * @typedef {object} Here what the keys mean
 * @property {DiffFile | undefined} file
 * @property {number | null} at the place of a row
 * @property {number | null} hunk its hunk; null: the file as a whole
 */

/** Until the function that it gives is called. @param {DiffView} view */
export function takeKeys(view) {
  /** @param {KeyboardEvent} event */
  const take = (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    // Where a row was drawn away under the keys, they are nowhere for a moment.
    if (target !== document.body && !view.element.contains(target)) return;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select")) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (move(view, target, event.key === "ArrowDown" ? 1 : -1, event.shiftKey)) event.preventDefault();
      return;
    }
    if (event.key === "Escape" && view.marks.file) {
      view.marks.clear();
      return;
    }
    const found = event.shiftKey ? undefined : KEYS[event.key];
    if (!found) return;
    event.preventDefault();
    found[1](view, hereOf(view, target));
  };
  view.element.addEventListener("focusin", (event) => nameRow(view, /** @type {HTMLElement} */ (event.target)));
  addEventListener("keydown", take);
  return () => removeEventListener("keydown", take);
}

/** @param {DiffView} view @param {HTMLElement} target @returns {Here} */
export function hereOf(view, target) {
  const section = /** @type {HTMLElement | null} */ (target.closest(".file"));
  const file = view.fileOf(section?.dataset.path ?? "");
  const element = /** @type {HTMLElement | null} */ (target.closest(".diff-row[data-at]"));
  if (!file || !element) return { file, at: null, hunk: null };
  const at = Number(element.dataset.to);
  const heading = file.rows.slice(0, at + 1).findLast((row) => row.sign === "@");
  return { file, at: file.cells[at]?.dataset.row ? at : null, hunk: heading?.hunk ?? null };
}

/** @param {DiffView} view @param {Here} here */
function comment(view, { file, at, hunk }) {
  if (view.marks.file) view.marks.comment();
  else if (!file || (at === null && hunk === null)) view.app.say("Go to a line of the difference first (arrow keys), or to a hunk's heading.");
  else if (at === null) file.comment(file.hunkRows(/** @type {number} */ (hunk)));
  else file.comment([file.rows[at]]);
}

/** Up or down by a line or a file. @param {DiffView} view @param {HTMLElement} target @param {1 | -1} by @param {boolean} marks */
function move(view, target, by, marks) {
  const { file, at } = hereOf(view, target);
  const element = /** @type {HTMLElement | null} */ (target.closest(".diff-row[data-at], .fold"));
  if (!file || !element) return false;
  const stops = [file.head.fold, ...(file.isOpen ? file.drawn : [])];
  const next = stops[stops.indexOf(element) + by] ?? view.neighbour(file, by);
  if (!next) return false;
  const to = Number(next.dataset.to);
  if (marks && at !== null && next.dataset.to !== undefined && file.cells[to]?.dataset.row) view.marks.extend(file, at, to);
  go(next);
  return true;
}

/** @param {DiffView} view @param {1 | -1} by */
function jump(view, by) {
  const stops = [.../** @type {NodeListOf<HTMLElement>} */ (view.list.querySelectorAll(".fold, .file-body:not([hidden]) .diff-row.hunk"))];
  const here = document.activeElement?.closest(".fold, .diff-row[data-at]");
  const isBehind = (/** @type {Node} */ stop) =>
    here ? Boolean(here.compareDocumentPosition(stop) & (by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING)) : by > 0;
  const next = by > 0 ? stops.find(isBehind) : stops.findLast(isBehind);
  if (next) go(next);
}

/** @param {HTMLElement} element */
function go(element) {
  const grid = element.closest(".diff-rows");
  grid?.querySelector('.diff-row[tabindex="0"]')?.setAttribute("tabindex", "-1");
  if (grid) element.tabIndex = 0;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}

/** What they are, to be read. */
export function keysTable() {
  const more = [["↑ ↓", "from line to line"], ["shift ↑ ↓", "mark lines"], ["esc", "unmark"]];
  const all = [...more, ...Object.entries(KEYS).map(([key, [words]]) => [key, words])];
  return make(
    "details.keys",
    make("summary", "Keys"),
    make("dl", all.flatMap(([key, words]) => [make("dt", make("kbd", key)), make("dd", words)])),
  );
}

/** A row gets its name when somebody comes to it; ten thousand names would cost more than they are worth. @param {DiffView} view @param {HTMLElement} target */
function nameRow(view, target) {
  if (!target.classList.contains("diff-row")) return;
  const file = view.fileOf(/** @type {HTMLElement} */ (target.closest(".file"))?.dataset.path ?? "");
  const row = file?.rows[Number(target.dataset.to)];
  if (row) target.ariaLabel = spoken(row);
}
