// @ts-check
// The dialog that brings a worktree into its base branch: what it would do, the method, the message, and what becomes of
// the worktree. A refusal is shown in place, with the next step.

import { showDialog } from "../dialogs.js";
import { button, make, patchChildren } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { labeled, segmented, select } from "./form_fields.js";
import { moveOntoNewBase, openBaseChanges, startTrainOf } from "./landing_base.js";
import { sendProblem, showCheck } from "./landing_check.js";
import { pushBase, undoLanding } from "./landing_history.js";
import { AFTER, METHODS } from "./landing_types.js";
import { checkText } from "./landing_words.js";
import { loadStylesheet } from "./stylesheet.js";

await Promise.all([loadStylesheet("git"), loadStylesheet("landing")]);

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./landing_types.js").MergeMethod} MergeMethod
 *
 * @typedef {object} Preview the result of `preview_landing`
 * @property {string} base
 * @property {string} base_commit
 * @property {string} head_commit
 * @property {MergeMethod} method
 * @property {number} commits
 * @property {number} files
 * @property {number} added
 * @property {number} removed
 * @property {string[]} conflicts
 * @property {string} message
 * @property {import("./landing_types.js").CheckResult} check
 * @property {string[]} marked_files
 * @property {string[]} warnings
 * @property {boolean} offers_stash whether changes in the checkout of the base are stashed for the landing
 * @property {boolean} offers_train whether a train of it alone checks more
 * @property {string} new_base onto which it has to be moved first
 * @property {boolean} held_by_check whether the check alone stands against it
 * @property {string | null} checked_out_in
 * @property {import("./landing_types.js").AfterLanding} after
 * @property {string} problem
 */

const MAX_FILES = 8; // conflicts that are listed

/** @param {App} app @param {string} worktreeId */
export async function landingForm(app, worktreeId) {
  const preview = await app.run("preview_landing", { worktreeId });
  if (preview) new LandingForm(app, worktreeId, preview).open();
}

class LandingForm {
  /** Whether the message was typed, and stays when the method changes. */ #isTyped = false;

  /** @param {App} app @param {string} worktreeId @param {Preview} preview */
  constructor(app, worktreeId, preview) {
    this.app = app;
    this.id = worktreeId;
    this.preview = preview;
    this.draftKey = `spinney-landing-${worktreeId}`;
    this.name = app.state.worktrees.get(worktreeId)?.name ?? "the worktree";
    this.facts = make("p");
    this.problem = make("div.landing-problem", { role: "status" });
    this.message = make("textarea", { rows: 5, "aria-label": "Message of the commit", oninput: () => this.#saveDraft() });
    this.write = button([icon("agent"), "Write with agent"], () => this.#write(), ".quiet.write");
    this.messagePart = make("div.field", make("span", "Message"), this.message, this.write);
    this.method = segmented("Method", METHODS, preview.method, () => this.look());
    this.after = select("Afterwards", AFTER);
    this.after.value = preview.after;
    this.remote = make("input", { type: "checkbox" });
    this.remoteLabel = make("label.check", this.remote, "Delete its branch on the remote, too");
    this.after.addEventListener("change", () => (this.remoteLabel.hidden = this.after.value !== "delete"));
    this.remoteLabel.hidden = preview.after !== "delete";
    this.force = make("input", { type: "checkbox", onchange: () => this.#draw() });
    this.forceLabel = make("label.check", this.force, "Land although the check is not green");
    this.stash = make("input", { type: "checkbox", onchange: () => this.#draw() });
    this.stashLabel = make("label.check", this.stash, "Stash those changes, land, and bring them back");
    this.status = make("div", { "aria-live": "polite" });
    this.submit = make("button.primary", icon("merge"), `Land on ${preview.base}`);
    this.form = make(
      "form.fields.git-form",
      this.facts,
      this.problem,
      make("div.field", make("span", "Method"), this.method.element),
      this.messagePart,
      labeled("Afterwards", this.after),
      this.remoteLabel,
      this.forceLabel,
      this.stashLabel,
      this.status,
      make("div.choices", this.submit, button("Close", () => this.dialog.close(), ".quiet")),
      { "aria-label": "Land" },
    );
    this.form.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      if (!this.submit.disabled) this.#land();
    });
    this.message.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.form.requestSubmit();
    });
    const title = `Land ${this.name}`;
    this.dialog = make("dialog.git-sheet", make("h2", title), this.form, { "aria-label": title });
    const draft = localStorage.getItem(this.draftKey);
    this.#isTyped = draft !== null;
    this.message.value = draft ?? preview.message;
    this.#draw();
  }

  open() {
    showDialog(this.dialog);
    if (!this.submit.disabled) this.submit.focus();
  }

  /** Look again what landing would do. */
  async look() {
    this.submit.disabled = true;
    this.facts.textContent = "Looking …";
    try {
      this.preview = await this.app.connection.call("preview_landing", { worktreeId: this.id, method: this.method.value() });
      if (!this.#isTyped) this.#propose();
      this.#draw();
    } catch (error) {
      this.#refuse(/** @type {Error} */ (error).message);
    }
  }

  /** Whether only the check keeps it from landing, which can be overridden. */
  get #isOnlyCheck() {
    return this.preview.held_by_check;
  }

  #draw() {
    const { base, head_commit: head, commits, files, added, removed, check, conflicts, marked_files: marked, checked_out_in: place, problem } = this.preview;
    this.facts.replaceChildren(
      // Nothing is counted of a branch that is not ready.
      ...(head ? [`${pluralize(commits, "commit")}, ${pluralize(files, "file")} `, make("ins", `+${added}`), " ", make("del", `−${removed}`), ` into '${base}'.`] : [`Into '${base}'.`]),
      place ? ` '${base}' is checked out in ${place}, which follows if it is clean.` : "",
    );
    this.messagePart.hidden = this.method.value() === "rebase";
    this.forceLabel.hidden = !this.#isOnlyCheck || check.status === "running";
    this.stashLabel.hidden = !this.preview.offers_stash;
    const isForced = (this.#isOnlyCheck && this.force.checked) || (this.preview.offers_stash && this.stash.checked);
    const warnings = [...(marked.length ? [`Adds conflict markers to ${marked.slice(0, MAX_FILES).join(", ")}.`] : []), ...this.preview.warnings];
    this.problem.hidden = !problem && !check.has_script && !warnings.length;
    patchChildren(this.problem, [
      ...(problem && !isForced ? [make("p.bad", problem)] : []),
      ...warnings.map((warning) => make("p.warned", icon("warning"), warning)),
      ...(conflicts.length ? [make("ul.paths", [...conflicts.slice(0, MAX_FILES), ...(conflicts.length > MAX_FILES ? [`… ${conflicts.length - MAX_FILES} more`] : [])].map((path) => make("li.path", path)))] : []),
      ...(check.has_script ? [make("p.hint", `${checkText(check)}.`.replace(/^./, (first) => first.toUpperCase()))] : []),
      make("div.choices", this.#remedies()),
    ]);
    this.submit.disabled = Boolean(problem) && !isForced;
    this.status.replaceChildren();
  }

  /** The buttons for what is in the way. */
  #remedies() {
    const { check, conflicts } = this.preview;
    const leave = (/** @type {() => unknown} */ go) => () => (this.dialog.close(), go());
    const isGreen = check.status === "passed" && !check.is_stale;
    return [
      conflicts.length > 0 && button([icon("agent"), "Send the conflict to a session…"], leave(() => sendProblem(this.app, this.id))),
      check.has_script && !isGreen && check.status !== "running" && button([icon("play"), "Run the check"], leave(() => showCheck(this.app, this.id, { runs: true, land: () => landingForm(this.app, this.id) }))),
      this.preview.offers_train && button([icon("merge"), `Check it on ${this.preview.base}`], leave(() => startTrainOf(this.app, this.id)), "", { title: "As a train of this worktree alone" }),
      this.preview.new_base && button([icon("merge"), `Move it onto ${this.preview.new_base}…`], leave(() => moveOntoNewBase(this.app, this.id, this.preview.base, this.preview.new_base))),
      this.preview.offers_stash && button([icon("diff"), "Open those changes"], leave(() => openBaseChanges(this.app, this.id, this.preview.base))),
      check.has_script && check.status !== "none" && button("Output of the check", leave(() => showCheck(this.app, this.id))),
    ];
  }

  /** Put the proposed message into its box; what was selected to be replaced stays selected. */
  #propose() {
    const { message } = this;
    const isSelected = message === document.activeElement && message.selectionStart === 0 && message.selectionEnd === message.value.length;
    message.value = this.preview.message;
    if (isSelected) message.select();
  }

  #saveDraft() {
    this.#isTyped = this.message.value !== this.preview.message;
    if (this.#isTyped) localStorage.setItem(this.draftKey, this.message.value);
    else localStorage.removeItem(this.draftKey);
  }

  async #write() {
    this.status.replaceChildren(progress("The agent is writing the message …"));
    try {
      const written = await this.app.connection.call("write_landing_text", { worktreeId: this.id });
      this.message.value = written.message;
      this.#saveDraft();
      this.status.replaceChildren();
      this.message.focus();
    } catch (error) {
      this.#refuse(/** @type {Error} */ (error).message);
    }
  }

  async #land() {
    const method = this.method.value();
    const after = this.after.value;
    this.submit.disabled = true;
    this.status.replaceChildren(progress(`Landing on '${this.preview.base}' …`));
    try {
      const landing = await this.app.connection.call("land_worktree", {
        worktreeId: this.id,
        baseCommit: this.preview.base_commit,
        method,
        after,
        ...(method !== "rebase" && this.message.value.trim() ? { message: this.message.value.trim() } : {}),
        deleteRemoteBranch: after === "delete" && this.remote.checked,
        ignoreCheck: this.#isOnlyCheck && this.force.checked,
        stashBase: this.preview.offers_stash && this.stash.checked,
      });
      localStorage.removeItem(this.draftKey);
      showLanded(this.app, this.dialog, landing, this.name);
    } catch (error) {
      this.#refuse(/** @type {Error} */ (error).message);
    }
  }

  /** Show why something failed, and how to go on. @param {string} message */
  #refuse(message) {
    this.submit.disabled = false;
    if (!this.dialog.open) this.app.toast(message, { bad: true });
    else this.status.replaceChildren(make("p.bad", message, { role: "alert" }), make("div.choices", button([icon("refresh"), "Look again"], () => this.look())));
  }
}

/** @param {string} text */
const progress = (text) => make("p.progress", make("span.spinner", { "aria-hidden": "true" }), text, { role: "status" });

/**
 * Show what has landed in the dialog that did it, with undo and push; as a notice if it was closed meanwhile.
 * @param {App} app @param {HTMLDialogElement} dialog @param {import("./landing_types.js").Landing & { project_id: string }} landing @param {string} name of what landed
 */
export function showLanded(app, dialog, landing, name) {
  const text = `${name} landed on '${landing.base}', now at ${landing.after.slice(0, 10)}.`;
  const undo = () => undoLanding(app, landing.id);
  if (!dialog.open) return app.toast([text, ...landing.notes].join(" "), { isValid: () => true, action: ["Undo", undo] });
  const done = make("p.done", icon("check"), make("span", text), { role: "status" });
  const close = button("Close", () => dialog.close(), ".primary");
  dialog.replaceChildren(
    make("h2", "Landed"),
    make(
      "div",
      done,
      landing.notes.map((note) => make("p.hint", note)),
      make(
        "div.choices",
        close,
        button([icon("push"), `Push ${landing.base}`], () => (dialog.close(), pushBase(app, landing.project_id, landing.base))),
        button([icon("undo"), "Undo"], () => (dialog.close(), undo())),
      ),
    ),
  );
  dialog.ariaLabel = "Landed";
  close.focus();
  return undefined;
}
