// @ts-check
// What has landed: undo of the newest landing, pushing the base, and the list.

import { ageElement } from "../age.js";
import { confirm, showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./landing_types.js").Landing} Landing
 */

/** Take a landing back, after a question; returns whether it was. @param {App} app @param {string} landingId */
export async function undoLanding(app, landingId) {
  const details = make("p", "The base branch returns to where it was before, and so does a checkout of it. Worktrees that were deleted after landing are restored.");
  if (!(await confirm("Undo the last landing?", details, "Undo the landing"))) return false;
  /** @type {Landing | undefined} */
  const landing = await app.run("undo_landing", { landingId });
  if (!landing) return false;
  app.toast([`'${landing.base}' is at ${landing.before.slice(0, 10)} again.`, ...landing.notes].join(" "));
  return true;
}

/** Push the base branch, after a question. @param {App} app @param {string} projectId @param {string} [branch] */
export async function pushBase(app, projectId, branch) {
  const base = branch ?? app.state.projects.get(projectId)?.default_branch ?? "the base branch";
  if (!(await confirm(`Push '${base}'?`, make("p", "A landing that was pushed cannot be undone here any more: others may have it. Nothing is forced."), "Push"))) return;
  if ((await app.run("push_base", { projectId, ...(branch ? { branch } : {}) })) !== undefined) app.toast(`Pushed '${base}'.`);
}

/** List what has landed. @param {App} app @param {string} projectId */
export async function showLandings(app, projectId) {
  /** @type {Landing[] | undefined} */
  const landings = await app.run("list_landings", { projectId });
  if (!landings) return;
  const rows = landings.map((landing) => make(
    "li",
    make("span.grow", make("b", namesOf(app, landing)), make("small", ` ${landing.method} into ${landing.base}, ${landing.before.slice(0, 8)} → ${landing.after.slice(0, 8)}${landing.undone_at ? ", undone" : ""}`), landing.notes.map((note) => make("p.hint", note))),
    make("small", ageElement(landing.landed_at)),
  ));
  const dialog = make("dialog", make("h2", "What has landed"), { "aria-label": "What has landed" });
  dialog.append(
    rows.length ? make("ul.rows-list", rows) : make("p.hint", "Nothing has landed from here yet."),
    make("div.choices", button("Close", () => dialog.close(), ".quiet")),
  );
  showDialog(dialog);
}

/** @param {App} app @param {Landing} landing */
function namesOf(app, { worktree_ids: ids }) {
  const names = ids.map((id) => app.state.worktrees.get(id)?.name).filter(Boolean);
  return names.length === ids.length ? names.join(", ") : [...names, pluralize(ids.length - names.length, "removed worktree")].join(", ");
}
