// @ts-check
// Git actions for a worktree: commit, pull, push and pull request, with progress, result and cancellation. Used by the
// worktree view and the diff view.

import { button, make } from "../dom.js";
import { commitForm } from "./git_commit.js";
import { pullRequestForm, pullRequestLink } from "./git_pull_request.js";
import { operationBanner } from "./git_operation.js";
import { loadStylesheet } from "./stylesheet.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

await loadStylesheet("git");

/** The panel with git actions for a worktree. */
export class GitPanel {
  #busy = false;
  /** @type {number | undefined} */ #timer;

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
    this.element = make("section.git-panel", this.actions, this.operation.element, this.resultArea, { "aria-label": "Git" });
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
    const signature = `${base} ${worktree.pr_url} ${worktree.pr_number}`;
    this.operation.draw();
    if (this.actions.dataset.signature === signature) return;
    this.actions.dataset.signature = signature;
    this.actions.replaceChildren(
      button("Commit", () => this.commit()),
      button(`Pull ${base}`, () => this.pull(base)),
      button("Push", () => this.push()),
      ...(worktree.pr_url ? [pullRequestLink(this)] : [button("Pull request", () => this.pullRequest())]),
    );
  }

  /** Check soon whether a merge, rebase or the like is in progress. */
  checkOperation() {
    this.#timer ??= setTimeout(async () => {
      this.#timer = undefined;
      const changes = await this.app.connection.call("list_changed_files", { worktreeId: this.id }).catch(() => null);
      if (changes) this.operation.show(changes);
    }, 300);
  }

  close() {
    clearTimeout(this.#timer);
  }

  // Actions ----------------------------------------------------------------------------------------

  async commit() {
    if (!this.#checkIdle()) return;
    const form = await commitForm(this);
    if (form) this.#open(form);
  }

  pullRequest() {
    if (this.#checkIdle()) this.#open(pullRequestForm(this));
  }

  async push() {
    const { path, branch } = this.worktree;
    const result = await this.run(`Pushing '${branch}' …`, "git_push", { worktreePath: path });
    if (!result) return;
    if (result.success) this.showResult("Pushed.", result.output);
    else {
      const isBehind = /\[rejected\]|fetch first/.test(result.output);
      const pullAndPush = async () => (await this.pull(branch)) && this.push();
      this.showResult("Push failed.", result.output || "Git gave no reason.", {
        bad: true,
        actions: isBehind ? [button("Pull and push again", pullAndPush, ".primary")] : [],
      });
    }
  }

  /** @param {string} branch @returns {Promise<boolean>} whether it succeeded */
  async pull(branch) {
    const args = { worktreePath: this.worktree.path, baseBranch: branch };
    const result = await this.run(`Pulling '${branch}' …`, "git_pull", args);
    if (!result) return false;
    if (result.success) this.showResult(`Pulled '${branch}'.`, result.output);
    else {
      this.checkOperation();
      this.showResult("Pull failed or stopped at a conflict.", result.output || "Git gave no reason.", { bad: true });
    }
    return result.success;
  }

  // Progress and results ---------------------------------------------------------------------------

  /**
   * Run a long command, showing progress and errors in the panel.
   * @param {string} text
   * @param {string} command
   * @param {Record<string, unknown>} args
   * @param {{ into?: HTMLElement, cancel?: boolean }} [options] `into`: where to show it, if not below the buttons
   * @returns {Promise<any>} the result, or `undefined` if it failed
   */
  async run(text, command, args, { into = this.resultArea, cancel = true } = {}) {
    if (!this.#checkIdle()) return undefined;
    this.#busy = true;
    const label = make("span", text);
    const cancelCommand = async () => {
      label.textContent = "Canceling …";
      await this.app.run("cancel_git", { worktreeId: this.id });
    };
    into.replaceChildren(make("p.progress", make("span.pulse", "◐ "), label, cancel && button("Cancel", cancelCommand), { role: "status" }));
    try {
      const result = (await this.app.connection.call(command, args)) ?? null;
      into.replaceChildren();
      return result;
    } catch (error) {
      into.replaceChildren(make("p.bad", /** @type {Error} */ (error).message, { role: "alert" }));
      return undefined;
    } finally {
      this.#busy = false;
      this.onChange();
    }
  }

  /**
   * Show a result until it is closed.
   * @param {import("../dom.js").Parts} text
   * @param {string} output of git
   * @param {{ bad?: boolean, actions?: HTMLElement[] }} [options]
   */
  showResult(text, output = "", { bad = false, actions = [] } = {}) {
    const line = make(bad ? "p.bad" : "p", text, { role: bad ? "alert" : "status" });
    const outputElement = output && make("pre.output", output, { tabIndex: 0, role: "group", "aria-label": "Output of git" });
    this.resultArea.replaceChildren(line, ...(outputElement ? [outputElement] : []), make("div.choices", actions, button("Close", () => this.resultArea.replaceChildren())));
  }

  #checkIdle() {
    if (this.#busy) this.app.toast("A git action is already running. Wait for it or cancel it.");
    return !this.#busy;
  }

  /** @param {HTMLFormElement} form */
  #open(form) {
    this.resultArea.replaceChildren(form);
    /** @type {HTMLElement | null} */ (form.querySelector("textarea, input"))?.focus();
  }
}
