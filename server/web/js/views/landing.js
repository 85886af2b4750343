// @ts-check
// The landing desk of a project: its worktrees with what is next for each, what can be done with several, and the train.

import { missingView } from "../app.js";
import { coalesce } from "../coalesce.js";
import { choose, confirm } from "../dialogs.js";
import { button, make, patchChildren, syncKeyed } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { performAction } from "../perform.js";
import { hashFor } from "../router.js";
import { landWorktree } from "./landing_acts.js";
import { pushBase, showLandings, undoLanding } from "./landing_history.js";
import { landingRow } from "./landing_row.js";
import { trainCard } from "./landing_train.js";
import { Selection } from "./selection.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("landing");

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./landing_types.js").LandingRow} LandingRow
 * @typedef {{ rows: LandingRow[], suggested_train: string[], can_undo: string | null }} Desk
 */

/** Without a project in the address, that of the only project, or a list of them. @type {import("../app.js").MakeView} */
export function landingView(app, route) {
  const projects = [...app.state.projects.values()].filter((project) => !project.is_folder);
  if (!route.id) return projects.length === 1 ? new LandingDesk(app, projects[0].id) : projectList(app, projects);
  if (!app.state.projects.has(route.id)) return missingView(app, "projects", route.id);
  return new LandingDesk(app, route.id);
}

/** @param {App} app @param {import("../state.js").Resource[]} projects @returns {import("../app.js").View} */
function projectList(app, projects) {
  const rows = projects.map((project) => make("p", icon("project"), make("a.grow", project.name, { href: hashFor("landing", project.id) }), make("small", pluralize(app.state.worktreesOf(project.id).length, "worktree"))));
  const hint = projects.length ? "Each project has a desk, from which its worktrees are brought into the base branch." : "No projects yet.";
  return { title: "Landing", element: make("div.page", make("p.hint", hint), make("div.rows-list", rows)) };
}

class LandingDesk {
  title = "Landing";
  /** @type {Desk} */ #desk = { rows: [], suggested_train: [], can_undo: null };
  #isLoaded = false;

  /** @param {App} app @param {string} projectId */
  constructor(app, projectId) {
    this.app = app;
    this.projectId = projectId;
    this.status = make("p.hint", "Loading …", { role: "status" });
    this.selection = new Selection("worktrees", () => this.#draw(), () => this.#actions());
    this.undo = make("div.choices");
    const more = button(icon("more"), () => this.#openMenu(), ".quiet.icon-only", { "aria-label": "More actions", title: "More" });
    this.train = trainCard(app, projectId);
    this.list = make("ul.landing-rows", { "aria-label": "Worktrees" });
    this.empty = make("div.empty", { hidden: true });
    this.element = make("div.page.landing", make("div.page-head", this.status, this.selection.allLabel, this.undo, more), this.selection.bar, this.train.element, this.list, this.empty);
    this.load = coalesce(() => this.#load());
    this.load();
    this.train.load();
  }

  get subtitle() {
    return this.app.state.projects.get(this.projectId)?.name;
  }

  /** @param {import("../state.js").Change} change */
  update(change) {
    if (!change.tree) return;
    if (!this.app.state.projects.has(this.projectId)) this.app.showRoute();
    else if (this.#isLoaded) this.#draw();
  }

  /** @param {string} name @param {any} body */
  handleEvent(name, body) {
    if (body?.project_id !== this.projectId) return;
    if (name === "landing:updated") this.load();
    if (name === "train:updated") this.train.show(body.train);
  }

  handleReload() {
    this.load();
    this.train.load();
  }

  /** The row of a worktree, as it is now. @param {string} id */
  row(id) {
    return this.#desk.rows.find((row) => row.worktree_id === id);
  }

  async #load() {
    const desk = await this.app.read("get_landing_desk", { projectId: this.projectId });
    if (!desk) {
      if (!this.#isLoaded) this.status.textContent = "The desk could not be read.";
      return;
    }
    this.#desk = desk;
    this.#isLoaded = true;
    this.#draw();
  }

  #draw() {
    const { rows, can_undo: landingId } = this.#desk;
    this.selection.follow(rows.map((row) => row.worktree_id));
    const ready = rows.filter((row) => !["wait", "answer"].includes(row.next)).length;
    this.status.textContent = rows.length ? `${pluralize(rows.length, "worktree")}, ${ready === rows.length ? "all" : ready} with something to do now` : "";
    patchChildren(this.undo, landingId ? [button([icon("undo"), "Undo the last landing"], () => undoLanding(this.app, this.#desk.can_undo ?? ""))] : []);
    syncKeyed(this.list, rows, (row) => row.worktree_id, (row, old) => landingRow(this, row, old));
    this.empty.hidden = rows.length > 0;
    if (!rows.length) patchChildren(this.empty, this.#emptyParts());
  }

  #emptyParts() {
    return [
      icon("merge"),
      make("h2", "Nothing to land."),
      make("p", "Worktrees appear here once they have changes that the base branch lacks."),
      make("div.choices", make("a.button.primary", icon("edit"), "New task", { href: hashFor("new", "", { project: this.projectId }) }), make("a.button", icon("trash"), "Sweep", { href: hashFor("sweep", this.projectId) })),
    ];
  }

  // Several at once --------------------------------------------------------------------------------

  #actions() {
    return [
      this.selection.ids.length === 1
        ? button([icon("merge"), "Land…"], () => landWorktree(this.app, this.selection.ids[0]), ".primary")
        : button([icon("merge"), "Land as a train…"], () => this.#startTrain(this.selection.ids), ".primary"),
      button([icon("play"), "Run the check"], () => this.#runChecks()),
      button([icon("archive"), "Archive…"], () => this.#archive()),
    ];
  }

  /** Open the dialog that orders a train; the suggested order comes first. @param {string[]} ids */
  async #startTrain(ids) {
    const { suggested_train: suggested } = this.#desk;
    const order = [...suggested.filter((id) => ids.includes(id)), ...ids.filter((id) => !suggested.includes(id))];
    const { orderTrain } = await import("./landing_order.js");
    orderTrain(this.app, this.projectId, order.map((id) => ({ id, name: this.row(id)?.name ?? id, detail: this.row(id)?.reason ?? "" })), (train) => {
      this.train.show(train);
      this.selection.replace([]);
      this.train.element.scrollIntoView({ block: "nearest" });
    });
  }

  async #runChecks() {
    const { ids } = this.selection;
    const results = await Promise.allSettled(ids.map((worktreeId) => this.app.connection.call("run_worktree_script", { worktreeId, script: "check" })));
    report(this.app, results, "Started the check of", "worktree");
  }

  async #archive() {
    const { ids } = this.selection;
    if (!(await confirm(`Archive ${pluralize(ids.length, "worktree")}?`, "Their files and sessions are kept, and you can restore them. What is not landed stays on their branches.", "Archive"))) return;
    const results = await Promise.allSettled(ids.map((worktreeId) => this.app.connection.call("archive_worktree", { worktreeId })));
    report(this.app, results, "Archived", "worktree");
  }

  async #openMenu() {
    const { suggested_train: suggested } = this.#desk;
    /** @type {import("../dialogs.js").MenuEntry<() => unknown>[]} */
    const entries = [
      ...(suggested.length > 1 ? [/** @type {import("../dialogs.js").MenuEntry<() => unknown>} */ ([`Land ${suggested.length} as a train…`, () => this.#startTrain(suggested), { icon: "merge" }])] : []),
      ["Push the base branch", () => pushBase(this.app, this.projectId), { icon: "push" }],
      ["What has landed", () => showLandings(this.app, this.projectId), { icon: "history" }],
      ["Conflicts to come", () => performAction(this.app, "show_conflicts"), { icon: "warning", isApart: true }],
      ["Sweep: sizes, archive, delete", () => this.app.go("sweep", this.projectId), { icon: "trash" }],
      ["Refresh", () => this.app.run("fetch_worktrees_status", { projectId: this.projectId }), { icon: "refresh" }],
    ];
    await (await choose("Landing", entries))?.();
  }
}

/** Show how many of several commands succeeded, and why the first of the others failed. @param {App} app @param {PromiseSettledResult<any>[]} results @param {string} done @param {string} noun */
function report(app, results, done, noun) {
  const failed = results.filter((result) => result.status === "rejected");
  const count = results.length - failed.length;
  const text = count ? `${done} ${pluralize(count, noun)}.` : "";
  if (failed.length) app.toast(`${text} ${failed.length === results.length ? "" : `${failed.length} failed: `}${failed[0].reason.message}`.trim(), { bad: true });
  else app.toast(text);
}
