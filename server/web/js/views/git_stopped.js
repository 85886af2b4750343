// @ts-check
// A merge, rebase or the like that stopped in the middle: which files, who resolves it, or give it up.

import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { hashOf } from "../router.js";
import { counted } from "../words.js";
import { sessionChoice } from "./session_choice.js";

const MOST_LISTED = 20;

/** @param {import("./git.js").GitPanel} panel */
export function stoppedBanner(panel) {
  const { app, id: worktreeId } = panel;
  const element = make("div.stopped", { hidden: true, role: "group", "aria-label": "What stopped in the middle" });
  const choice = sessionChoice(app, worktreeId);

  const give = async () => {
    const task = await app.run("write_conflict_task", { worktreeId });
    if (task) await choice.send(task.message);
  };
  /** @param {string} operation */
  const abort = async (operation) => {
    const told = "Branch and files become as they were before it; conflicts that were solved already are lost.";
    if (!(await confirm(`Give up the ${operation}?`, told, `Abort the ${operation}`, { danger: true }))) return;
    const done = await panel.work(`Giving up the ${operation} …`, "abort_merge", { worktreeId }, { cancel: false });
    if (done) panel.tell(`The ${done} is given up.`);
    panel.look();
  };
  return {
    element,
    draw: choice.draw,
    /** @param {{ operation: string | null, files: { path: string, status: string }[] }} changes of what is not staged */
    show({ operation, files }) {
      const left = files.filter((file) => file.status === "conflicted").map((file) => file.path);
      const shown = JSON.stringify([operation, left]);
      if (element.dataset.shown === shown) return;
      element.dataset.shown = shown;
      element.hidden = !operation && !left.length;
      const waits = left.length ? `stopped: ${counted(left.length, "conflict")}` : "waits for its commit";
      const links = left.slice(0, MOST_LISTED).map((file) =>
        make("li", make("a", file, { href: hashOf("diff", worktreeId, { side: "unstaged", file }) })),
      );
      if (left.length > MOST_LISTED) links.push(make("li", `… ${left.length - MOST_LISTED} more`));
      element.replaceChildren(
        make("p.warned", `⚠ The ${operation ?? "merge"} ${waits}.`),
        make("ul.paths", links),
        ...(left.length ? [make("div.choices", choice.element, button("Let the session resolve it", give, ".primary"))] : []),
        ...(operation ? [make("div.choices", button(`Abort the ${operation}`, () => abort(operation), ".danger"))] : []),
      );
    },
  };
}
