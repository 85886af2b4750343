// @ts-check
// Performs and lists actions, and finds what they apply to. actions.js registers the table at start, so that modules
// that are opened by actions can perform actions, too, without importing the table.

import { guest, may } from "./guest.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./state.js").Resource} Resource
 *
 * @typedef {object} Context what the current view shows
 * @property {Resource} [session]
 * @property {Resource} [worktree]
 * @property {Resource} [project]
 *
 * @typedef {object} Action
 * @property {string} id its name in the `keybindings` preference
 * @property {string} [keys] default keys, separated by commas
 * @property {string} title
 * @property {"session" | "worktree" | "project"} [needs] what the current view must show
 * @property {string} [guests] a command that guests must be allowed to call; without one, it is for owners only
 * @property {boolean} [inPalette] `false` if the palette must not list it
 * @property {(app: App, context: Context) => unknown} do
 */

/** @type {Action[]} */ let registered = [];

/** Set the table of all actions. @param {Action[]} actions */
export function register(actions) {
  registered = actions;
}

/** All actions that the user may perform, in the order of the table. */
export const listActions = () => registered.filter(isOpen);

/** @param {Action} action */
const isOpen = ({ guests }) => !guest() || (guests !== undefined && may(guests));

/** The session, worktree and project of the current view. @param {App} app @returns {Context} */
export function currentContext(app) {
  const { view, id } = app.route;
  const { state } = app;
  const session = view === "session" ? state.sessions.get(id) : undefined;
  const worktree = state.worktrees.get(session?.worktree_id ?? (["worktree", "diff", "pull-request"].includes(view) ? id : ""));
  const project = state.projects.get(worktree?.project_id ?? (["project", "folder", "conflicts", "landing", "sweep", "work", "compare"].includes(view) ? id : ""));
  return { session, worktree, project };
}

/** Whether the current view shows what the action needs. @param {Action} action @param {Context} context */
export const isAvailable = (action, context) => !action.needs || Boolean(context[action.needs]);

/** Perform an action, or show what it needs. @param {App} app @param {string} id */
export async function performAction(app, id) {
  const action = listActions().find((candidate) => candidate.id === id);
  if (!action) return;
  const context = currentContext(app);
  if (!isAvailable(action, context)) app.toast(`Open a ${action.needs} first.`);
  else {
    try {
      await action.do(app, context);
    } catch {
      app.reportUnloaded();
    }
  }
}
