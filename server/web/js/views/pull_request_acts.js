// @ts-check
// What can be done with a pull request besides merging it: edit, draft, review, update, unlink.

import { choose, confirm, showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { labeled } from "./form_fields.js";
import { clearPullRequest } from "./pull_request_link.js";
import { callAfterSecrets } from "./secrets_found.js";

/** @typedef {import("./pull_request.js").PullRequestView} View */

const MANY = 8; // reviewers, from which on they can be filtered

/** @param {View} view */
export async function openPullRequestMenu(view) {
  const { app, shown: pr } = view;
  if (!pr) return;
  const isOver = pr.phase === "merged" || pr.phase === "closed";
  /** @type {(false | import("../dialogs.js").MenuEntry<() => unknown>)[]} */
  const entries = [
    pr.can_edit && ["Edit title and description", () => edit(view), { icon: "edit" }],
    !isOver && ["Request a review", () => requestReview(view), { icon: "plus" }],
    !isOver && (pr.phase === "draft" ? ["Mark as ready", () => setDraft(view, false), { icon: "check" }] : ["Make it a draft again", () => setDraft(view, true), { icon: "edit" }]),
    pr.can_update && ["Update the branch", () => update(view), { icon: "pull" }],
    ["Refresh", () => view.refresh(), { icon: "refresh" }],
    ["Changes of the worktree", () => app.go("diff", view.id), { icon: "diff", isApart: true }],
    ["Worktree", () => app.go("worktree", view.id), { icon: "branch" }],
    ["Unlink from the worktree", () => unlink(view), { icon: "link", isApart: true }],
  ];
  await (await choose(`Pull request #${pr.number}`, entries.filter((entry) => entry !== false)))?.();
}

/** @param {View} view @param {boolean} draft */
export const setDraft = (view, draft) => view.run("set_pull_request_draft", { draft });

/** Bring the head up to date with the base at the service, after a question. @param {View} view */
export async function update(view) {
  const { shown: pr, app } = view;
  if (!pr) return;
  const rebase = make("input", { type: "checkbox", checked: pr.must_rebase, disabled: pr.must_rebase });
  const details = make("div.fields", make("p", pr.must_rebase ? `'${pr.head}' is rebased on '${pr.base}' at the hosting service. Fetch it then and reset the worktree's branch to it: a pull would merge both.` : `'${pr.base}' is merged into '${pr.head}' at the hosting service. The worktree follows with the next pull.`), make("label.check", rebase, pr.must_rebase ? "Rebase, which rewrites the branch there" : "Rebase instead, which rewrites the branch there"));
  if (!(await confirm("Update the branch?", details, "Update"))) return;
  if (await view.run("update_pull_request_branch", { rebase: rebase.checked })) app.toast("The branch is being updated. Pull it into the worktree when it is done.");
}

/** @param {View} view */
async function unlink(view) {
  const worktree = view.worktree;
  if (!worktree) return;
  await clearPullRequest(view.app, worktree);
  view.app.go("worktree", view.id);
}

/** @param {View} view */
function edit(view) {
  const { shown: pr } = view;
  if (!pr) return;
  const title = make("input", { value: pr.title });
  const body = make("textarea", { rows: 12, value: pr.body });
  openForm(view, "Edit the pull request", "Save", [labeled("Title", title), labeled("Description", body)], () => {
    if (!title.value.trim()) throw new Error("Enter a title.");
    return callAfterSecrets(view.app, "edit_pull_request", {
      worktreeId: view.id,
      ...(title.value.trim() === pr.title ? {} : { title: title.value.trim() }),
      ...(body.value === pr.body ? {} : { body: body.value }),
    });
  });
}

/** Choose who is asked for a review. @param {View} view */
export async function requestReview(view) {
  /** @type {string[] | undefined} */
  const found = await view.app.run("list_possible_reviewers", { worktreeId: view.id });
  if (!found || !view.shown) return;
  const { author, reviewers } = view.shown;
  const asked = new Set(reviewers.filter(({ state }) => state === "requested").map(({ name }) => name));
  const boxes = found.filter((name) => name !== author && !asked.has(name)).map((name) => {
    const box = make("input", { type: "checkbox", value: name });
    return { name, box, element: make("label.check", box, name) };
  });
  if (!boxes.length) return view.app.toast("There is no one else who can be asked for a review.");
  const filter = make("input", { type: "search", placeholder: "Filter", "aria-label": "Filter reviewers" });
  filter.addEventListener("input", () => {
    for (const { name, element, box } of boxes) element.hidden = !box.checked && !name.toLowerCase().includes(filter.value.trim().toLowerCase());
  });
  const list = make("div.reviewer-choices", boxes.map(({ element }) => element), { role: "group", "aria-label": "Reviewers" });
  openForm(view, "Request a review", "Request", [...(boxes.length > MANY ? [filter] : []), list], () => {
    const chosen = boxes.filter(({ box }) => box.checked).map(({ name }) => name);
    if (!chosen.length) throw new Error("Choose who should review it.");
    return view.app.connection.call("request_review", { worktreeId: view.id, reviewers: chosen });
  });
  return undefined;
}

/**
 * A form in a dialog whose command returns the pull request; a refusal is shown in place.
 * @param {View} view @param {string} title @param {string} label @param {HTMLElement[]} parts @param {() => Promise<any>} submit
 */
function openForm(view, title, label, parts, submit) {
  const dialog = make("dialog.git-sheet", make("h2", title), { "aria-label": title });
  const problem = make("p.bad", { role: "alert" });
  const save = make("button.primary", label);
  const form = make("form.fields", parts, problem, make("div.choices", save, button("Cancel", () => dialog.close())), { "aria-label": title });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (save.disabled) return;
    save.disabled = true;
    problem.textContent = "";
    try {
      view.show(await submit());
      dialog.close();
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
    } finally {
      save.disabled = false;
    }
  });
  dialog.append(form);
  showDialog(dialog);
}
