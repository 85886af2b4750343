// @ts-check
// The dialog that begins work on items: a worktree for each, with its progress and errors.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { segmented } from "./form_fields.js";
import { loadStylesheet } from "./stylesheet.js";
import { numberOf } from "./work_items.js";

await loadStylesheet("forms");

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./work_source.js").Entry} Entry
 * @typedef {{ entry: Entry, state: "waiting" | "working" | "done" | "failed", message: string }} Step
 */

/** @type {[string, string][]} */
const MODES = [["plan", "Plan"], ["build", "Build"], ["yolo", "Yolo"]];
const SIGNS = { waiting: ["", "waits"], working: ["", "is created"], done: ["check", "created"], failed: ["warning", "failed"] };
const NOTE = "Each gets its own branch and directory, and its text and comments as context, marked as written by others.";

/**
 * Begin work on items; what was created stays if the dialog is closed meanwhile.
 * @param {App} app @param {Entry[]} entries @param {() => void} [onEnd] after everything was created, or it was closed
 */
export function startWork(app, entries, onEnd = () => {}) {
  /** @type {Step[]} */ const steps = entries.map((entry) => ({ entry, state: "waiting", message: "" }));
  /** @type {any[]} */ const started = [];
  let isStopping = false;
  const title = entries.length === 1 ? `New worktree in ${app.state.projects.get(entries[0].projectId)?.name ?? "the project"}` : "New worktrees";
  const list = make("ol.work-steps", { "aria-live": "polite" });
  const first = segmented("First", [["investigate", "A session investigates"], ["nothing", "Only the worktree"]], "investigate");
  const mode = segmented("Mode", MODES, "plan");
  const begin = button("", () => run(), ".primary");
  const close = button("Cancel", () => dialog.close());
  /** @type {HTMLDialogElement} */
  const dialog = make("dialog.wide-dialog", make("h2", title), make("p.hint", NOTE), list, make("div.fields", labeledGroup("First", first.element), labeledGroup("Mode", mode.element)), make("div.choices", begin, close), { "aria-label": title });

  const draw = () => {
    list.replaceChildren(...steps.map(stepRow));
    const failed = steps.filter((step) => step.state === "failed").length;
    begin.textContent = failed ? "Try again" : entries.length === 1 ? "Create" : `Create ${entries.length}`;
  };
  const run = async () => {
    close.textContent = entries.length > 1 ? "Stop after this one" : "Close";
    for (const step of steps) {
      if (step.state === "done" || isStopping) continue;
      Object.assign(step, { state: "working", message: "" });
      draw();
      const { projectId, item } = step.entry;
      try {
        started.push(await app.connection.call("start_work", { projectId, kind: item.kind, itemId: item.id, investigate: first.value() === "investigate", mode: mode.value() }));
        step.state = "done";
      } catch (error) {
        Object.assign(step, { state: "failed", message: /** @type {Error} */ (error).message });
      }
      draw();
    }
    close.textContent = "Close";
    if (isStopping || steps.every((step) => step.state === "done")) dialog.close();
  };
  draw();
  showDialog(dialog, () => {
    isStopping = true;
    if (started.length === 1 && entries.length === 1) goTo(app, started[0]);
    else if (started.length) app.toast(`${pluralize(started.length, "worktree")} of ${entries.length} created.`);
    onEnd();
  });
}

/** @param {string} label @param {HTMLElement} element */
const labeledGroup = (label, element) => make("div.field", make("span", label, { "aria-hidden": "true" }), element);

/** @param {Step} step */
function stepRow({ entry, state, message }) {
  const [sign, word] = SIGNS[state];
  const mark = state === "working" ? make("span.spinner", { role: "img", "aria-label": word }) : sign ? icon(sign, word) : make("span.dot", "·", { "aria-hidden": "true" });
  return make("li", mark, make("span.grow", make("small", `${numberOf(entry.item)} `), entry.item.title, message && make("p.bad", message)), { "data-state": state });
}

/** @param {App} app @param {any} started the result of `start_work` */
function goTo(app, { worktree, session }) {
  if (session) app.go("session", session.id);
  else app.go("worktree", worktree.id);
}
