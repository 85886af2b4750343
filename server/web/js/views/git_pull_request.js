// @ts-check
// The pull request of a worktree: the link to its view, and the form to create one.

import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { externalLink } from "../links.js";
import { hashFor } from "../router.js";

/** @param {import("./git.js").GitPanel} panel */
export function pullRequestLink({ app, id: worktreeId, worktree }) {
  return make(
    "span.choices",
    make("a.button", icon("pull-request"), `Pull request ${worktree.pr_number}`, { href: hashFor("pull-request", worktreeId) }),
    button("Unlink", () => app.run("clear_worktree_pr", { worktreeId }), "", { title: "Does not change the pull request itself" }),
  );
}

/**
 * @param {import("./git.js").GitPanel} panel
 * @returns {HTMLFormElement}
 */
export function pullRequestForm(panel) {
  const { id: worktreeId, base, worktree } = panel;
  const key = `spinney-pr-${worktreeId}`;
  const draft = JSON.parse(localStorage.getItem(key) ?? "{}");
  const title = make("input", { value: draft.title ?? "", placeholder: "Generated if empty" });
  const body = make("textarea", { rows: 6, value: draft.body ?? "", placeholder: "Generated if empty" });
  const isDraft = make("input", { type: "checkbox", checked: Boolean(draft.isDraft) });
  const status = make("div", { "aria-live": "polite" });
  const submit = make("button.primary", icon("pull-request"), "Push and open");
  /** @type {HTMLFormElement} */
  const form = make(
    "form.fields.git-form",
    make("p.hint", `${worktree.branch} → ${base}`),
    make("label", "Title", title),
    make("label", "Description", body),
    make("label.check", isDraft, "Draft"),
    status,
    make("div.choices", submit, button("Close", () => panel.hide(), ".quiet")),
    { "aria-label": "Pull request" },
  );
  form.addEventListener("input", () =>
    localStorage.setItem(key, JSON.stringify({ title: title.value, body: body.value, isDraft: isDraft.checked })));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (submit.disabled) return; // pressed twice
    const args = {
      worktreeId,
      draft: isDraft.checked,
      ...(title.value.trim() ? { title: title.value.trim() } : {}),
      ...(body.value.trim() ? { body: body.value.trim() } : {}),
    };
    const text = "Pushing the branch and opening the pull request …";
    submit.disabled = true;
    const result = await panel.run(text, "open_pull_request", args, { into: status, cancel: false });
    submit.disabled = false;
    if (!result) return;
    localStorage.removeItem(key);
    panel.showResult(["Opened pull request: ", externalLink(result.pr_url, result.pr_url)]);
  });
  return form;
}
