// @ts-check
// The banner for a merge, rebase or the like in progress: choices for each conflict, resolving by a session, finishing,
// and aborting.

import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { pluralize } from "../format.js";
import { showCommitted } from "./git_commit.js";
import { describeRecovery } from "./recovery_points.js";
import { sessionPicker } from "./session_picker.js";

const MAX_LISTED = 20;

/** @type {[choice: string, label: string, title: string][]} */
const CHOICES = [
  ["ours", "Ours", "Keep this branch's version"],
  ["theirs", "Theirs", "Take the other version"],
  ["both", "Both", "Keep both, ours first"],
];

/** @param {import("./git.js").GitPanel} panel */
export function operationBanner(panel) {
  const { app, id: worktreeId } = panel;
  const element = make("div.stopped", { hidden: true, role: "group", "aria-label": "Git operation in progress" });
  const picker = sessionPicker(app, worktreeId);

  const sendTask = async () => {
    const task = await app.run("write_conflict_task", { worktreeId });
    if (task) await picker.send(task.message, "resolve_conflicts");
  };
  /** @param {string} path @param {string} choice */
  const resolve = async (path, choice) => {
    const replaced = await app.run("resolve_conflict", { worktreeId, path, choice });
    const undo = async () => {
      const restored = await app.run("undo_discard", { worktreeId, discardId: replaced.id });
      if (restored?.conflicted) app.toast(`The conflict in '${path}' is back.`);
      panel.checkOperation();
      panel.onChange();
    };
    // Once the merge is finished or aborted, or another worktree is shown, there is nothing to undo here.
    if (replaced) app.toast(`Resolved '${path}'.`, { isValid: () => element.isConnected && !element.hidden, action: ["Undo", undo] });
    panel.checkOperation();
    panel.onChange();
  };
  /** @param {string} operation */
  const finish = async (operation) => {
    const result = await panel.run(`Finishing the ${operation} …`, "continue_operation", { worktreeId });
    if (result) showCommitted(panel, result);
    panel.checkOperation();
  };
  /** @param {string} operation */
  const abort = async (operation) => {
    const details = `This restores the branch and files. ${describeRecovery(app, "What was resolved")}`;
    if (!(await confirm(`Abort the ${operation}?`, details, `Abort the ${operation}`, { danger: true }))) return;
    const result = await panel.run(`Aborting the ${operation} …`, "abort_merge", { worktreeId }, { cancel: false });
    if (result) panel.showResult(`Aborted the ${result}.`);
    panel.checkOperation();
  };
  /** @param {string} file */
  const conflict = (file) =>
    make(
      "li",
      make("a", file, { href: hashFor("diff", worktreeId, { side: "unstaged", file }) }),
      make("span.choices", CHOICES.map(([choice, label, title]) => button(label, () => resolve(file, choice), "", { title, "aria-label": `${label}: ${file}` }))),
    );
  return {
    element,
    draw: picker.draw,
    finish,
    /** Go to the first conflict. */
    focus: () => /** @type {HTMLElement | null} */ (element.querySelector("a, button"))?.focus(),
    /** @param {{ operation: string | null, files: { path: string, status: string }[] }} changes on the unstaged side */
    show({ operation, files }) {
      const conflicts = files.filter((file) => file.status === "conflicted").map((file) => file.path);
      const signature = JSON.stringify([operation, conflicts]);
      if (element.dataset.signature === signature) return;
      element.dataset.signature = signature;
      element.hidden = !operation && !conflicts.length;
      const status = conflicts.length ? `stopped with ${pluralize(conflicts.length, "conflict")}` : "is ready to commit";
      const items = conflicts.slice(0, MAX_LISTED).map(conflict);
      if (conflicts.length > MAX_LISTED) items.push(make("li", `… ${conflicts.length - MAX_LISTED} more`));
      const isReady = Boolean(operation) && !conflicts.length;
      element.replaceChildren(
        make("p.warned", icon("warning"), `The ${operation ?? "merge"} ${status}.`),
        make("ul.paths", items),
        ...(conflicts.length ? [make("div.choices", picker.element, button([icon("agent"), "Let the session resolve them"], sendTask))] : []),
        make(
          "div.choices",
          isReady && button(`Finish the ${operation}`, () => finish(operation ?? "")),
          operation && button(`Abort the ${operation}`, () => abort(operation), ".danger"),
        ),
      );
    },
  };
}
