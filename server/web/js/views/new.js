// @ts-check
// The form for a new task: what the agent should do, and where. What was chosen last is chosen again.

import { button, make } from "../dom.js";
import { prependToDraft } from "../drafts.js";
import { icon } from "../icons.js";
import { newId } from "../outbox.js";
import { performAction } from "../perform.js";
import { Attachments } from "../session/attachments.js";
import { loadAgents } from "../session/models.js";
import { labeled, optionsOf, segmented, select } from "./form_fields.js";
import { taskOrigin } from "./new_origin.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("forms");

/**
 * @typedef {import("../app.js").App} App
 * @typedef {{ project?: string, agent?: string, model?: string, mode?: string }} Choices
 * @typedef {{ message: string, mode: string, backend: string, model: string }} Task
 */

/** @type {[string, string, string][]} */
const MODES = [
  ["plan", "Plan", "Proposes a plan, and changes nothing before you approve it."],
  ["build", "Build", "Edits files, and asks before most commands."],
  ["yolo", "Yolo", "Does everything without asking."],
];
const DRAFT = "spinney-draft-new";
const DEMO = "demo";
const CHOICES = "spinney-new-task";

/** @type {import("../app.js").MakeView} */
export function newView(app, route) {
  return new NewTask(app, route);
}

class NewTask {
  title = "New task";
  #projects = "";
  #isBusy = false;
  /** What was started last, and its id: after a lost answer the same task is asked for again, not another. */ #last = { task: "", id: "" };
  /** @type {import("../session/models.js").Agent[]} */ #agents = [];

  /** @param {App} app @param {import("../router.js").Route} route */
  constructor(app, route) {
    this.app = app;
    this.route = route;
    this.chosen = readChoices();
    this.message = make("textarea.task-text", { rows: 5, value: localStorage.getItem(DRAFT) ?? "", "aria-label": "First message", placeholder: "What should the agent do?" });
    this.message.addEventListener("input", () => localStorage.setItem(DRAFT, this.message.value));
    this.message.addEventListener("keydown", (event) => this.#handleKey(event));
    this.attachments = new Attachments(app, null, { images: [], files: [] }, () => {});
    this.project = select("Project", []);
    this.agent = select("Agent", [["", "Default"]]);
    this.model = select("Model", [["", "Default"]]);
    this.mode = segmented("Mode", MODES.map(([value, label]) => [value, label]), this.chosen.mode ?? "plan", () => this.#explainMode());
    this.modeHint = make("p.hint");
    this.origin = taskOrigin(app, () => this.project.value, (text) => {
      if (!this.message.value.trim()) this.message.value = text;
    });
    this.startButton = make("button.primary.large");
    this.problem = make("p.bad", { role: "alert" });
    this.included = make("p.hint", { role: "status" });
    this.noProject = make("p.bad", "No projects yet. ", button("Add a project", () => performAction(app, "add_project")));
    this.form = make(
      "form.page.fields.new-form",
      this.message,
      make("div.task-attachments", this.attachments.button, this.attachments.element),
      make("div.field-row", labeled("Project", this.project), labeled("Agent", this.agent), labeled("Model", this.model)),
      make("div.field", this.mode.element, this.modeHint),
      this.origin.element,
      this.included,
      this.noProject,
      this.problem,
      make("div.task-bar", this.startButton),
    );
    this.element = this.form;
    this.attachments.receive(this.form, this.message);
    this.project.addEventListener("change", () => this.#changeProject());
    this.agent.addEventListener("change", () => this.#showModels(""));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#start();
    });
    this.#explainMode();
    this.#showBusy(false);
    this.#showProjects();
    this.#loadAgents();
  }

  /** @param {import("../state.js").Change} change */
  update(change) {
    if (change.tree) this.#showProjects();
  }

  focus() {
    this.message.focus();
  }

  close() {
    if (!this.#isBusy) this.attachments.close(); // else it still uploads
  }

  #explainMode() {
    this.modeHint.textContent = MODES.find(([value]) => value === this.mode.value())?.[2] ?? "";
  }

  /** Update the projects; a new one may be announced after it was selected. */
  #showProjects() {
    const { state } = this.app;
    const projects = [...state.projects.values()].filter((item) => !item.is_folder);
    const names = JSON.stringify(projects.map((item) => [item.id, item.name]));
    if (names === this.#projects) return;
    this.#projects = names;
    const known = new Set(projects.map((item) => item.id));
    const before = this.project.value;
    const wanted = [before, this.route.query.get("project"), this.chosen.project, projects[0]?.id].find((id) => id && known.has(id)) ?? "";
    this.project.replaceChildren(...optionsOf(projects.map((item) => [item.id, item.name])));
    this.project.value = wanted;
    this.noProject.hidden = projects.length > 0;
    this.startButton.disabled = !projects.length;
    if (wanted !== before) this.#changeProject();
  }

  #changeProject() {
    this.origin.reset();
    this.#showIncluded();
    this.#showAgents();
  }

  /** Say which ignored files the worktree will get. */
  async #showIncluded() {
    const projectId = this.project.value;
    this.included.textContent = "";
    const included = projectId && (await this.app.connection.call("get_included_files", { projectId }).catch(() => null)); // offline
    if (included && projectId === this.project.value) this.included.textContent = included.summary;
  }

  async #loadAgents() {
    this.#agents = await loadAgents(this.app);
    this.#showAgents();
  }

  #showAgents() {
    const project = this.app.state.projects.get(this.project.value);
    const wanted = this.agent.value || (this.chosen.agent ?? "");
    // With `--demo`, the demo agent is offered, and replaces the preference.
    const preferred = this.#agents.some(({ name }) => name === DEMO) ? DEMO : this.app.state.preferences.default_backend;
    const usual = this.#agents.find(({ name }) => name === (project?.default_backend ?? preferred));
    this.agent.replaceChildren(...optionsOf([["", usual ? `Default (${usual.label})` : "Default"], ...this.#agents.map(({ name, label }) => /** @type {[string, string]} */ ([name, label]))]));
    this.agent.value = this.#agents.some(({ name }) => name === wanted) ? wanted : "";
    this.#showModels(this.model.value || (this.chosen.model ?? ""));
  }

  /** @param {string} wanted */
  #showModels(wanted) {
    const models = (this.#agents.find(({ name }) => name === this.agent.value)?.models ?? []).filter((model) => model.is_offered && model.name);
    this.model.replaceChildren(...optionsOf([["", "Default"], ...models.map(({ name, label }) => /** @type {[string, string]} */ ([name, label]))]));
    this.model.value = models.some(({ name }) => name === wanted) ? wanted : "";
    this.model.disabled = !models.length;
  }

  /** Enter starts a new line on a touch screen, as in the message box. @param {KeyboardEvent} event */
  #handleKey(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    if (this.message.value.trim() && !event.repeat) this.form.requestSubmit();
  }

  /** @param {boolean} isBusy */
  #showBusy(isBusy) {
    this.#isBusy = isBusy;
    this.startButton.replaceChildren(isBusy ? make("span.spinner") : icon("send"), isBusy ? "Starting…" : "Start");
    this.startButton.disabled = isBusy || !this.project.value;
  }

  async #start() {
    if (this.#isBusy) return;
    this.#showBusy(true);
    this.problem.textContent = "";
    const task = { message: this.message.value.trim(), mode: this.mode.value(), backend: this.agent.value, model: this.model.value };
    saveChoices({ project: this.project.value, agent: task.backend, model: task.model, mode: task.mode });
    try {
      const origin = this.origin.read();
      await this.attachments.restored;
      // Files are uploaded to a session, so it has to be there before its first message.
      if (task.message && origin.task && !this.attachments.isUploading && !this.attachments.problem) await this.#startAtOnce(task, origin.task);
      else await this.#startInSteps(task, origin);
      this.message.value = "";
      localStorage.removeItem(DRAFT);
    } catch (error) {
      this.problem.textContent = /** @type {Error} */ (error).message;
    }
    this.#showBusy(false);
    if (this.app.view !== this) this.close();
  }

  /** Start worktree, session and message together. @param {Task} task @param {Record<string, unknown>} origin */
  async #startAtOnce({ message, mode, backend, model }, origin) {
    const args = { projectId: this.project.value, prompt: message, executionMode: mode, ...(backend ? { backend } : {}), ...(model ? { model } : {}), ...this.attachments.paths, ...origin };
    const task = JSON.stringify(args);
    if (task !== this.#last.task) this.#last = { task, id: newId() };
    const { worktree, session } = await this.app.connection.call("start_task", { taskId: this.#last.id, ...args });
    this.#last = { task: "", id: "" };
    showStarted(this.app, this, session.id, worktree.name);
  }

  /** Create the worktree, a session in it, and send the message with its files. @param {Task} task @param {{ command: string, args: Record<string, unknown> }} origin */
  async #startInSteps(task, { command, args }) {
    const created = await this.app.connection.call(command, { projectId: this.project.value, ...args });
    const worktree = command === "start_work" ? created.worktree : created;
    await startSession(this.app, worktree, task, this, this.attachments);
  }
}

/**
 * Show the session of a task that was started, if the page still shows the form.
 * @param {App} app @param {import("../app.js").View} view @param {string} sessionId @param {string} name of the worktree
 */
function showStarted(app, view, sessionId, name) {
  if (app.view === view) app.go("session", sessionId);
  else app.toast(`Started ${name}.`, { about: sessionId, isValid: () => true, action: ["Show", () => app.go("session", sessionId)] });
}

/**
 * Wait until the worktree is created, then start a session in it; the page goes there if it still shows the form.
 * @param {App} app @param {any} worktree @param {Task} task @param {import("../app.js").View} view
 * @param {Attachments} attachments
 */
async function startSession(app, worktree, { message, mode, backend, model }, view, attachments) {
  app.toast(`Creating ${worktree.name} …`, { isValid: () => app.state.worktrees.get(worktree.id)?.status === "creating" });
  await waitUntil(app, () => app.state.worktrees.get(worktree.id)?.status !== "creating");
  const made = app.state.worktrees.get(worktree.id);
  if (!made) throw new Error(`${worktree.name} could not be created. Check the input and try again.`);
  const args = { worktreeId: worktree.id, executionMode: mode, ...(backend ? { backend } : {}), ...(model ? { model } : {}) };
  const session = await app.connection.call("create_session", args);
  try {
    await attachments.uploadTo(session.id);
    if (message || !attachments.isEmpty) await app.connection.call("send_chat_message", { sessionId: session.id, message, ...attachments.paths });
  } catch (error) {
    // There it can be sent without what was not uploaded; another start would make another worktree.
    prependToDraft(session.id, { message, ...attachments.paths });
    app.toast(/** @type {Error} */ (error).message, { bad: true });
  }
  await attachments.handOver();
  showStarted(app, view, session.id, made.name);
}

/** @param {App} app @param {() => boolean} condition @returns {Promise<void>} */
function waitUntil(app, condition) {
  return new Promise((resolve) => {
    const check = () => {
      if (!condition()) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = app.onChange(check);
    check();
  });
}

/** @returns {Choices} */
function readChoices() {
  try {
    return JSON.parse(localStorage.getItem(CHOICES) ?? "{}");
  } catch {
    return {};
  }
}

/** @param {Choices} choices */
function saveChoices(choices) {
  localStorage.setItem(CHOICES, JSON.stringify(choices));
}
