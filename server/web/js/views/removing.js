// @ts-check
// Removing a worktree: to the archive or for good, as the preference `removal_behavior` says. What will happen,
// and what nobody else has, is said before it does.

import { confirm } from "../dialogs.js";
import { make } from "../dom.js";
import { counted } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const NAMED = 8; // files that a question names

/** Remove it as the preference says; gives whether it was. @param {App} app @param {Resource} worktree */
export function removeWorktree(app, worktree) {
  return app.state.preferences.removal_behavior === "archive" ? archive(app, worktree) : deleteWorktree(app, worktree);
}

/** @param {App} app @param {Resource} worktree */
async function archive(app, worktree) {
  const running = app.state.sessionsOf(worktree.id).filter(isAtWork);
  const told = [
    running.length > 0 && make("p.bad", `Stopped first: ${running.map((session) => session.name).join(", ")}`),
    make("p", "It goes to the archive. Its files and sessions stay, and it can be brought back."),
  ];
  if (!(await confirm(`Remove ${worktree.name}?`, told, "Move to the archive"))) return false;
  const given = { worktreeId: worktree.id };
  if (!(await stopSessions(app, worktree)) || (await app.run("remove_worktree", given)) === undefined) return false;
  app.say(`${worktree.name} is archived. Its files stay.`, { action: ["Bring it back", () => app.run("unarchive_worktree", given)] });
  return true;
}

/** Delete it for good, whatever the preference says; gives whether it was. @param {App} app @param {Resource} worktree */
export async function deleteWorktree(app, worktree) {
  const losses = await app.run("get_removal_losses", { worktreeId: worktree.id });
  if (!losses) return false;
  const question = `Delete ${worktree.name} for good?`;
  if (!(await confirm(question, whatGoes(worktree, losses), "Delete for good", { danger: true }))) return false;
  if (!(await stopSessions(app, worktree))) return false;
  /** @param {boolean} force */
  const remove = (force) => app.connection.call("remove_worktree", { worktreeId: worktree.id, forGood: true, force });
  try {
    await remove(losses.files.length > 0 || losses.commits > 0);
  } catch (error) {
    const { kind, message } = /** @type {Error & { kind?: string }} */ (error);
    // What came meanwhile, or a teardown that failed or is not trusted: nothing was deleted yet.
    const canForce = kind === "conflict" || kind === "forbidden";
    if (!canForce) app.say(message, { bad: true });
    if (!canForce || !(await confirm(question, make("p", message), "Delete it all the same", { danger: true }))) return false;
    if ((await app.run("remove_worktree", { worktreeId: worktree.id, forGood: true, force: true })) === undefined) return false;
  }
  // It outlives the page of what is gone.
  app.say(`${worktree.name} is deleted.`, { isTrue: () => true });
  return true;
}

/** @param {Resource} worktree @param {any} losses as `get_removal_losses` gives them */
function whatGoes(worktree, losses) {
  const { files, commits, sessions, running } = losses;
  const names = `${files.slice(0, NAMED).join(", ")}${files.length > NAMED ? ", …" : ""}`;
  const isBase = worktree.session_type === "base";
  const goes = "Its directory and its branch go, and with them files that git ignores. Deleting cannot be undone; the archive keeps everything.";
  const stays = "It was made outside Spinney and is only not shown any more. Its folder and its branch stay.";
  return [
    running.length > 0 && make("p.bad", `Stopped first: ${running.join(", ")}`),
    files.length > 0 && make("p.bad", `Lost: ${counted(files.length, "uncommitted file")} (${names})`),
    commits > 0 && make("p.bad", `Lost: ${counted(commits, "commit")} on no other branch and on no remote`),
    sessions > 0 && make("p", `${counted(sessions, "session")} with all messages`),
    isBase
      ? make("p", "The project's own directory is not shown as a worktree any more. Its files stay.")
      : make("p", worktree.adopted ? stays : goes),
  ];
}

/** Nothing is put away while it works. @param {App} app @param {Resource} worktree */
async function stopSessions(app, worktree) {
  for (const session of app.state.sessionsOf(worktree.id).filter(isAtWork)) {
    if ((await app.run("stop_generation", { sessionId: session.id })) === undefined) return false;
  }
  return true;
}

/** @param {Resource} session */
const isAtWork = (session) => session.status === "running" || session.status === "waiting";
