// @ts-check
// The branch that a worktree lands in: another one, onto it once its base has landed, and what stands against it there.

import { ask, confirm } from "../dialogs.js";
import { make } from "../dom.js";

/** @typedef {import("../app.js").App} App */

/** Ask for another base branch. @param {App} app @param {import("../state.js").Resource} worktree */
export async function changeBase(app, worktree) {
  const branches = await app.run("get_project_branches", { projectId: worktree.project_id });
  if (!branches) return;
  const names = branches.map((/** @type {any} */ branch) => branch.name).filter((/** @type {string} */ name) => name !== worktree.branch);
  const list = make("datalist", names.map((/** @type {string} */ name) => make("option", { value: name })), { id: "base-branches" });
  const moves = make("input", { type: "checkbox", checked: true });
  await ask(`Base branch of ${worktree.name}`, {
    value: worktree.base_branch ?? app.state.projects.get(worktree.project_id)?.default_branch ?? "",
    label: "Change",
    hint: "The branch that it is compared with and lands in.",
    more: [list, make("label.check", moves, "Move its commits onto it")],
    submit: (/** @type {string} */ base) => base.trim() && app.connection.call("set_worktree_base", { worktreeId: worktree.id, baseBranch: base.trim(), moveCommits: moves.checked }),
  });
}

/** Move a worktree onto the branch in which its base has landed, after a question. @param {App} app @param {string} id @param {string} base @param {string} newBase */
export async function moveOntoNewBase(app, id, base, newBase) {
  const name = app.state.worktrees.get(id)?.name ?? "the worktree";
  if (!(await confirm(`Move ${name} onto '${newBase}'?`, `The commits that it has on top of '${base}' are moved, and it lands in '${newBase}' then.`, "Move"))) return;
  if (await app.run("set_worktree_base", { worktreeId: id, baseBranch: newBase, moveCommits: true })) app.toast(`${name} lands in '${newBase}' now.`);
}

/** Check what the base would become with a worktree, in a train of it alone. @param {App} app @param {string} id */
export async function startTrainOf(app, id) {
  const projectId = app.state.worktrees.get(id)?.project_id ?? "";
  if (await app.run("start_train", { projectId, worktreeIds: [id] })) app.go("landing", projectId);
}

/** Show the changes in the checkout of a base: another worktree, or the project's own directory. @param {App} app @param {string} id @param {string} base */
export async function openBaseChanges(app, id, base) {
  const projectId = app.state.worktrees.get(id)?.project_id ?? "";
  const known = app.state.worktreesOf(projectId).find((worktree) => worktree.branch === base);
  const found = known ?? (await app.run("open_base_worktree", { projectId }));
  if (found) app.go("diff", found.id);
}
