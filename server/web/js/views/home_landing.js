// @ts-check
// What can be landed now, for the start view: trains that are over, and branches with nothing left to do before.

import { coalesce, runSoon } from "../coalesce.js";
import { make, patchChildren } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./landing_types.js").Train} Train
 * @typedef {import("./landing_types.js").LandingRow} LandingRow
 */

const MAX_ROWS = 5;
const DELAY = 5000; // ms between readings of a desk, which looks at all worktrees that agents changed meanwhile
const OVER = new Set(["ready", "stopped", "outdated", "failed"]);

export class LandingFeed {
  /** By project. @type {Map<string, { train: Train | null, rows: LandingRow[] }>} */ #found = new Map();
  /** Projects to read. @type {Set<string>} */ #stale = new Set();

  /** @param {App} app @param {HTMLElement} part the section, hidden while nothing can be landed @param {HTMLElement} list */
  constructor(app, part, list) {
    this.app = app;
    this.part = part;
    this.list = list;
    this.load = coalesce(() => this.#load());
    this.loadSoon = runSoon(this.load, DELAY);
  }

  /** Follow the tree: only projects with commits to land are read. */
  update() {
    const projects = this.#projects();
    for (const id of this.#found.keys()) if (!projects.has(id)) this.#found.delete(id);
    const isNew = [...projects].filter((id) => !this.#found.has(id));
    for (const id of isNew) {
      this.#found.set(id, { train: null, rows: [] });
      this.#stale.add(id);
    }
    if (isNew.length) this.load();
    this.#draw();
  }

  /** @param {string} name @param {any} body */
  handleEvent(name, body) {
    const known = this.#found.get(body?.project_id);
    if (!known) return;
    if (name === "train:updated") {
      known.train = body.train;
      this.app.invalidate({ tree: true });
    }
    if (name !== "landing:updated") return;
    this.#stale.add(body.project_id);
    this.loadSoon();
  }

  handleReload() {
    this.#found.clear();
    this.update();
  }

  close() {
    this.loadSoon.cancel();
  }

  #projects() {
    const trees = [...this.app.state.worktrees.values()];
    return new Set(trees.filter((tree) => tree.session_type === "worktree" && !tree.archived_at && tree.cached_ahead_count > 0).map((tree) => tree.project_id));
  }

  async #load() {
    const ids = [...this.#stale];
    this.#stale.clear();
    for (const projectId of ids) {
      const train = await this.app.read("get_train", { projectId });
      const desk = await this.app.read("get_landing_desk", { projectId });
      if (this.#found.has(projectId)) this.#found.set(projectId, { train: train ?? null, rows: desk?.rows ?? [] });
    }
    this.#draw();
  }

  #draw() {
    const rows = [...this.#found].flatMap(([id, { train, rows: branches }]) => this.#rowsOf(id, train, branches));
    const more = rows.length - MAX_ROWS;
    patchChildren(this.list, rows.slice(0, MAX_ROWS));
    if (more > 0) this.list.append(make("li", make("a", make("span.grow", make("b", `and ${more} more`)), { href: hashFor("landing") })));
    this.part.hidden = !rows.length;
  }

  /** @param {string} id @param {Train | null} train @param {LandingRow[]} branches */
  #rowsOf(id, train, branches) {
    const project = this.app.state.projects.get(id)?.name ?? "";
    const shown = train && OVER.has(train.status) ? train : null;
    const inTrain = new Set(shown && shown.status !== "outdated" ? shown.cars.map((car) => car.worktree_id) : []);
    const ready = branches.filter((row) => ["land", "merge"].includes(row.next) && !inTrain.has(row.worktree_id));
    return [
      ...(shown ? [rowOf(id, `Train onto ${shown.base}`, `${project} · ${describe(shown)}`)] : []),
      ...ready.map((row) => rowOf(id, row.name, `${project} · ${row.reason}`, row)),
    ];
  }
}

/** @param {Train} train */
function describe({ status, cars }) {
  const ready = `${cars.filter((car) => car.status === "ready").length} of ${pluralize(cars.length, "worktree")} ready`;
  return { ready: "all ready to land", stopped: `stopped, ${ready}`, outdated: "outdated, run it again" }[/** @type {"ready"} */ (status)] ?? "failed, run it again";
}

/** @param {string} projectId @param {string} title @param {string} detail @param {LandingRow} [row] */
function rowOf(projectId, title, detail, row) {
  const counts = row && make("span.git", make("ins", `+${row.added}`), " ", make("del", `−${row.removed}`));
  return make("li", make("a", icon("merge"), make("span.grow", make("b", title), make("small", detail)), counts, { href: hashFor("landing", projectId) }));
}
