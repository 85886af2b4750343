// @ts-check
// The check of a worktree: what it runs, its output, how to run it; and a message to a session about what keeps the
// worktree from landing.

import { ask, showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { sessionPicker } from "./session_picker.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("git");

/** @typedef {import("../app.js").App} App */

/** Show the check of a worktree: what it runs, its output, and how to run it. @param {App} app @param {string} id @param {{ runs?: boolean, land?: () => unknown }} [options] `runs`: start it, if it is trusted; `land`: what is offered once it has passed */
export async function showCheck(app, id, { runs = false, land } = {}) {
  const worktree = app.state.worktrees.get(id);
  if (!worktree) return;
  const [scripts, { ScriptCard }] = await Promise.all([app.run("get_project_scripts", { projectId: worktree.project_id, worktreeId: id }), import("./scripts.js")]);
  if (!scripts) return;
  const script = scripts.find((/** @type {any} */ each) => each.name === "check");
  const title = `Check of ${worktree.name}`;
  const dialog = make("dialog.git-sheet", make("h2", title), { "aria-label": title });
  if (!script) return showMissingCheck(app, worktree.project_id, dialog);
  const card = new ScriptCard(app, id, worktree.project_id, script, { opensOutput: true, onTrust: () => (dialog.close(), showCheck(app, id, { runs, land })) });
  const send = button([icon("agent"), "Send the problem to a session…"], () => (dialog.close(), sendProblem(app, id)), "", { hidden: true });
  const landing = button([icon("merge"), "Land…"], () => (dialog.close(), land?.()), ".primary", { hidden: true });
  card.onState = (status) => {
    send.hidden = status !== "failed";
    landing.hidden = status !== "completed" || !land;
  };
  dialog.append(card.element, make("div.choices", landing, send, button("Close", () => dialog.close(), ".quiet")));
  showDialog(dialog, () => card.close());
  if (runs && script.trusted) await card.run();
  else await card.follow();
}

/** @param {App} app @param {string} projectId @param {HTMLDialogElement} dialog */
function showMissingCheck(app, projectId, dialog) {
  const add = async () => {
    dialog.close();
    const project = app.state.projects.get(projectId);
    const { editScripts } = await import("./project_actions.js");
    if (project) await editScripts(app, project);
  };
  dialog.append(
    make("p", "This repository has no check script: the command that says whether a branch is good, such as its tests."),
    make("div.choices", button("Add one", add, ".primary"), button("Close", () => dialog.close(), ".quiet")),
  );
  showDialog(dialog);
}

/** Send what keeps a worktree from landing to one of its sessions; the text can be changed before. @param {App} app @param {string} id */
export async function sendProblem(app, id) {
  const written = await app.run("write_landing_message", { worktreeId: id });
  if (!written) return;
  const picker = sessionPicker(app, id);
  const worktree = app.state.worktrees.get(id);
  await ask(`Send to a session of ${worktree?.name ?? "the worktree"}`, {
    label: "Send",
    value: written.message,
    rows: 10,
    more: [make("label.fields", make("span.hint", "Session"), picker.element), make("p.hint", make("a", "See the conflicts to come", { href: hashFor("conflicts", worktree?.project_id ?? "", { worktree: id }) }))],
    submit: async (message) => {
      if (!message.trim()) throw new Error("Enter what the session should do.");
      if (!(await picker.send(message.trim()))) throw new Error("The session could not be created. Choose another one.");
    },
  });
}
