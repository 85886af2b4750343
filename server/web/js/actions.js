// @ts-check
// The table of all actions, from which keys, command palette, session menu and help are made. Ids are those of the
// terminal, and so are keys, except those that browsers do not pass to pages.

import { ask, confirm, showDialog } from "./dialogs.js";
import { make } from "./dom.js";
import { TITLES } from "./generated.js";
import { mayUse } from "./guest.js";
import { register } from "./perform.js";
import { hashFor } from "./router.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./state.js").Resource} Resource
 * @typedef {import("./perform.js").Action} Action
 * @typedef {import("./perform.js").Context} Context
 */

const MODES = ["plan", "build", "yolo"];

/** The titles of actions that the terminal has too are generated. @type {(Omit<Action, "title"> & { title?: string })[]} */
const ACTIONS = [
  { id: "commands", guests: "get_session", keys: "ctrl+k,ctrl+p", inPalette: false, do: openPalette },
  { id: "next_waiting", guests: "get_session", keys: "ctrl+space", do: nextWaiting },
  { id: "canvas", keys: "ctrl+o", do: (app) => app.go("canvas") },
  { id: "new_worktree", keys: "alt+n", title: "New task in a new worktree", do: (app, { project }) => app.go("new", "", project && { project: project.id }) },
  { id: "new_session", keys: "alt+t", needs: "worktree", do: (app, { worktree }) => import("./views/worktree.js").then((module) => module.newSession(app, worktree?.id ?? "")) },
  { id: "cycle_mode", guests: "update_session", keys: "alt+m", needs: "session", do: cycleMode },
  { id: "stop", guests: "stop_generation", keys: "escape", needs: "session", do: stop },
  { id: "previous_session", guests: "get_session", keys: "alt+pageup", needs: "session", do: (app, context) => goToSibling(app, context, -1) },
  { id: "next_session", guests: "get_session", keys: "alt+pagedown", needs: "session", do: (app, context) => goToSibling(app, context, +1) },
  { id: "open_diff", keys: "ctrl+g", needs: "worktree", do: (app, { worktree }) => app.go("diff", worktree?.id) },
  { id: "commit", needs: "worktree", do: (app, { worktree }) => app.go("diff", worktree?.id, { form: "commit" }) },
  { id: "pull_request", needs: "worktree", do: (app, { worktree }) => (worktree?.pr_url ? app.go("pull-request", worktree.id) : app.go("diff", worktree?.id, { form: "pull_request" })) },
  { id: "open_work", keys: "shift+f9", do: (app) => app.go("work") },
  { id: "link_pull_request", needs: "worktree", do: (app, { worktree }) => worktree && import("./views/pull_request_link.js").then((module) => module.linkPullRequest(app, worktree)) },
  { id: "clear_pull_request", needs: "worktree", do: (app, { worktree }) => worktree && import("./views/pull_request_link.js").then((module) => module.clearPullRequest(app, worktree)) },
  { id: "search", keys: "ctrl+shift+f", do: (app) => app.go("search") },
  { id: "toggle_tree", guests: "get_session", keys: "f2,ctrl+b", do: toggleTree },
  { id: "write", guests: "send_chat_message", keys: "alt+w", title: "Go to the message box", needs: "session", do: () => document.querySelector("textarea")?.focus() },
  { id: "rename_session", keys: "f4", needs: "session", do: renameSession },
  { id: "send_later", needs: "session", do: sendLater },
  { id: "continue_session", needs: "session", do: (app, { session }) => import("./session/pause.js").then((module) => module.chooseContinuation(app, session?.id ?? "")) },
  { id: "undo_turn", needs: "session", do: (app, { session }) => runOnTurn(app, session, "undo") },
  { id: "redo_turn", needs: "session", do: (app, { session }) => runOnTurn(app, session, "redo") },
  { id: "fork_session", needs: "session", do: (app, { session }) => import("./session/turn_actions.js").then((module) => module.forkSession(app, session?.id ?? "")) },
  { id: "continue_elsewhere", needs: "session", do: (app, { session }) => import("./views/foreign_sessions.js").then((module) => module.showResumeCommand(app, session?.id ?? "")) },
  { id: "continue_foreign_session", needs: "worktree", do: (app, { worktree }) => worktree && import("./views/foreign_sessions.js").then((module) => module.continueForeignSession(app, worktree)) },
  { id: "begin_afresh", needs: "session", do: startSimilarSession },
  { id: "choose_model", needs: "session", do: () => openSelect("model") },
  { id: "choose_agent", needs: "session", do: (app) => openSelect("agent") || app.toast("Stop the session before changing its agent.") },
  { id: "choose_thinking", guests: "update_session", needs: "session", do: () => openSelect("thinking") },
  { id: "show_raw_log", needs: "session", do: (app, { session }) => app.go("raw", session?.id) },
  { id: "archive_session", needs: "session", do: archiveSession },
  { id: "delete_session", needs: "session", do: deleteSession },
  { id: "open_worktree_page", title: "Worktree: git, scripts, name, label", needs: "worktree", do: (app, { worktree }) => app.go("worktree", worktree?.id) },
  { id: "archive_worktree", needs: "worktree", do: archiveWorktree },
  { id: "add_project", do: (app, context) => addProject(app, context, "path") },
  { id: "clone_project", title: "Clone a repository", do: (app, context) => addProject(app, context, "clone") },
  { id: "new_folder", title: "New folder for projects", do: (app) => import("./views/project_actions.js").then((module) => module.newFolder(app, null)) },
  { id: "project_settings", needs: "project", do: (app, { project }) => import("./views/project_settings.js").then((module) => module.projectSettings(app, project?.id ?? "")) },
  { id: "code_review", needs: "worktree", do: reviewByAgent },
  { id: "compare", needs: "worktree", do: (app, { worktree }) => app.go("compare", worktree?.project_id, { right: worktree?.id ?? "" }) },
  { id: "release_notes", needs: "project", do: (app, { project }) => import("./views/release_notes.js").then((module) => module.releaseNotes(app, project?.id ?? "")) },
  { id: "show_conflicts", needs: "project", do: (app, { project, worktree }) => app.go("conflicts", project?.id, worktree && { worktree: worktree.id }) },
  { id: "show_landing", keys: "alt+l", do: (app, context) => app.go("landing", idOfProject(context)) },
  { id: "land", needs: "worktree", do: (app, { worktree }) => import("./views/landing_form.js").then((module) => module.landingForm(app, worktree?.id ?? "")) },
  { id: "check", title: "Check of the worktree: run, output", needs: "worktree", do: (app, { worktree }) => import("./views/landing_check.js").then((module) => module.showCheck(app, worktree?.id ?? "")) },
  { id: "show_sweep", do: (app, context) => app.go("sweep", idOfProject(context)) },
  { id: "share_session", needs: "session", do: (app, { session }) => session && import("./views/share.js").then((module) => module.share(app, { sessionId: session.id }, session.name)) },
  { id: "share_project", needs: "project", do: (app, { project }) => shareProject(app, project) },
  { id: "set_budget_of_session", needs: "session", do: (app, { session }) => session && import("./views/budget.js").then((module) => module.setSessionBudget(app, session)) },
  { id: "show_guests", do: (app) => app.go("guests") },
  { id: "show_usage", do: (app) => app.go("usage") },
  { id: "show_archive", keys: "f8", do: (app) => app.go("archive") },
  { id: "preferences", keys: "f9", do: (app) => app.go("preferences") },
  { id: "server", do: (app) => app.go("server") },
  { id: "help", keys: "f1,?", do: (app) => app.go("help") },
];

/** Register the table for everything that lists or performs actions. */
export const registerActions = () =>
  register(ACTIONS.map((action) => ({ title: TITLES[/** @type {keyof typeof TITLES} */ (action.id)] ?? action.id, ...action })));

/** The project of the current view; "" in a folder, or without one. @param {Context} context */
const idOfProject = ({ project }) => (project?.is_folder ? "" : (project?.id ?? ""));

/** @param {App} app @param {Resource | undefined} project */
async function shareProject(app, project) {
  if (!project || project.is_folder) return app.toast("Open a project first.");
  return (await import("./views/share.js")).share(app, { projectId: project.id }, project.name);
}

/** @param {App} app @param {Context} context @param {"path" | "clone"} kind */
async function addProject(app, { project }, kind) {
  const module = await import("./views/add_project.js");
  await module.addProject(app, { kind, parentId: project?.is_folder ? project.id : null });
}

/** Open the palette; its input exists before its list is loaded, so that typing is never lost. @param {App} app */
async function openPalette(app) {
  const input = make("input", { type: "search", placeholder: "Search commands and sessions", "aria-label": "Search commands and sessions", autocomplete: "off" });
  const dialog = make("dialog.palette", input, { "aria-label": "All commands" });
  let isEnterPressed = false;
  input.addEventListener("keydown", (event) => {
    isEnterPressed ||= event.key === "Enter";
  });
  showDialog(dialog, undefined, () => openPalette(app));
  try {
    const { palette } = await import("./views/palette.js");
    const runSelected = palette(app, dialog, input);
    if (isEnterPressed && dialog.open) runSelected();
  } catch (error) {
    dialog.close();
    throw error;
  }
}

/** @param {App} app @param {Context} context */
function nextWaiting(app, { session }) {
  const waiting = app.state.waiting();
  const next = waiting[(waiting.findIndex((candidate) => candidate.id === session?.id) + 1) % waiting.length];
  if (next && next.id !== session?.id) app.go("session", next.id);
  else app.toast(next ? "No other session needs you." : "No session needs you.");
}

/** Let an agent review the worktree's changes, where its findings will be shown. @param {App} app @param {Context} context */
async function reviewByAgent(app, { worktree }) {
  if (!(await app.run("run_code_review", { worktreeId: worktree?.id }))) return;
  if (app.route.view !== "diff") app.go("diff", worktree?.id);
}

/** @param {App} app @param {Context} context */
function cycleMode(app, { session }) {
  const modes = MODES.filter(mayUse);
  const mode = modes[(modes.indexOf(session?.execution_mode) + 1) % modes.length];
  return app.run("update_session", { sessionId: session?.id, executionMode: mode });
}

/** Ask when the message in the box is to be sent. @param {App} app */
function sendLater(app) {
  const box = document.querySelector(".composer");
  if (box) box.dispatchEvent(new Event("sendlater"));
  else app.toast("Open the session first.");
}

/** @param {App} app @param {Context} context */
async function startSimilarSession(app, { session }) {
  if (!session) return;
  const { worktree_id: worktreeId, backend, execution_mode: executionMode, thinking_level: thinkingLevel } = session;
  const model = session.model || undefined;
  const created = await app.run("create_session", { worktreeId, backend, model, executionMode, thinkingLevel });
  if (created) app.go("session", created.id);
}

/** @param {App} app @param {Context} context */
async function stop(app, { session }) {
  if (session?.status !== "running" && session?.status !== "waiting") return;
  const stopButton = /** @type {HTMLButtonElement | null} */ (document.querySelector(".composer .stop:not([hidden])"));
  if (stopButton) stopButton.click(); // which shows at once that it is stopping
  else await app.run("stop_generation", { sessionId: session.id });
}

/** @param {App} app @param {Resource | undefined} session @param {"undo" | "redo"} action */
const runOnTurn = async (app, session, action) => (await import("./session/turn_actions.js")).runOnNewest(app, session?.id ?? "", action);

/** @param {App} app @param {Context} context @param {number} offset */
function goToSibling(app, { session, worktree }, offset) {
  const sessions = app.state.sessionsOf(worktree?.id ?? "");
  const index = sessions.findIndex((candidate) => candidate.id === session?.id);
  const next = sessions[(index + offset + sessions.length) % sessions.length];
  if (next) app.go("session", next.id);
}

function toggleTree() {
  const menu = /** @type {HTMLElement} */ (document.getElementById("menu"));
  if (menu.checkVisibility()) menu.click();
  else document.body.classList.toggle("tree-hidden");
}

/** Open a select of the settings below the message box, or in their sheet on a phone. @param {string} name */
function openSelect(name) {
  const select = /** @type {HTMLSelectElement | null} */ (document.querySelector(`.settings .${name}`));
  if (!select || select.disabled) return false;
  const chip = /** @type {HTMLElement | null} */ (document.querySelector(".settings-chip"));
  if (!select.checkVisibility()) chip?.click();
  select.focus();
  try {
    select.showPicker();
  } catch {
    // The browser does not support it; the select has the focus.
  }
  return true;
}

/** @param {App} app @param {Context} context */
async function renameSession(app, { session }) {
  await ask("Rename the session", {
    value: session?.name,
    label: "Rename",
    submit: (name) => name.trim() && app.connection.call("update_session", { sessionId: session?.id, name: name.trim() }),
  });
}

/** @param {App} app @param {Context} context */
async function archiveSession(app, { session, worktree }) {
  const args = { sessionId: session?.id };
  const isBusy = session?.status === "running" || session?.status === "waiting";
  const message = isBusy ? "The session is running. Stop and archive it?" : `Archive '${session?.name}'? You can restore it later.`;
  if ((isBusy || app.state.preferences.confirm_session_close) && !(await confirm("Archive the session", message, "Archive"))) return;
  if ((await app.run("archive_session", args)) === undefined) return;
  if (location.hash.startsWith(hashFor("session", session?.id))) app.go("worktree", worktree?.id);
  showArchived(app, `Archived '${session?.name}'.`, () => app.state.sessions.get(session?.id ?? ""), () => app.run("unarchive_session", args));
}

/** @param {App} app @param {Context} context */
async function deleteSession(app, { session, worktree }) {
  const { confirmDeletion } = await import("./views/removal.js");
  if (!session || !(await confirmDeletion(app, session))) return;
  if ((await app.run("delete_session", { sessionId: session.id })) !== undefined) app.go("worktree", worktree?.id);
}

/** @param {App} app @param {Context} context */
async function archiveWorktree(app, { worktree }) {
  const args = { worktreeId: worktree?.id };
  if ((await app.run("archive_worktree", args)) === undefined) return;
  app.go("needs");
  showArchived(app, `Archived ${worktree?.name}. Its files are kept.`, () => app.state.worktrees.get(worktree?.id ?? ""), () => app.run("unarchive_worktree", args));
}

/** @param {App} app @param {string} text @param {() => Resource | undefined} getItem @param {() => unknown} undo */
function showArchived(app, text, getItem, undo) {
  app.toast(text, { isValid: () => Boolean(getItem()?.archived_at), action: ["Undo", undo] });
}
