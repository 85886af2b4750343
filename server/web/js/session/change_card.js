// @ts-check
// The card below the newest answer that changed files: which ones, how much, what to do next, and undo.

import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { pullRequestMark } from "../marks.js";
import { hashFor } from "../router.js";
import { withTurnActions } from "./turns.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 * @typedef {import("./turns.js").Turn} Turn
 * @typedef {{ path: string, added: number | null, removed: number | null, others?: boolean }} FileChange counts are `null` for binary files
 */

const MAX_FILES = 5;
const UNDONE = { files: "Files undone", conversation: "Taken back, files kept", both: "Turn undone" };
const BAR = 48; // pixels of the bar of the file with most changed lines

/** @param {App} app @param {Resource} worktree @param {FileChange[]} changes @param {Turn} [turn] that changed them */
export function changeCard(app, worktree, changes, turn) {
  const most = Math.max(1, ...changes.map(({ added, removed }) => (added ?? 0) + (removed ?? 0)));
  const sum = (/** @type {"added" | "removed"} */ side) => changes.reduce((total, change) => total + (change[side] ?? 0), 0);
  const files = changes.slice(0, MAX_FILES).map((change) => make("li", make("span.path", change.path), change.others && make("small.hint", "others, too"), counts(change), bar(change, most)));
  const more = changes.length - files.length;
  /** @param {"commit" | "push" | "pullRequest"} action */
  const start = (action) => async () => (await import("../views/git.js")).startGit(app, worktree.id, action);
  const isCommitted = !worktree.cached_uncommitted_added && !worktree.cached_uncommitted_removed;
  const isPushed = isCommitted && !worktree.cached_unpushed_count;
  const total = counts({ added: sum("added"), removed: sum("removed") });
  const title = turn?.undone ? UNDONE[turn.undone] : `${pluralize(changes.length, "file")} changed`;
  if (turn?.undone) return make("section.change-card.undone", make("h3", `${title} `, changes.length > 0 && total), make("ul", files, more > 0 && make("li.hint", `and ${more} more`)), turnChoices(app, turn), { "aria-label": title });
  return make(
    "section.change-card",
    make("h3", `${title} `, total),
    make("ul", files, more > 0 && make("li.hint", `and ${more} more`)),
    make(
      "div.choices",
      make("a.button.primary", icon("diff"), "Review", { href: hashFor("diff", worktree.id) }),
      !isCommitted && button([icon("commit"), "Commit"], start("commit")),
      isCommitted && !isPushed && button([icon("push"), "Push"], start("push")),
      isPushed && !worktree.pr_url && button([icon("pull-request"), "Pull request"], start("pullRequest")),
      worktree.pr_url && make("a.button", icon("pull-request"), pullRequestMark(worktree), { href: hashFor("pull-request", worktree.id) }),
    ),
    turn && turnChoices(app, turn),
    { "aria-label": "Changes of this answer" },
  );
}

/** What can be done with the turn. @param {App} app @param {Turn} turn */
function turnChoices(app, turn) {
  /** @param {import("./turn_actions.js").TurnAction} action */
  const run = (action) => () => withTurnActions((actions) => actions.runTurnAction(app, turn, action));
  return make(
    "div.choices",
    turn.undone ? button([icon("redo"), "Redo"], run("redo"), ".primary") : button([icon("undo"), "Undo"], run("undo")),
    turn.files.length > 0 && button([icon("diff"), "Diff"], run("diff"), "", { title: "What this turn changed" }),
    !turn.undone && button([icon("branch"), "Fork"], run("fork"), "", { title: "Continue from here in a second session" }),
  );
}

/** @param {{ added: number | null, removed: number | null }} change */
const counts = ({ added, removed }) => make("span.counts", make("ins", `+${added ?? 0}`), " ", make("del", `−${removed ?? 0}`));

/** @param {FileChange} change @param {number} most */
function bar({ added, removed }, most) {
  const width = (/** @type {number | null} */ lines) => Math.round((BAR * (lines ?? 0)) / most);
  return make(
    "span.bar",
    make("i.added", { style: `inline-size: ${width(added)}px` }),
    make("i.removed", { style: `inline-size: ${width(removed)}px` }),
    { "aria-hidden": "true" },
  );
}
