// @ts-check
// Removing a worktree: archives or deletes it, depending on the preference `removal_behavior`. The confirmation lists
// the consequences, in particular work that exists nowhere else.

import { confirm } from "../dialogs.js";
import { make } from "../dom.js";
import { pluralize } from "../format.js";
import { describeRecovery } from "./recovery_points.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const MAX_LISTED = 8; // files listed in the confirmation

/** Remove a worktree as set in the preference; returns whether it was removed. @param {App} app @param {Resource} worktree */
export function removeWorktree(app, worktree) {
  return app.state.preferences.removal_behavior === "archive" ? archive(app, worktree) : deleteWorktree(app, worktree);
}

/** @param {App} app @param {Resource} worktree */
async function archive(app, worktree) {
  const running = app.state.sessionsOf(worktree.id).filter(isActive);
  const details = [
    running.length > 0 && make("p.bad", `Will be stopped first: ${running.map((session) => session.name).join(", ")}`),
    make("p", "The worktree will be archived. Its files and sessions are kept, and you can restore it."),
  ];
  if (!(await confirm(`Remove ${worktree.name}?`, details, "Archive"))) return false;
  const args = { worktreeId: worktree.id };
  if (!(await stopSessions(app, worktree)) || (await app.run("remove_worktree", args)) === undefined) return false;
  app.toast(`Archived ${worktree.name}. Its files are kept.`, { action: ["Undo", () => app.run("unarchive_worktree", args)] });
  return true;
}

/** Permanently delete a worktree, whatever the preference; returns whether it was deleted. @param {App} app @param {Resource} worktree */
export async function deleteWorktree(app, worktree) {
  const losses = await app.run("get_removal_losses", { worktreeId: worktree.id });
  if (!losses) return false;
  if (losses.inside_at_work.length > 0) {
    app.toast(`${worktree.name} was not deleted. ${losses.inside_at_work.join(" ")} Stop it first.`, { bad: true });
    return false;
  }
  const deletesFiles = worktree.session_type !== "base" && !worktree.adopted;
  const question = deletesFiles ? `Delete ${worktree.name}?` : `Remove ${worktree.name} from Spinney?`;
  const yes = deletesFiles ? "Delete" : "Remove";
  if (!(await confirm(question, describeLosses(app, worktree, losses), yes, { danger: true }))) return false;
  if (!(await stopSessions(app, worktree))) return false;
  /** @param {boolean} force */
  const remove = (force) => app.connection.call("remove_worktree", { worktreeId: worktree.id, forGood: true, force });
  try {
    await remove(losses.files.length > 0 || losses.commits > 0 || losses.besides.length > 0);
  } catch (error) {
    const { kind, message } = /** @type {Error & { kind?: string }} */ (error);
    // New changes, or a teardown script that failed or is not trusted: nothing has been deleted yet.
    const canForce = kind === "conflict" || kind === "forbidden";
    if (!canForce) app.toast(message, { bad: true });
    if (!canForce || !(await confirm(question, make("p", message), "Delete anyway", { danger: true }))) return false;
    if ((await app.run("remove_worktree", { worktreeId: worktree.id, forGood: true, force: true })) === undefined) return false;
  }
  // The toast must outlive the view of the deleted worktree.
  const action = !deletesFiles && !losses.sessions ? undefined : /** @type {[string, () => unknown]} */ (["Archive", () => app.go("archive")]);
  const done = deletesFiles ? "Deleted" : "Removed";
  app.toast(`${done} ${worktree.name}.${action ? " It can be restored from the archive." : ""}`, { isValid: () => true, action });
  return true;
}

/** Ask whether to delete a session. @param {App} app @param {Resource} session */
export function confirmDeletion(app, session) {
  const messages = session.message_count;
  const details = messages > 0 ? describeRecovery(app, `The session with its ${pluralize(messages, "message")}`) : "It has no messages.";
  return confirm(`Delete ${session.name}?`, details, "Delete", { danger: true });
}

/** @param {App} app @param {Resource} worktree @param {any} losses the result of `get_removal_losses` */
function describeLosses(app, worktree, losses) {
  const { files, commits, besides, sessions, running } = losses;
  const names = `${files.slice(0, MAX_LISTED).join(", ")}${files.length > MAX_LISTED ? ", …" : ""}`;
  const isBase = worktree.session_type === "base";
  const isKept = isBase || worktree.adopted;
  const ignored = app.state.preferences.recovery_include_ignored ? "ignored files over 50 MB" : "files ignored by git (such as .env)";
  const keptText = isBase
    ? "The project directory will not be shown as a worktree any more. Its files are kept."
    : "It was created outside Spinney and will only be hidden. Its directory and branch are kept.";
  return [
    running.length > 0 && make("p.bad", `Will be stopped first: ${running.join(", ")}`),
    files.length > 0 && make("p.bad", `It has ${pluralize(files.length, "uncommitted file")} (${names})`),
    commits > 0 && make("p.bad", `It has ${pluralize(commits, "commit")} that no other branch or remote has`),
    ...besides.slice(0, MAX_LISTED).map((/** @type {string} */ each) => make("p.bad", `It has ${each}`)),
    besides.length > MAX_LISTED && make("p.bad", `… and ${besides.length - MAX_LISTED} more`),
    sessions > 0 && make("p", `It has ${pluralize(sessions, "session")}`),
    make("p", isKept ? keptText : "Its directory and branch will be deleted."),
    (!isKept || sessions > 0) && make("p", describeRecovery(app, isKept ? "What was said in it" : "All of it")),
    !isKept && make("p", `Not kept: ${ignored}, and the contents of repositories inside it.`),
  ];
}

/** Stop the running sessions of a worktree; returns whether all were stopped. @param {App} app @param {Resource} worktree */
async function stopSessions(app, worktree) {
  for (const session of app.state.sessionsOf(worktree.id).filter(isActive)) {
    if ((await app.run("stop_generation", { sessionId: session.id })) === undefined) return false;
  }
  return true;
}

/** @param {Resource} session */
const isActive = (session) => session.status === "running" || session.status === "waiting";
