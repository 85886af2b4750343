// @ts-check
// The pull request of a worktree: proposed with title and description, or what is written for one.

import { button, make } from "../dom.js";

/** @param {import("./git.js").GitPanel} panel */
export function pullRequestLink({ app, id: worktreeId, worktree }) {
  const { pr_number: number, pr_url: url } = worktree;
  return make(
    "span.choices",
    address(url, `Pull request ${number}`, "a.button"),
    button("Forget it", () => app.run("clear_worktree_pr", { worktreeId }), "", { title: "On the hosting service nothing changes" }),
  );
}

/** A link where it is one. @param {string} url @param {string} words @param {"a" | "a.button"} [look] */
function address(url, words, look = "a") {
  const isLink = /^https?:\/\//i.test(url);
  return isLink ? make(look, words, { href: url, target: "_blank", rel: "noopener noreferrer" }) : make("span", words);
}

/**
 * @param {import("./git.js").GitPanel} panel
 * @returns {HTMLFormElement}
 */
export function pullRequestForm(panel) {
  const { id: worktreeId, base, worktree } = panel;
  const key = `spinney-pr-${worktreeId}`;
  const draft = JSON.parse(localStorage.getItem(key) ?? "{}");
  const title = make("input", { value: draft.title ?? "", placeholder: "Left empty, it is written for you" });
  const body = make("textarea", { rows: 6, value: draft.body ?? "", placeholder: "Left empty, it is written for you" });
  const isDraft = make("input", { type: "checkbox", checked: Boolean(draft.isDraft) });
  const told = make("div", { "aria-live": "polite" });
  /** @type {HTMLFormElement} */
  const form = make(
    "form.fields.git-form",
    make("p.form-title", "Pull request"),
    make("p.hint", `${worktree.branch} → ${base}`),
    make("label", "Title", title),
    make("label", "Description", body),
    make("label.check", isDraft, "as a draft"),
    make("div.choices", make("button.primary", "Push and open"), button("Close", () => form.remove())),
    told,
    { "aria-label": "Pull request" },
  );
  form.oninput = () =>
    localStorage.setItem(key, JSON.stringify({ title: title.value, body: body.value, isDraft: isDraft.checked }));
  form.onsubmit = async (event) => {
    event.preventDefault();
    const given = {
      worktreeId,
      draft: isDraft.checked,
      ...(title.value.trim() ? { title: title.value.trim() } : {}),
      ...(body.value.trim() ? { body: body.value.trim() } : {}),
    };
    const words = "Pushing the branch and opening the pull request …";
    const done = await panel.work(words, "open_pull_request", given, { into: told, cancel: false });
    if (!done) return;
    localStorage.removeItem(key);
    panel.tell(["Pull request is open: ", address(done.pr_url, done.pr_url)]);
  };
  return form;
}
