// @ts-check
// What git does in a worktree: commit, pull, push and the pull request, each told and cancelled
// where it was begun. The views of the worktree and of its changes both have it.

import { button, make } from "../dom.js";
import { commitForm } from "./git_commit.js";
import { pullRequestForm, pullRequestLink } from "./git_pull_request.js";
import { stoppedBanner } from "./git_stopped.js";
import { sheet } from "./sheet.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

await sheet("git");

/** Git's actions for one worktree. */
export class GitPanel {
  #busy = false;
  /** @type {number | undefined} */ #timer;

  /**
   * @param {App} app
   * @param {string} worktreeId
   * @param {() => unknown} changed something is different now
   */
  constructor(app, worktreeId, changed) {
    this.app = app;
    this.id = worktreeId;
    this.changed = changed;
    this.actions = make("div.choices");
    this.place = make("div.git-place", { "aria-live": "polite" });
    this.stopped = stoppedBanner(this);
    this.element = make("section.git-panel", this.actions, this.stopped.element, this.place, { "aria-label": "Git" });
    this.draw();
  }

  /** @returns {Resource} */
  get worktree() {
    return this.app.state.worktrees.get(this.id) ?? { id: this.id };
  }

  /** The branch that it is compared with, by its name alone. */
  get base() {
    const { base_branch: own, project_id: id } = this.worktree;
    return (own ?? this.app.state.projects.get(id)?.default_branch ?? "main").replace(/^origin\//, "");
  }

  /** The worktree may look different. */
  draw() {
    const { base, worktree } = this;
    const shown = `${base} ${worktree.pr_url} ${worktree.pr_number}`;
    this.stopped.draw();
    if (this.actions.dataset.shown === shown) return;
    this.actions.dataset.shown = shown;
    this.actions.replaceChildren(
      button("Commit", () => this.commit()),
      button(`Pull ${base}`, () => this.pull(base)),
      button("Push", () => this.push()),
      ...(worktree.pr_url ? [pullRequestLink(this)] : [button("Pull request", () => this.pullRequest())]),
    );
  }

  /** Look whether something stopped in the middle, soon. */
  look() {
    this.#timer ??= setTimeout(async () => {
      this.#timer = undefined;
      const changes = await this.app.connection.call("list_changed_files", { worktreeId: this.id }).catch(() => null);
      if (changes) this.stopped.show(changes);
    }, 300);
  }

  close() {
    clearTimeout(this.#timer);
  }

  // What people do ---------------------------------------------------------------------------------

  async commit() {
    if (!this.#isFree()) return;
    const form = await commitForm(this);
    if (form) this.#open(form);
  }

  pullRequest() {
    if (this.#isFree()) this.#open(pullRequestForm(this));
  }

  async push() {
    const { path, branch } = this.worktree;
    const done = await this.work(`Pushing “${branch}” …`, "git_push", { worktreePath: path });
    if (!done) return;
    if (done.success) this.tell("Pushed.", done.output);
    else {
      const isBehind = /\[rejected\]|fetch first/.test(done.output);
      const pulled = async () => (await this.pull(branch)) && this.push();
      this.tell("The push failed.", done.output || "Git gave no reason.", {
        bad: true,
        actions: isBehind ? [button("Pull it first, then push again", pulled, ".primary")] : [],
      });
    }
  }

  /** @param {string} branch @returns {Promise<boolean>} whether it came */
  async pull(branch) {
    const given = { worktreePath: this.worktree.path, baseBranch: branch };
    const done = await this.work(`Pulling “${branch}” …`, "git_pull", given);
    if (!done) return false;
    if (done.success) this.tell(`Pulled “${branch}”.`, done.output);
    else {
      this.look();
      this.tell("The pull failed, or stopped at a conflict.", done.output || "Git gave no reason.", { bad: true });
    }
    return done.success;
  }

  // Telling ----------------------------------------------------------------------------------------

  /**
   * Run a command that takes long; its progress, its end and its failure stand in the panel.
   * @param {string} words
   * @param {string} command
   * @param {Record<string, unknown>} given
   * @param {{ into?: HTMLElement, cancel?: boolean }} [how] `into`: where it is told, if not below the buttons
   * @returns {Promise<any>} `undefined` where it failed
   */
  async work(words, command, given, { into = this.place, cancel = true } = {}) {
    if (!this.#isFree()) return undefined;
    this.#busy = true;
    const told = make("span", words);
    const end = async () => {
      told.textContent = "Cancelling …";
      await this.app.run("cancel_git", { worktreeId: this.id });
    };
    into.replaceChildren(make("p.progress", make("span.pulse", "◐ "), told, cancel && button("Cancel", end), { role: "status" }));
    try {
      const done = (await this.app.connection.call(command, given)) ?? null;
      into.replaceChildren();
      return done;
    } catch (error) {
      into.replaceChildren(make("p.bad", /** @type {Error} */ (error).message, { role: "alert" }));
      return undefined;
    } finally {
      this.#busy = false;
      this.changed();
    }
  }

  /**
   * Say what came of it, until it is closed.
   * @param {import("../dom.js").Parts} words
   * @param {string} output git's own words
   * @param {{ bad?: boolean, actions?: HTMLElement[] }} [how]
   */
  tell(words, output = "", { bad = false, actions = [] } = {}) {
    const line = make(bad ? "p.bad" : "p", words, { role: bad ? "alert" : "status" });
    const said = output && make("pre.output", output, { tabIndex: 0, role: "group", "aria-label": "What git said" });
    this.place.replaceChildren(line, ...(said ? [said] : []), make("div.choices", actions, button("Close", () => this.place.replaceChildren())));
  }

  #isFree() {
    if (this.#busy) this.app.say("Something is under way here already. Wait for it, or cancel it.");
    return !this.#busy;
  }

  /** @param {HTMLFormElement} form */
  #open(form) {
    this.place.replaceChildren(form);
    /** @type {HTMLElement | null} */ (form.querySelector("textarea, input"))?.focus();
  }
}
