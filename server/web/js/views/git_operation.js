// @ts-check
// The banner for a merge, rebase or the like in progress: conflicts, resolving by a session, and aborting.

import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { hashFor } from "../router.js";
import { pluralize } from "../format.js";
import { sessionPicker } from "./session_picker.js";

const MAX_LISTED = 20;

/** @param {import("./git.js").GitPanel} panel */
export function operationBanner(panel) {
  const { app, id: worktreeId } = panel;
  const element = make("div.stopped", { hidden: true, role: "group", "aria-label": "Git operation in progress" });
  const picker = sessionPicker(app, worktreeId);

  const sendTask = async () => {
    const task = await app.run("write_conflict_task", { worktreeId });
    if (task) await picker.send(task.message);
  };
  /** @param {string} operation */
  const abort = async (operation) => {
    const details = "This restores the branch and files. Resolved conflicts are lost.";
    if (!(await confirm(`Abort the ${operation}?`, details, `Abort the ${operation}`, { danger: true }))) return;
    const result = await panel.run(`Aborting the ${operation} …`, "abort_merge", { worktreeId }, { cancel: false });
    if (result) panel.showResult(`Aborted the ${result}.`);
    panel.checkOperation();
  };
  return {
    element,
    draw: picker.draw,
    /** @param {{ operation: string | null, files: { path: string, status: string }[] }} changes on the unstaged side */
    show({ operation, files }) {
      const conflicts = files.filter((file) => file.status === "conflicted").map((file) => file.path);
      const signature = JSON.stringify([operation, conflicts]);
      if (element.dataset.signature === signature) return;
      element.dataset.signature = signature;
      element.hidden = !operation && !conflicts.length;
      const status = conflicts.length ? `stopped with ${pluralize(conflicts.length, "conflict")}` : "is ready to commit";
      const links = conflicts.slice(0, MAX_LISTED).map((file) =>
        make("li", make("a", file, { href: hashFor("diff", worktreeId, { side: "unstaged", file }) })),
      );
      if (conflicts.length > MAX_LISTED) links.push(make("li", `… ${conflicts.length - MAX_LISTED} more`));
      element.replaceChildren(
        make("p.warned", `⚠ The ${operation ?? "merge"} ${status}.`),
        make("ul.paths", links),
        ...(conflicts.length ? [make("div.choices", picker.element, button("Let the session resolve them", sendTask, ".primary"))] : []),
        ...(operation ? [make("div.choices", button(`Abort the ${operation}`, () => abort(operation), ".danger"))] : []),
      );
    },
  };
}
