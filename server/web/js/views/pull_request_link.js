// @ts-check
// Links a worktree to a pull request that was opened elsewhere, or unlinks it.

import { ask } from "../dialogs.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

/** @param {App} app @param {Resource} worktree */
export async function linkPullRequest(app, worktree) {
  await ask("Pull request of the worktree", {
    label: "Link",
    value: worktree.pr_url ?? "",
    hint: "Its number, or its full address.",
    async submit(text) {
      const [prNumber, prUrl] = await resolve(app, worktree, text.trim());
      await app.connection.call("save_worktree_pr", { worktreeId: worktree.id, prNumber, prUrl });
      app.toast(`Linked ${worktree.name} to pull request #${prNumber}.`);
    },
  });
}

/** @param {App} app @param {Resource} worktree */
export async function clearPullRequest(app, worktree) {
  if (!worktree.pr_number) return app.toast(`${worktree.name} has no pull request.`);
  if ((await app.run("clear_worktree_pr", { worktreeId: worktree.id })) !== undefined) app.toast(`Unlinked pull request #${worktree.pr_number}. It stays as it is.`);
}

/** The number and address of a pull request, given either. @param {App} app @param {Resource} worktree @param {string} text @returns {Promise<[number, string]>} */
async function resolve(app, worktree, text) {
  const address = text.match(/^https?:\/\/\S+\/(?:pull|merge_requests)\/(\d{1,9})$/);
  if (address) return [Number(address[1]), text];
  const number = text.match(/^[#!]?(\d{1,9})$/)?.[1];
  if (!number) throw new Error("Enter a number, or the address of a pull request (https://…/pull/1).");
  const project = app.state.projects.get(worktree.project_id);
  const remotes = await app.connection.call("get_github_remotes", { repoPath: project?.path });
  const remote = remotes.find((/** @type {any} */ each) => each.name === "origin") ?? remotes[0];
  if (!remote) throw new Error("The repository has no remote on GitHub or GitLab. Enter the full address.");
  return [Number(number), `${remote.pull_requests_url}${number}`];
}
