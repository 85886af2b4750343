// @ts-check
// Conversations begun in the agents' own screens, to be continued here; and the command that continues a session there.

import { choose, confirm } from "../dialogs.js";
import { make } from "../dom.js";
import { formatAge } from "../format.js";
import { copyText } from "../session/blocks.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

/** Let the user choose a conversation that was begun outside, and continue it. @param {App} app @param {Resource} worktree */
export async function continueForeignSession(app, worktree) {
  let isLooking = true;
  app.toast("Looking for conversations. This takes some seconds.", { isValid: () => isLooking });
  const found = await app.run("list_foreign_sessions", { worktreeId: worktree.id });
  isLooking = false;
  app.toasts.refresh();
  if (!found) return;
  for (const problem of found.problems) app.toast(problem, { bad: true });
  if (!found.sessions.length) {
    app.toast("No other conversation from an agent's own screen was found for this directory or its project.");
    return;
  }
  /** @type {import("../dialogs.js").MenuEntry<any>[]} */
  const choices = found.sessions.map((/** @type {any} */ one) => [describe(one, worktree), one]);
  const chosen = await choose("Continue a conversation from an agent's own screen", choices);
  if (!chosen) return;
  const { backend, conversation_id: conversationId } = chosen;
  const session = await app.run("continue_foreign_session", { worktreeId: worktree.id, backend, conversationId });
  if (session) app.go("session", session.id);
}

/** @param {any} one @param {Resource} worktree */
function describe(one, worktree) {
  const copy = one.directory === worktree.path ? "" : "of the project, continued in a copy";
  const details = [one.agent, one.origin, one.branch, copy, formatAge(one.updated_at)].filter(Boolean).join(" · ");
  return `${one.title} (${details})`;
}

/** Show the command that continues a session in its agent's own screen. @param {App} app @param {string} sessionId */
export async function showResumeCommand(app, sessionId) {
  const found = await app.run("get_resume_command", { sessionId });
  if (!found) return;
  const details = make(
    "div.fields",
    make("p", "Run this in a shell. The agent has ended here, so that both do not write. What is said there is added here with your next message."),
    make("pre.verbatim", found.command),
    found.note && make("p.notice", found.note),
  );
  if (!(await confirm("Continue in the agent's own screen", details, "Copy the command"))) return;
  await copyText(found.command);
  app.toast("Copied the command.");
}
