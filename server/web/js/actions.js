// @ts-check
// One table of everything that a person can do by key or by name: the keys, the palette, the menu of a
// session and the help are all made from it. Names and titles are those of the terminal; its keys are
// where a browser leaves them to the page.

import { ask, confirm, showOver } from "./dialogs.js";
import { make } from "./dom.js";
import { register } from "./perform.js";
import { hashOf } from "./router.js";
import { counted } from "./words.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./state.js").Resource} Resource
 * @typedef {import("./perform.js").Action} Action
 * @typedef {import("./perform.js").Here} Here
 */

const MODES = ["plan", "build", "yolo"];

/** @type {Action[]} */
const ACTIONS = [
  { id: "commands", keys: "ctrl+k,ctrl+p", title: "All commands", inPalette: false, do: openPalette },
  { id: "next_waiting", keys: "ctrl+space", title: "Go to the next session that needs you", do: nextWaiting },
  { id: "canvas", keys: "ctrl+o", title: "All sessions on one screen (canvas)", do: (app) => app.go("canvas") },
  { id: "new_worktree", keys: "alt+n", title: "New worktree", do: (app, { project }) => app.go("new", "", project && { project: project.id }) },
  { id: "new_session", keys: "alt+t", title: "New session", needs: "worktree", do: (app, { worktree }) => import("./views/worktree.js").then((made) => made.newSession(app, worktree?.id ?? "")) },
  { id: "cycle_mode", keys: "alt+m", title: "Change the mode: plan, build, yolo", needs: "session", do: cycleMode },
  { id: "stop", keys: "escape", title: "Stop the run of this session", needs: "session", do: stop },
  { id: "previous_session", keys: "alt+pageup", title: "Go to the session before", needs: "session", do: (app, here) => step(app, here, -1) },
  { id: "next_session", keys: "alt+pagedown", title: "Go to the session after", needs: "session", do: (app, here) => step(app, here, +1) },
  { id: "open_diff", keys: "ctrl+g", title: "What the worktree changes (diff)", needs: "worktree", do: (app, { worktree }) => app.go("diff", worktree?.id) },
  { id: "commit", title: "Commit", needs: "worktree", do: (app, { worktree }) => app.go("diff", worktree?.id, { form: "commit" }) },
  { id: "pull_request", title: "Pull request", needs: "worktree", do: (app, { worktree }) => app.go("diff", worktree?.id, { form: "pull_request" }) },
  { id: "search", keys: "ctrl+shift+f", title: "Search all messages", do: (app) => app.go("search") },
  { id: "toggle_tree", keys: "f2,ctrl+b", title: "Show or hide the projects", do: toggleTree },
  { id: "write", keys: "alt+w", title: "Go to the message box", needs: "session", do: () => document.querySelector("textarea")?.focus() },
  { id: "rename_session", keys: "f4", title: "Rename the session", needs: "session", do: renameSession },
  { id: "begin_afresh", title: "Begin afresh, with the same agent and mode", needs: "session", do: beginAfresh },
  { id: "choose_model", title: "Choose the session's model", needs: "session", do: () => pick("model") },
  { id: "choose_agent", title: "Choose the session's agent", needs: "session", do: (app) => pick("agent") || app.say("Stop the session before it changes its agent.") },
  { id: "choose_thinking", title: "Choose how much the session thinks", needs: "session", do: () => pick("thinking") },
  { id: "show_raw_log", title: "Show the raw log", needs: "session", do: (app, { session }) => app.go("raw", session?.id) },
  { id: "archive_session", title: "Archive the session", needs: "session", do: archiveSession },
  { id: "delete_session", title: "Delete the session for good", needs: "session", do: deleteSession },
  { id: "open_worktree_page", title: "The worktree: git, scripts, name, label", needs: "worktree", do: (app, { worktree }) => app.go("worktree", worktree?.id) },
  { id: "archive_worktree", title: "Archive the worktree", needs: "worktree", do: archiveWorktree },
  { id: "add_project", title: "Add a project", do: (app) => import("./views/project.js").then((made) => made.addProject(app)) },
  { id: "project_settings", title: "Settings of the project", needs: "project", do: (app, { project }) => import("./views/project-settings.js").then((made) => made.projectSettings(app, project?.id ?? "")) },
  { id: "show_archive", keys: "f8", title: "Archive: bring back worktrees and sessions, or delete them for good", do: (app) => app.go("archive") },
  { id: "preferences", keys: "f9", title: "Preferences", do: (app) => app.go("preferences") },
  { id: "server", title: "Server: address, token", do: (app) => app.go("server") },
  { id: "help", keys: "f1,?", title: "Help: keys and marks", do: (app) => app.go("help") },
];

/** Make them known to all that lists or performs actions. */
export const actions = () => register(ACTIONS);

/** The box is there at once, so what is typed next is typed into it however long its list takes. @param {App} app */
async function openPalette(app) {
  const box = make("input", { type: "search", placeholder: "a command, or a place", "aria-label": "A command, or a place", autocomplete: "off" });
  const dialog = make("dialog.palette", box, { "aria-label": "All commands" });
  let isTaken = false;
  box.onkeydown = (event) => {
    isTaken ||= event.key === "Enter";
  };
  showOver(dialog, undefined, () => openPalette(app));
  try {
    const { palette } = await import("./views/palette.js");
    const take = palette(app, dialog, box);
    if (isTaken && dialog.open) take();
  } catch (error) {
    dialog.close();
    throw error;
  }
}

/** @param {App} app @param {Here} here */
function nextWaiting(app, { session }) {
  const waiting = app.state.waiting();
  const next = waiting[(waiting.findIndex((each) => each.id === session?.id) + 1) % waiting.length];
  if (next && next.id !== session?.id) app.go("session", next.id);
  else app.say(next ? "Nobody else needs you." : "Nobody needs you.");
}

/** @param {App} app @param {Here} here */
function cycleMode(app, { session }) {
  const mode = MODES[(MODES.indexOf(session?.execution_mode) + 1) % MODES.length];
  return app.run("update_session", { sessionId: session?.id, executionMode: mode });
}

/** @param {App} app @param {Here} here */
async function beginAfresh(app, { session }) {
  if (!session) return;
  const { worktree_id: worktreeId, backend, execution_mode: executionMode, thinking_level: thinkingLevel } = session;
  const model = session.model || undefined;
  const made = await app.run("create_session", { worktreeId, backend, model, executionMode, thinkingLevel });
  if (made) app.go("session", made.id);
}

/** @param {App} app @param {Here} here */
async function stop(app, { session }) {
  if (session?.status !== "running" && session?.status !== "waiting") return;
  const shown = /** @type {HTMLButtonElement | null} */ (document.querySelector(".composer .stop:not([hidden])"));
  if (shown) shown.click(); // it says at once that it stops
  else await app.run("stop_generation", { sessionId: session.id });
}

/** @param {App} app @param {Here} here @param {number} by */
function step(app, { session, worktree }, by) {
  const all = app.state.sessionsOf(worktree?.id ?? "");
  const place = all.findIndex((each) => each.id === session?.id);
  const next = all[(place + by + all.length) % all.length];
  if (next) app.go("session", next.id);
}

function toggleTree() {
  const menu = /** @type {HTMLElement} */ (document.getElementById("menu"));
  if (menu.checkVisibility()) menu.click();
  else document.body.classList.toggle("alone");
}

/** Open a list of the line under the message box. @param {string} name */
function pick(name) {
  const select = /** @type {HTMLSelectElement | null} */ (document.querySelector(`.settings .${name}`));
  if (!select || select.disabled) return false;
  const rest = /** @type {HTMLElement | null} */ (document.querySelector('.settings .rest[aria-expanded="false"]'));
  if (!select.checkVisibility()) rest?.click();
  select.focus();
  try {
    select.showPicker();
  } catch {
    // The browser opens none by itself; it has the focus.
  }
  return true;
}

/** @param {App} app @param {Here} here */
async function renameSession(app, { session }) {
  await ask("Rename the session", {
    value: session?.name,
    yes: "Rename",
    take: (name) => name.trim() && app.connection.call("update_session", { sessionId: session?.id, name: name.trim() }),
  });
}

/** @param {App} app @param {Here} here */
async function archiveSession(app, { session, worktree }) {
  const given = { sessionId: session?.id };
  const busy = session?.status === "running" || session?.status === "waiting";
  const told = busy ? "It is at work. Stop it and put it away?" : `Put “${session?.name}” away? The archive keeps it.`;
  if ((busy || app.state.preferences.confirm_session_close) && !(await confirm("Archive the session", told, "Archive"))) return;
  if ((await app.run("archive_session", given)) === undefined) return;
  if (location.hash.startsWith(hashOf("session", session?.id))) app.go("worktree", worktree?.id);
  sayArchived(app, `“${session?.name}” is archived.`, () => app.state.sessions.get(session?.id ?? ""), () => app.run("unarchive_session", given));
}

/** @param {App} app @param {Here} here */
async function deleteSession(app, { session, worktree }) {
  const told = `Delete “${session?.name}” and its ${counted(session?.message_count ?? 0, "message")} for good?`;
  if (!(await confirm("Delete the session", told, "Delete for good", { danger: true }))) return;
  if ((await app.run("delete_session", { sessionId: session?.id })) !== undefined) app.go("worktree", worktree?.id);
}

/** @param {App} app @param {Here} here */
async function archiveWorktree(app, { worktree }) {
  const given = { worktreeId: worktree?.id };
  if ((await app.run("archive_worktree", given)) === undefined) return;
  app.go("needs");
  sayArchived(app, `${worktree?.name} is archived. Its files stay.`, () => app.state.worktrees.get(worktree?.id ?? ""), () => app.run("unarchive_worktree", given));
}

/** @param {App} app @param {string} words @param {() => Resource | undefined} now @param {() => unknown} back */
function sayArchived(app, words, now, back) {
  app.say(words, { isTrue: () => Boolean(now()?.archived_at), action: ["Bring it back", back] });
}
