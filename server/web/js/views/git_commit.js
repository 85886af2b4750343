// @ts-check
// The commit form: what to commit, and the message, which an agent can write.

import { button, make } from "../dom.js";
import { pluralize } from "../format.js";

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
    panel.showResult("There is nothing to commit.");
    return undefined;
  }
  const paths = new Set([...unstaged.files, ...staged.files].map((file) => file.path));
  const hasChoice = unstaged.files.length > 0 && staged.files.length > 0;
  const all = option(`All changes: ${countFiles(paths.size)}`, staged.files.length === 0 && !isMerge);
  const stagedOnly = option(`Staged changes: ${countFiles(staged.files.length)}`, staged.files.length > 0 || isMerge);
  const key = `spinney-commit-${worktreeId}`;
  const message = make("textarea", { rows: 5, placeholder: "Commit message", "aria-label": "Commit message" });
  message.value = localStorage.getItem(key) || unstaged.message || "";
  const saveDraft = () => (message.value ? localStorage.setItem(key, message.value) : localStorage.removeItem(key));
  message.oninput = saveDraft;
  const status = make("div", { "aria-live": "polite" });

  const stageAll = () => all.input.checked;
  const writeMessage = async () => {
    const text = "The agent is writing the message …";
    const response = await panel.run(text, "write_commit_message", { worktreeId, stageAll: stageAll() }, { into: status });
    if (!response) return;
    message.value = response.message;
    saveDraft();
    message.focus();
  };
  /** @type {HTMLFormElement} */
  const form = make(
    "form.fields.git-form",
    make("p.form-title", "Commit"),
    hasChoice
      ? make("fieldset", make("legend.hint", "What to commit"), all.element, stagedOnly.element)
      : make("p.hint", stageAll() ? `All changes: ${countFiles(paths.size)}` : `Staged changes: ${countFiles(staged.files.length)}`),
    message,
    make("div.choices", make("button.primary", "Commit"), button("Write with agent", writeMessage), button("Close", () => form.remove())),
    status,
    { "aria-label": "Commit" },
  );
  form.onsubmit = async (event) => {
    event.preventDefault();
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
    panel.showResult(`Committed as ${result.commit_sha.slice(0, 10)}.`);
  };
  message.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  };
  return form;
}

/** @param {string} text @param {boolean} checked */
function option(text, checked) {
  const input = make("input", { type: "radio", name: "commit-what", checked });
  return { input, element: make("label.check", input, text) };
}
