// @ts-check
// What is next for a worktree on the landing desk, done: each step leads to where it is decided, or does it.

import { moveOntoNewBase } from "./landing_base.js";
import { sendProblem, showCheck } from "./landing_check.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./landing_types.js").LandingRow} LandingRow
 */

/** Do the next step of a row. @param {App} app @param {LandingRow} row @returns {unknown} */
export function actOn(app, row) {
  const { worktree_id: id } = row;
  switch (row.next) {
    case "answer":
    case "wait":
      return showWork(app, row);
    case "commit":
      return startGit(app, id, "commit");
    case "resolve":
      return resolve(app, row);
    case "fix":
      return fix(app, row);
    case "review":
      return row.pull_request && row.review.accepted === row.review.hunks ? app.go("pull-request", id) : app.go("diff", id, row.uncommitted ? undefined : { side: "branch" });
    case "check":
      return showCheck(app, id, { runs: true, land: () => landWorktree(app, id) });
    case "update":
      return updateFromBase(app, row);
    case "land":
      return landWorktree(app, id);
    case "merge":
      return app.go("pull-request", id);
    case "archive":
      return archive(app, row);
    default:
      return app.go("worktree", id);
  }
}

/** Go to the session that waits or runs; else to what is waited for. @param {App} app @param {LandingRow} row */
function showWork(app, { worktree_id: id, check, pull_request: pr }) {
  const sessions = app.state.sessionsOf(id);
  const busy = sessions.find((session) => session.waiting_for) ?? sessions.find((session) => session.status === "running");
  if (busy) return app.go("session", busy.id);
  if (check.status === "running") return showCheck(app, id);
  return app.go(pr ? "pull-request" : "worktree", id);
}

/** Conflicts of a merge in progress, with the base branch, or at the hosting service. @param {App} app @param {LandingRow} row */
function resolve(app, { worktree_id: id, conflicts, pull_request: pr }) {
  if (app.state.worktrees.get(id)?.cached_conflict_count) return app.go("diff", id);
  return pr && !conflicts.some((one) => one.with_kind === "branch") ? app.go("pull-request", id) : sendProblem(app, id);
}

/** Rejected hunks, then what the pull request lacks, then a red check. @param {App} app @param {LandingRow} row */
function fix(app, { worktree_id: id, review, pull_request: pr }) {
  if (review.rejected) return app.go("diff", id);
  const hasProblem = pr && (pr.unresolved > 0 || (pr.unanswered > 0 && pr.phase !== "approved") || pr.phase === "changes_requested" || pr.checks === "failed" || pr.checks === "cancelled");
  return hasProblem ? app.go("pull-request", id) : showCheck(app, id);
}

/** @param {App} app @param {string} id @param {"commit" | "push" | "pullRequest"} action */
async function startGit(app, id, action) {
  const git = await import("./git.js");
  return git.startGit(app, id, action);
}

/** Show the pull request of a worktree, or the form to open one. @param {App} app @param {LandingRow} row */
export function openPullRequest(app, { worktree_id: id }) {
  return app.state.worktrees.get(id)?.pr_url ? app.go("pull-request", id) : startGit(app, id, "pullRequest");
}

/** Merge the local base branch into the worktree's; move it on if that has landed. @param {App} app @param {LandingRow} row */
export async function updateFromBase(app, { worktree_id: id, base, new_base: newBase }) {
  if (newBase) return moveOntoNewBase(app, id, base, newBase);
  const { GitPanel } = await import("./git.js");
  await new GitPanel(app, id, () => {}).update();
}

/** Open the dialog that lands a worktree. @param {App} app @param {string} id */
export async function landWorktree(app, id) {
  const { landingForm } = await import("./landing_form.js");
  return landingForm(app, id);
}

/** @param {App} app @param {LandingRow} row */
async function archive(app, { worktree_id: id, name }) {
  const args = { worktreeId: id };
  if ((await app.run("archive_worktree", args)) === undefined) return;
  app.toast(`Archived ${name}. Its files are kept.`, { isValid: () => Boolean(app.state.worktrees.get(id)?.archived_at), action: ["Undo", () => app.run("unarchive_worktree", args)] });
}
