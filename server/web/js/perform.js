// @ts-check
// Performing an action, listing all of them, and what they act on. The table itself is registered by actions.js at the
// start, so that whatever an action opens can perform actions, too.

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./state.js").Resource} Resource
 *
 * @typedef {object} Here what is shown
 * @property {Resource} [session]
 * @property {Resource} [worktree]
 * @property {Resource} [project]
 *
 * @typedef {object} Action
 * @property {string} id its name in the `keybindings` preference
 * @property {string} [keys] that it has by default, parted by commas
 * @property {string} title
 * @property {"session" | "worktree" | "project"} [needs] what must be shown for it
 * @property {boolean} [inPalette] `false` where the palette has no use for it
 * @property {(app: App, here: Here) => unknown} do
 */

/** @type {Action[]} */ let registered = [];

/** Take over the table of all actions. @param {Action[]} actions */
export function register(actions) {
  registered = actions;
}

/** All actions, in the order of the table. */
export const list = () => registered;

/** What is shown, and what it lies in. @param {App} app @returns {Here} */
export function hereOf(app) {
  const { view: shown, id } = app.route;
  const { state } = app;
  const session = shown === "session" ? state.sessions.get(id) : undefined;
  const worktree = state.worktrees.get(session?.worktree_id ?? (["worktree", "diff"].includes(shown) ? id : ""));
  const project = state.projects.get(worktree?.project_id ?? (shown === "project" ? id : ""));
  return { session, worktree, project };
}

/** Whether there is what it needs. @param {Action} action @param {Here} here */
export const isPossible = (action, here) => !action.needs || Boolean(here[action.needs]);

/** Do it, or say what it needs. @param {App} app @param {string} id */
export async function perform(app, id) {
  const action = registered.find((each) => each.id === id);
  if (!action) return;
  const here = hereOf(app);
  if (!isPossible(action, here)) app.say(`Open a ${action.needs} first.`);
  else {
    try {
      await action.do(app, here);
    } catch {
      app.say("This part of the page could not be loaded. Try again when the connection is back.", { bad: true });
    }
  }
}
