// @ts-check
// Keys of the diff view: the same letters as in the terminal, and arrow keys for lines and files.

import { confirm, showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { performAction } from "../perform.js";
import { rowLabel } from "./diff_rows.js";

/**
 * @typedef {import("./diff.js").DiffView} DiffView
 * @typedef {import("./diff_file.js").DiffFile} DiffFile
 */

/** The description and action of each key. @type {Record<string, [string, (view: DiffView, context: Target) => unknown]>} */
const KEYS = {
  s: ["stage the file or hunk", (view, context) => view.actions.runOnTarget("stage_changes", context)],
  u: ["unstage the file or hunk", (view, context) => view.actions.runOnTarget("unstage_changes", context)],
  x: ["discard the file's or hunk's changes", (view, context) => view.actions.runOnTarget("discard_changes", context)],
  a: ["stage or unstage everything", (view) => view.actions.runOnAll()],
  z: ["undo the last discard", (view) => view.actions.undo()],
  c: ["comment on lines or the hunk", (view, context) => comment(view, context)],
  k: ["select lines to comment on", (view, context) => context.index !== null && context.file && view.selection.tap(context.file, context.index, false)],
  i: ["why is this line here", (view, context) => explain(view, context)],
  e: ["show comments, to send them", (view) => view.review.focus()],
  v: ["next side: unstaged, staged, committed", (view) => view.nextSide()],
  t: ["one or two columns", (view) => view.layout.choose({ split: !view.layout.isSplit })],
  g: ["wrap or scroll long lines", (view) => view.layout.choose({ wrap: !view.layout.wraps })],
  "]": ["next hunk or file", (view) => jumpToHunk(view, +1)],
  "[": ["previous hunk or file", (view) => jumpToHunk(view, -1)],
  y: ["accept the hunk or file", (view, context) => view.verdicts.decideOnTarget("accepted", context)],
  n: ["reject the hunk or file, with a reason", (view, context) => view.verdicts.decideOnTarget("rejected", context)],
  Z: ["undo the last verdict", (view) => view.verdicts.takeBack()],
  N: ["send the rejected hunks to a session", (view) => view.verdicts.send()],
  R: ["let an agent review the changes, or stop it", (view) => toggleReview(view)],
  f: ["next finding", (view) => view.findings.next()],
  F: ["let a session fix the finding, or all open ones", (view) => fixFinding(view)],
  D: ["dismiss the finding", (view) => dismissFinding(view)],
  "=": ["compare with another branch or worktree", (view) => performAction(view.app, "compare")],
  m: ["commit", (view) => view.git.commit()],
  l: ["pull the base branch", (view) => pull(view)],
  w: ["push the branch", (view) => push(view)],
  r: ["pull request", (view) => view.git.pullRequest()],
};

/**
 * @typedef {object} Target what the keys apply to
 * @property {DiffFile | undefined} file
 * @property {number | null} index index of a row
 * @property {number | null} hunk its hunk, or `null` for the whole file
 */

/**
 * Handle the keys of what has the focus in the view; not those of the body, which has it when what had it is gone: the
 * key may be a letter of a text.
 * @param {DiffView} view
 */
export function bindKeys(view) {
  view.element.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select")) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (moveFocus(view, target, event.key === "ArrowDown" ? 1 : -1, event.shiftKey)) event.preventDefault();
      return;
    }
    if (event.key === "Escape" && view.selection.file) {
      event.preventDefault(); // beside a conversation it would stop the run, too
      view.selection.clear();
      return;
    }
    const binding = KEYS[event.key];
    if (!binding) return;
    event.preventDefault();
    if (event.repeat && !/[[\]]/.test(event.key)) return; // a key that is held down acts once
    binding[1](view, currentTarget(view, target));
  });
  view.element.addEventListener("focusin", (event) => labelRow(view, /** @type {HTMLElement} */ (event.target)));
}

/** @param {DiffView} view @param {HTMLElement} target @returns {Target} */
export function currentTarget(view, target) {
  const section = /** @type {HTMLElement | null} */ (target.closest(".file"));
  const file = view.fileOf(section?.dataset.path ?? "");
  const element = /** @type {HTMLElement | null} */ (target.closest(".diff-row[data-at]"));
  if (!file || !element) return { file, index: null, hunk: null };
  const index = Number(element.dataset.to);
  const heading = file.rows.slice(0, index + 1).findLast((row) => row.sign === "@");
  return { file, index: file.cells[index]?.dataset.row ? index : null, hunk: heading?.hunk ?? null };
}

/** @param {DiffView} view @param {Target} context */
function comment(view, { file, index, hunk }) {
  if (view.selection.file) view.selection.comment();
  else if (!file || (index === null && hunk === null)) view.app.toast("Select a line (arrow keys) or the heading of a hunk first.");
  else if (index === null) file.comment(file.hunkRows(/** @type {number} */ (hunk)));
  else file.comment([file.rows[index]]);
}

// What leaves the machine, merges, or costs money is not started by one letter, which may have been meant for a text.

/** @param {DiffView} view */
async function push({ git }) {
  if (await confirmKey("Push the branch?", `'${git.worktree.branch}' is sent to the remote, where others see it.`, "Push")) await git.push();
}

/** @param {DiffView} view */
async function pull({ git }) {
  if (await confirmKey(`Pull '${git.base}'?`, `What is new in it is merged into '${git.worktree.branch}'.`, "Pull")) await git.update();
}

/** @param {DiffView} view */
async function toggleReview({ findings, reviewed }) {
  const details = "An agent reads them and says what it finds. This costs what a message to it costs.";
  if (reviewed.isRunning || (await confirmKey("Let an agent review the changes?", details, "Review"))) await findings.toggle();
}

/** @param {string} question @param {string} details @param {string} label */
const confirmKey = (question, details, label) => confirm(question, details, label, { isSafe: true });

/** @param {DiffView} view */
function fixFinding(view) {
  const here = view.findings.at(document.activeElement);
  return view.findings.fix(here ? [here] : view.reviewed.openFindings);
}

/** @param {DiffView} view */
function dismissFinding(view) {
  const here = view.findings.at(document.activeElement);
  if (here) return view.findings.setDismissed(here, true);
  return view.app.toast("Go to a finding first (f), then dismiss it.");
}

/** @param {DiffView} view @param {Target} context */
async function explain(view, { file, index }) {
  if (file && index !== null) (await import("./diff_why.js")).explainLine(file, file.rows[index]);
  else view.app.toast("Select a line (arrow keys) first.");
}

/** Move the focus by a line or file. @param {DiffView} view @param {HTMLElement} target @param {1 | -1} by @param {boolean} selects */
function moveFocus(view, target, by, selects) {
  const { file, index } = currentTarget(view, target);
  const element = /** @type {HTMLElement | null} */ (target.closest(".diff-row[data-at], .fold"));
  if (!file || !element) return false;
  const stops = [file.head.fold, ...(file.isOpen ? file.drawn : [])];
  const next = stops[stops.indexOf(element) + by] ?? view.adjacentStop(file, by);
  if (!next) return false;
  const to = Number(next.dataset.to);
  if (selects && index !== null && next.dataset.to !== undefined && file.cells[to]?.dataset.row) view.selection.extend(file, index, to);
  focusStop(next);
  return true;
}

/** @param {DiffView} view @param {1 | -1} by */
function jumpToHunk(view, by) {
  const stops = [.../** @type {NodeListOf<HTMLElement>} */ (view.list.querySelectorAll(".fold, .file-body:not([hidden]) .diff-row.hunk"))];
  const context = document.activeElement?.closest(".fold, .diff-row[data-at]");
  const isBeyond = (/** @type {Node} */ stop) =>
    context ? Boolean(context.compareDocumentPosition(stop) & (by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING)) : by > 0;
  const next = by > 0 ? stops.find(isBeyond) : stops.findLast(isBeyond);
  if (next) focusStop(next);
}

/** @param {HTMLElement} element */
function focusStop(element) {
  const grid = element.closest(".diff-rows");
  grid?.querySelector('.diff-row[tabindex="0"]')?.setAttribute("tabindex", "-1");
  if (grid) element.tabIndex = 0;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}

export function showKeys() {
  /** @type {HTMLDialogElement} */
  const dialog = make("dialog", make("h2", "Keys"), keysTable(), make("div.choices", button("Close", () => dialog.close())), { "aria-label": "Keys" });
  showDialog(dialog);
}

function keysTable() {
  const more = [["↑ ↓", "move by line"], ["shift ↑ ↓", "select lines"], ["esc", "clear selection"]];
  const rows = [...more, ...Object.entries(KEYS).map(([key, [text]]) => [key, text])];
  return make("dl.keys", rows.flatMap(([key, text]) => [make("dt", make("kbd", key)), make("dd", text)]));
}

/** Set the accessible name of a focused row; naming all of ten thousand rows would be too slow. @param {DiffView} view @param {HTMLElement} target */
function labelRow(view, target) {
  if (!target.classList.contains("diff-row")) return;
  const file = view.fileOf(/** @type {HTMLElement} */ (target.closest(".file"))?.dataset.path ?? "");
  const row = file?.rows[Number(target.dataset.to)];
  if (row) target.ariaLabel = rowLabel(row);
}
