// @ts-check
// Git actions for a worktree: commit, pull, push and pull request, in a sheet with progress, result and cancellation.
// A commit ends in Push, a push in Pull request. Used by the worktree view, the diff view and the cards of sessions.

import { runSoon } from "../coalesce.js";
import { showDialog } from "../dialogs.js";
import { button, make, patchChildren } from "../dom.js";
import { icon } from "../icons.js";
import { pluralize } from "../format.js";
import { commitForm } from "./git_commit.js";
import { pullRequestForm, pullRequestLink } from "./git_pull_request.js";
import { operationBanner } from "./git_operation.js";
import { callAfterSecrets } from "./secrets_found.js";
import { loadStylesheet } from "./stylesheet.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

await loadStylesheet("git");

/** The git actions of a worktree. */
export class GitPanel {
  #busy = false;
  /** @type {HTMLDialogElement | null} */ #sheet = null;

  /**
   * @param {App} app
   * @param {string} worktreeId
   * @param {() => unknown} onChange called after an action
   */
  constructor(app, worktreeId, onChange) {
    this.app = app;
    this.id = worktreeId;
    this.onChange = onChange;
    this.actions = make("div.choices");
    this.resultArea = make("div.git-result", { "aria-live": "polite" });
    this.operation = operationBanner(this);
    this.draw();
  }

  /** @returns {Resource} */
  get worktree() {
    return this.app.state.worktrees.get(this.id) ?? { id: this.id };
  }

  /** The name of the base branch, without the remote. */
  get base() {
    const { base_branch: ownBase, project_id: id } = this.worktree;
    return (ownBase ?? this.app.state.projects.get(id)?.default_branch ?? "main").replace(/^origin\//, "");
  }

  /** Update for a changed worktree. */
  draw() {
    const { base, worktree } = this;
    this.operation.draw();
    const signature = `${base} ${worktree.pr_url} ${worktree.pr_number}`;
    if (this.actions.dataset.signature === signature) return;
    this.actions.dataset.signature = signature;
    patchChildren(this.actions, [
      button([icon("commit"), "Commit"], () => this.commit()),
      button([icon("push"), "Push"], () => this.push()),
      button([icon("pull"), `Pull ${base}`], () => this.update()),
      worktree.pr_url ? pullRequestLink(this) : button([icon("pull-request"), "Pull request"], () => this.pullRequest()),
    ]);
  }

  /** Check soon whether a merge, rebase or the like is in progress. */
  checkOperation = runSoon(async () => {
    const changes = await this.app.connection.call("list_changed_files", { worktreeId: this.id }).catch(() => null);
    if (changes) this.operation.show(changes);
  }, 300);

  close() {
    this.checkOperation.cancel();
  }

  // Actions ----------------------------------------------------------------------------------------

  async commit() {
    if (!this.#checkIdle()) return;
    const form = await commitForm(this);
    if (form) this.show("Commit", form);
  }

  pullRequest() {
    if (this.#checkIdle()) this.show("Pull request", pullRequestForm(this));
  }

  /** @param {string} [before] a sentence about what was done before */
  async push(before = "") {
    const { path, branch } = this.worktree;
    const result = await this.run(`${before}Pushing '${branch}' …`, "git_push", { worktreePath: path }, { before });
    if (!result) return;
    if (result.success) this.showResult(`${before}Pushed.`, result.output, { actions: this.#afterPush() });
    else {
      const isBehind = /\[rejected\]|fetch first/.test(result.output);
      const pullAndPush = async () => (await this.pull(branch)) && this.push();
      this.showResult(`${before}Push failed.`, result.output || "Git gave no reason.", {
        bad: true,
        actions: isBehind ? [button("Pull and push again", pullAndPush, ".primary")] : [],
      });
    }
  }

  /** What follows a push. */
  #afterPush() {
    if (this.worktree.pr_url) return [pullRequestLink(this)];
    return [button([icon("pull-request"), "Pull request"], () => this.pullRequest(), ".primary")];
  }

  /** Pull a branch of the remote. @param {string} branch @returns {Promise<boolean>} whether it succeeded */
  async pull(branch) {
    return this.#pulled(branch, "git_pull", { worktreePath: this.worktree.path, baseBranch: branch });
  }

  /** Bring what is new in the base into the worktree, from here and from its remote. */
  async update() {
    return this.#pulled(this.base, "update_from_base", { worktreeId: this.id });
  }

  /** @param {string} branch @param {string} command @param {Record<string, unknown>} args @returns {Promise<boolean>} whether it succeeded */
  async #pulled(branch, command, args) {
    const result = await this.run(`Pulling '${branch}' …`, command, args);
    if (!result) return false;
    if (result.success) this.showResult(`Pulled '${branch}'.`, result.output);
    else await this.#showFailedPull(result.output || "Git gave no reason.");
    return result.success;
  }

  /** @param {string} output */
  async #showFailedPull(output) {
    this.checkOperation();
    const changes = await this.app.connection.call("list_changed_files", { worktreeId: this.id }).catch(() => null);
    const conflicts = (changes?.files ?? []).filter((/** @type {Resource} */ { status }) => status === "conflicted");
    if (!conflicts.length) return this.showResult("Pull failed.", output, { bad: true });
    const resolve = () => {
      this.hide();
      this.app.go("diff", this.id);
    };
    return this.showResult(`Pull stopped at ${pluralize(conflicts.length, "conflict")}.`, output, { bad: true, actions: [button("Resolve", resolve, ".primary")] });
  }

  // Progress and results ---------------------------------------------------------------------------

  /** Show something in the sheet. @param {string} title @param {...HTMLElement} parts */
  show(title, ...parts) {
    this.resultArea.replaceChildren(...parts);
    if (this.#sheet) {
      const heading = /** @type {HTMLElement} */ (this.#sheet.firstElementChild);
      heading.textContent = this.#sheet.ariaLabel = title;
    } else {
      this.#sheet = make("dialog.git-sheet", make("h2", title), this.resultArea, { "aria-label": title });
      showDialog(this.#sheet, () => (this.#sheet = null));
    }
    /** @type {HTMLElement | null} */ (this.resultArea.querySelector("textarea, input:not([type=radio]), .primary, button"))?.focus();
  }

  /** Close the sheet. A command that runs in it continues; its result is a notice. */
  hide() {
    this.#sheet?.close();
  }

  /**
   * Run a long command, showing progress and errors in the sheet.
   * @param {string} text
   * @param {string} command
   * @param {Record<string, unknown>} args
   * @param {{ into?: HTMLElement, cancel?: boolean, before?: string }} [options] `into`: a part of a form that is shown
   *   already; `before`: a sentence before an error
   * @returns {Promise<any>} the result, or `undefined` if it failed
   */
  async run(text, command, args, { into, cancel = true, before = "" } = {}) {
    if (!this.#checkIdle()) return undefined;
    this.#busy = true;
    const label = make("span", text);
    const cancelCommand = async () => {
      label.textContent = "Canceling …";
      await this.app.run("cancel_git", { worktreeId: this.id });
    };
    const progress = make("p.progress", make("span.spinner", { "aria-hidden": "true" }), label, cancel && button("Cancel", cancelCommand), { role: "status" });
    if (into) into.replaceChildren(progress);
    else this.show("Git", progress);
    try {
      const result = (await callAfterSecrets(this.app, command, args)) ?? null;
      progress.remove();
      return result;
    } catch (error) {
      const message = `${before}${/** @type {Error} */ (error).message}`;
      progress.replaceWith(make("p.bad", message, { role: "alert" }), ...(into ? [] : [this.#closing()]));
      if (!this.#sheet) this.app.toast(message, { bad: true });
      return undefined;
    } finally {
      this.#busy = false;
      this.onChange();
    }
  }

  /**
   * Show a result until it is closed; as a notice if the sheet was closed meanwhile.
   * @param {import("../dom.js").Parts} text
   * @param {string} output of git
   * @param {{ bad?: boolean, actions?: HTMLElement[] }} [options]
   */
  showResult(text, output = "", { bad = false, actions = [] } = {}) {
    const line = make(bad ? "p.bad" : "p.done", icon(bad ? "warning" : "check"), make("span", text), { role: bad ? "alert" : "status" });
    const outputElement = output.trim() && make("pre.output", output, { tabIndex: 0, role: "group", "aria-label": "Output of git" });
    const show = () => this.show("Git", line, ...(outputElement ? [outputElement] : []), this.#closing(actions));
    if (this.#sheet) show();
    else this.app.toast(line.textContent ?? "", { bad, action: ["Show", show] });
  }

  /** @param {HTMLElement[]} [actions] */
  #closing(actions = []) {
    return make("div.choices", actions, button("Close", () => this.hide(), actions.length ? ".quiet" : ""));
  }

  #checkIdle() {
    if (this.#busy) this.app.toast("A git action is already running. Wait for it or cancel it.");
    return !this.#busy;
  }
}

/** Start a git action of a worktree from another view. @param {App} app @param {string} worktreeId @param {"commit" | "push" | "pullRequest"} action */
export function startGit(app, worktreeId, action) {
  return new GitPanel(app, worktreeId, () => {})[action]();
}
