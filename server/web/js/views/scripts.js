// @ts-check
// The scripts of a worktree: what they run, whether they run, and what they print, as it comes.

import { confirm } from "../dialogs.js";
import { button, make, patchChildren } from "../dom.js";
import { icon } from "../icons.js";
import { Autoscroll } from "../session/autoscroll.js";

/** @typedef {import("../app.js").App} App */

const POLL_INTERVAL = 1000; // ms; what a script prints is no event

export class ScriptList {
  /** @type {ScriptCard[]} */ #cards = [];

  /** @param {App} app @param {string} worktreeId */
  constructor(app, worktreeId) {
    this.app = app;
    this.worktreeId = worktreeId;
    this.element = make("section.list");
  }

  close() {
    for (const card of this.#cards) card.close();
  }

  async load() {
    const worktree = this.app.state.worktrees.get(this.worktreeId);
    if (!worktree) return;
    /** @type {any[] | undefined} */
    const scripts = await this.app.read("get_project_scripts", { projectId: worktree.project_id, worktreeId: this.worktreeId });
    if (!scripts) return;
    const shown = JSON.stringify(scripts);
    if (this.element.dataset.shown === shown) return void this.#cards.map((card) => card.follow());
    this.element.dataset.shown = shown;
    this.close();
    this.#cards = scripts.map((script) => new ScriptCard(this.app, this.worktreeId, worktree.project_id, script));
    this.element.replaceChildren(...(scripts.length ? [make("h2", "Scripts")] : []), ...this.#cards.map((card) => card.element));
    for (const card of this.#cards) card.follow();
  }
}

/** A script of a worktree. */
export class ScriptCard {
  #timer = 0;
  #isClosed = false;
  #isRunning = false;
  /** Called with the status of each run that is shown. @type {(status: string) => void} */ onState = () => {};

  /**
   * @param {App} app @param {string} worktreeId @param {string} projectId @param {any} script
   * @param {{ opensOutput?: boolean, onTrust?: () => unknown }} [options] `onTrust`: called when it has been trusted
   */
  constructor(app, worktreeId, projectId, script, { opensOutput = false, onTrust = () => app.showRoute() } = {}) {
    this.onTrust = onTrust;
    this.app = app;
    this.args = { worktreeId, script: script.name };
    this.projectId = projectId;
    this.script = script;
    this.state = make("small", { role: "status" });
    this.choices = make("div.choices");
    this.output = make("pre.output", { tabIndex: 0, role: "group", "aria-label": `Output of ${script.name}` });
    this.outputFold = make("details", make("summary", "Output"), this.output, { hidden: true, open: opensOutput });
    this.element = make(
      "div.card.script",
      make("div.card-head", make("h3", icon("terminal"), " ", make("b", script.name)), this.state),
      make("details", make("summary", "What it runs"), make("pre.output", script.shown, { tabIndex: 0 }), { open: !script.trusted }),
      script.hidden && make("p.bad", `Cannot be trusted: ${script.hidden}. Remove that from the file.`),
      this.choices,
      this.outputFold,
    );
    this.autoscroll = new Autoscroll(this.output, this.element);
    this.#drawChoices();
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Show the newest run, and follow it until it ends. */
  async follow() {
    clearTimeout(this.#timer);
    const run = await this.app.connection.call("get_script_output", this.args).catch(() => null); // has never run
    if (this.#isClosed) return;
    if (run) this.#show(run);
    if (this.#isRunning) this.#timer = setTimeout(() => this.follow(), POLL_INTERVAL);
  }

  /** @param {any} run */
  #show(run) {
    this.#isRunning = run.status === "running";
    this.onState(run.status);
    this.state.textContent = `${run.status}${run.exit_code ? `, exit code ${run.exit_code}` : ""}`;
    this.state.className = run.status === "failed" ? "bad" : "";
    this.output.textContent = run.output || "Nothing was printed.";
    this.outputFold.hidden = false;
    this.autoscroll.scrollIfAtEnd(); // on again if this is the beginning of another run
    this.#drawChoices();
  }

  #drawChoices() {
    const { script } = this;
    const start = script.trusted ? button([icon("play"), "Run"], () => this.run()) : button("Review and trust", () => this.#trust(), ".primary");
    const isRunnable = script.trusted || !script.hidden;
    patchChildren(this.choices, [this.#isRunning ? button([icon("stop"), "Stop"], () => this.#stop()) : isRunnable && start].filter((part) => part instanceof HTMLElement));
  }

  /** Run it, and follow it until it ends. */
  async run() {
    const run = await this.app.run("run_worktree_script", this.args);
    if (run === undefined) return;
    this.outputFold.open = true;
    this.#show(run);
    await this.follow();
  }

  async #stop() {
    await this.app.run("stop_worktree_script", this.args);
    await this.follow();
  }

  async #trust() {
    const details = [make("p", `From ${this.script.file}:`), make("pre.output", this.script.shown)];
    if (!(await confirm(`Trust the script '${this.script.name}'?`, details, "Trust"))) return;
    await this.app.run("trust_project_scripts", { projectId: this.projectId, hashes: [this.script.hash] });
    this.onTrust();
  }
}
