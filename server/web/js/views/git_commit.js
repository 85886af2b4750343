// @ts-check
// The commit form: what to commit, and the message: proposed, typed, or written by an agent.

import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { nameOf } from "../session/attachments.js";

/** @param {number} count */
const countFiles = (count) => pluralize(count, "file");

/**
 * @param {import("./git.js").GitPanel} panel
 * @returns {Promise<HTMLFormElement | undefined>} `undefined` if there is nothing to commit
 */
export async function commitForm(panel) {
  const { app, id: worktreeId } = panel;
  const unstaged = await app.run("list_changed_files", { worktreeId });
  const staged = unstaged && (await app.run("list_changed_files", { worktreeId, side: "staged" }));
  if (!staged) return undefined;
  const isMerge = Boolean(unstaged.operation);
  if (!unstaged.files.length && !staged.files.length && !isMerge) {
    app.toast("There is nothing to commit.");
    return undefined;
  }
  const files = new Map([...unstaged.files, ...staged.files].map((file) => [file.path, file]));
  const all = option(`All changes: ${countFiles(files.size)}`, staged.files.length === 0 && !isMerge);
  const stagedOnly = option(`Staged changes: ${countFiles(staged.files.length)}`, staged.files.length > 0 || isMerge);
  const stageAll = () => all.input.checked;
  const key = `spinney-commit-${worktreeId}`;
  const message = make("textarea", { rows: 4, placeholder: "Commit message", "aria-label": "Commit message" });
  const propose = () => describe(stageAll() ? [...files.values()] : staged.files);
  let proposed = unstaged.message || propose();
  message.value = localStorage.getItem(key) || proposed;
  const saveDraft = () => (message.value && message.value !== proposed ? localStorage.setItem(key, message.value) : localStorage.removeItem(key));
  message.addEventListener("input", saveDraft);
  message.addEventListener("focus", () => message.value === proposed && message.select()); // so that typing replaces it
  const proposeAgain = () => {
    const isProposed = message.value === proposed;
    if (!unstaged.message) proposed = propose();
    if (isProposed) message.value = proposed;
  };
  for (const { input } of [all, stagedOnly]) input.addEventListener("change", proposeAgain);
  const status = make("div", { "aria-live": "polite" });

  const writeMessage = async () => {
    const text = "The agent is writing the message …";
    const response = await panel.run(text, "write_commit_message", { worktreeId, stageAll: stageAll() }, { into: status });
    if (!response) return;
    message.value = response.message;
    saveDraft();
    message.focus();
  };
  /** @param {boolean} isPushed whether it is pushed as well */
  const commit = async (isPushed) => {
    const text = message.value.trim();
    if (!text) {
      status.replaceChildren(make("p.bad", "Enter a commit message, or let the agent write it.", { role: "alert" }));
      message.focus();
      return;
    }
    const args = { worktreeId, message: text, stageAll: stageAll() };
    const result = await panel.run("Committing …", "commit_changes", args, { into: status });
    if (!result) return;
    localStorage.removeItem(key);
    if (isPushed) await panel.push(`Committed as ${result.commit_sha.slice(0, 10)}. `);
    else showCommitted(panel, result);
  };
  const hasChoice = unstaged.files.length > 0 && staged.files.length > 0;
  const submit = make("button.primary", icon("commit"), "Commit");
  /** @type {HTMLFormElement} */
  const form = make(
    "form.fields.git-form",
    hasChoice
      ? make("fieldset", make("legend.hint", "What to commit"), all.element, stagedOnly.element)
      : make("p.hint", stageAll() ? `All changes: ${countFiles(files.size)}` : `Staged changes: ${countFiles(staged.files.length)}`),
    message,
    button([icon("agent"), "Write with agent"], writeMessage, ".quiet.write"),
    status,
    make(
      "div.choices",
      submit,
      button([icon("push"), "Commit and push"], () => commit(true)),
      button("Close", () => panel.hide(), ".quiet"),
    ),
    { "aria-label": "Commit" },
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (submit.disabled) return; // pressed twice
    submit.disabled = true;
    await commit(false);
    submit.disabled = false;
  });
  message.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  return form;
}

/** Show a commit, and what follows it. @param {import("./git.js").GitPanel} panel @param {{ commit_sha: string }} result */
export function showCommitted(panel, result) {
  panel.showResult(`Committed as ${result.commit_sha.slice(0, 10)}.`, "", {
    actions: [button([icon("push"), "Push"], () => panel.push(), ".primary")],
  });
}

/** A message for changed files that is true, if not wise. @param {{ path: string, status: string }[]} files */
function describe(files) {
  const [first, second] = files;
  if (!first) return "";
  const isAll = (/** @type {string[]} */ ...statuses) => files.every((file) => statuses.includes(file.status));
  const verb = isAll("added", "untracked") ? "Add" : isAll("deleted") ? "Remove" : "Update";
  if (files.length === 1) return `${verb} ${nameOf(first.path)}`;
  if (files.length === 2) return `${verb} ${nameOf(first.path)} and ${nameOf(second.path)}`;
  return `${verb} ${nameOf(first.path)} and ${files.length - 1} other files`;
}

/** @param {string} text @param {boolean} checked */
function option(text, checked) {
  const input = make("input", { type: "radio", name: "commit-what", checked });
  return { input, element: make("label.check", input, text) };
}
