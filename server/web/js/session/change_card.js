// @ts-check
// The card below the newest answer that edited files: which ones, how much, and what to do next.

import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { externalLink } from "../links.js";
import { pullRequestMark } from "../marks.js";
import { hashFor } from "../router.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 * @typedef {{ path: string, added: number, removed: number }} FileChange
 */

const MAX_FILES = 5;
const BAR = 48; // pixels of the bar of the file with most changed lines

/** @param {App} app @param {Resource} worktree @param {FileChange[]} changes */
export function changeCard(app, worktree, changes) {
  const most = Math.max(1, ...changes.map(({ added, removed }) => added + removed));
  const sum = (/** @type {"added" | "removed"} */ side) => changes.reduce((total, change) => total + change[side], 0);
  const files = changes.slice(0, MAX_FILES).map((change) => make("li", make("span.path", change.path), counts(change), bar(change, most)));
  const more = changes.length - files.length;
  /** @param {"commit" | "push" | "pullRequest"} action */
  const start = (action) => async () => (await import("../views/git.js")).startGit(app, worktree.id, action);
  const isCommitted = !worktree.cached_uncommitted_added && !worktree.cached_uncommitted_removed;
  const isPushed = isCommitted && !worktree.cached_unpushed_count;
  return make(
    "section.change-card",
    make("h3", `${pluralize(changes.length, "file")} changed `, counts({ added: sum("added"), removed: sum("removed") })),
    make("ul", files, more > 0 && make("li.hint", `and ${more} more`)),
    make(
      "div.choices",
      make("a.button.primary", icon("diff"), "Review", { href: hashFor("diff", worktree.id) }),
      !isCommitted && button([icon("commit"), "Commit"], start("commit")),
      isCommitted && !isPushed && button([icon("push"), "Push"], start("push")),
      isPushed && !worktree.pr_url && button([icon("pull-request"), "Pull request"], start("pullRequest")),
      worktree.pr_url && externalLink(worktree.pr_url, [icon("pull-request"), pullRequestMark(worktree)], "a.button"),
    ),
    { "aria-label": "Changes of this answer" },
  );
}

/** @param {{ added: number, removed: number }} change */
const counts = ({ added, removed }) => make("span.counts", make("ins", `+${added}`), " ", make("del", `−${removed}`));

/** @param {FileChange} change @param {number} most */
function bar({ added, removed }, most) {
  const width = (/** @type {number} */ lines) => Math.round((BAR * lines) / most);
  return make(
    "span.bar",
    make("i.added", { style: `inline-size: ${width(added)}px` }),
    make("i.removed", { style: `inline-size: ${width(removed)}px` }),
    { "aria-hidden": "true" },
  );
}
