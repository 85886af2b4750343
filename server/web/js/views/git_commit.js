// @ts-check
// The form that commits: what goes in, the message, and an agent that writes it if one likes.

import { button, make } from "../dom.js";
import { counted } from "../words.js";

/** @param {number} count */
const files = (count) => counted(count, "file");

/**
 * @param {import("./git.js").GitPanel} panel
 * @returns {Promise<HTMLFormElement | undefined>} nothing where nothing can be committed
 */
export async function commitForm(panel) {
  const { app, id: worktreeId } = panel;
  const unstaged = await app.run("list_changed_files", { worktreeId });
  const staged = unstaged && (await app.run("list_changed_files", { worktreeId, side: "staged" }));
  if (!staged) return undefined;
  const isMerge = Boolean(unstaged.operation);
  if (!unstaged.files.length && !staged.files.length && !isMerge) {
    panel.tell("There is nothing to commit.");
    return undefined;
  }
  const every = new Set([...unstaged.files, ...staged.files].map((file) => file.path));
  const hasChoice = unstaged.files.length > 0 && staged.files.length > 0;
  const all = option(`All changes: ${files(every.size)}`, staged.files.length === 0 && !isMerge);
  const some = option(`What is staged: ${files(staged.files.length)}`, staged.files.length > 0 || isMerge);
  const key = `spinney-commit-${worktreeId}`;
  const message = make("textarea", { rows: 5, placeholder: "What the commit does", "aria-label": "Commit message" });
  message.value = localStorage.getItem(key) || unstaged.message || "";
  const keep = () => (message.value ? localStorage.setItem(key, message.value) : localStorage.removeItem(key));
  message.oninput = keep;
  const told = make("div", { "aria-live": "polite" });

  const stageAll = () => all.input.checked;
  const write = async () => {
    const words = "The agent reads the changes and writes …";
    const written = await panel.work(words, "write_commit_message", { worktreeId, stageAll: stageAll() }, { into: told });
    if (!written) return;
    message.value = written.message;
    keep();
    message.focus();
  };
  /** @type {HTMLFormElement} */
  const form = make(
    "form.fields.git-form",
    make("p.form-title", "Commit"),
    hasChoice
      ? make("fieldset", make("legend.hint", "What goes in"), all.element, some.element)
      : make("p.hint", stageAll() ? `All changes: ${files(every.size)}` : `What is staged: ${files(staged.files.length)}`),
    message,
    make("div.choices", make("button.primary", "Commit"), button("Let the agent write", write), button("Close", () => form.remove())),
    told,
    { "aria-label": "Commit" },
  );
  form.onsubmit = async (event) => {
    event.preventDefault();
    const words = message.value.trim();
    if (!words) {
      told.replaceChildren(make("p.bad", "Write what the commit does first, or let the agent write it.", { role: "alert" }));
      message.focus();
      return;
    }
    const given = { worktreeId, message: words, stageAll: stageAll() };
    const done = await panel.work("Committing …", "commit_changes", given, { into: told });
    if (!done) return;
    localStorage.removeItem(key);
    panel.tell(`Committed as ${done.commit_sha.slice(0, 10)}.`);
  };
  message.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  };
  return form;
}

/** @param {string} words @param {boolean} checked */
function option(words, checked) {
  const input = make("input", { type: "radio", name: "commit-what", checked });
  return { input, element: make("label.check", input, words) };
}
