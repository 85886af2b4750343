// @ts-check
// The sweep: all worktrees of a project, or of all projects, with their size, last use and what deleting each would lose;
// archives or deletes several at once.

import { ageElement } from "../age.js";
import { coalesce } from "../coalesce.js";
import { confirm } from "../dialogs.js";
import { button, make, patchChildren, syncKeyed } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { MERGED_WORDS, REVERTED } from "./landing_words.js";
import { describeRecovery } from "./recovery_points.js";
import { Selection } from "./selection.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("landing");

/**
 * @typedef {import("../app.js").App} App
 *
 * @typedef {object} SweepRow
 * @property {string} worktree_id
 * @property {string} project_id
 * @property {string} name
 * @property {string} branch
 * @property {number | null} size bytes
 * @property {number} last_used_at
 * @property {string | null} merged
 * @property {number} uncommitted files
 * @property {number} unpushed commits
 * @property {string[]} besides what else would be lost, as phrases
 * @property {boolean} reverted
 * @property {boolean} archived
 * @property {boolean} is_running
 * @property {boolean} adopted
 *
 * @typedef {{ worktree_id: string, ok: boolean, message: string, recovery_id: string | null }} Swept
 */

const UNITS = ["B", "KB", "MB", "GB", "TB"];
const PAGE_SIZE = 25; // worktrees that are read at a time
const MAX_LISTED = 8; // worktrees that the question lists
const CHANGES = new Set(["worktree:archived", "worktree:deleted", "worktree:created", "worktree:unarchived"]);

/** @param {number} bytes */
export function formatSize(bytes) {
  let unit = 0;
  let amount = bytes;
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit++;
  }
  return `${amount >= 10 || unit === 0 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}

/** @type {import("../app.js").MakeView} */
export function sweepView(app, route) {
  return new Sweep(app, route.id);
}

class Sweep {
  title = "Sweep";
  /** @type {SweepRow[]} */ #rows = [];
  /** @type {number | null} */ #free = null;
  /** What became of worktrees, also of those that are gone. @type {Map<string, Swept & { name: string }>} */ #results = new Map();
  #isLoaded = false;

  /** @param {App} app @param {string} projectId "" for all projects */
  constructor(app, projectId) {
    this.app = app;
    this.projectId = projectId;
    this.status = make("p.hint", "Loading …", { role: "status" });
    this.selection = new Selection("worktrees", () => this.#draw(), () => this.#actions());
    this.safe = button("Select what can go without loss", () => this.selection.replace(this.#rows.filter(isSafe).map((row) => row.worktree_id)));
    this.results = make("ul.sweep-results", { "aria-label": "Results", "aria-live": "polite" });
    this.list = make("ul.sweep-rows", { "aria-label": "Worktrees" });
    this.element = make("div.page.sweep", make("div.page-head", this.status, this.selection.allLabel, this.safe), this.selection.bar, this.results, this.list);
    this.load = coalesce(() => this.#load());
    this.load();
  }

  get subtitle() {
    return this.app.state.projects.get(this.projectId)?.name ?? "all projects";
  }

  get #scope() {
    return this.projectId ? { projectId: this.projectId } : {};
  }

  /** @param {string} name */
  handleEvent(name) {
    if (CHANGES.has(name) && this.#isLoaded) this.load();
  }

  handleReload() {
    this.load();
  }

  /** The list first; then the sizes, which take longer. */
  async #load() {
    if (!this.#isLoaded) await this.#loadPages(false);
    await this.#loadPages(true);
  }

  /** Each page is shown when it is read; after the last one only the worktrees that there are. @param {boolean} withSizes */
  async #loadPages(withSizes) {
    const read = new Set();
    for (;;) {
      /** @type {{ rows: SweepRow[], free_bytes: number | null, total: number } | undefined} */
      const sweep = await this.app.read("list_sweep", { ...this.#scope, withSizes, limit: PAGE_SIZE, offset: read.size });
      if (!sweep) {
        if (!this.#isLoaded) this.status.textContent = "The worktrees could not be listed.";
        return;
      }
      for (const row of sweep.rows) read.add(row.worktree_id);
      const isLast = !sweep.rows.length || read.size >= sweep.total;
      const known = new Map(this.#rows.map((row) => [row.worktree_id, row]));
      for (const row of sweep.rows) known.set(row.worktree_id, { ...row, size: row.size ?? known.get(row.worktree_id)?.size ?? null });
      this.#rows = [...known.values()].filter((row) => !isLast || read.has(row.worktree_id)).sort(compareRows);
      this.#free = sweep.free_bytes;
      this.#isLoaded = true;
      this.#draw();
      if (isLast || !this.element.isConnected) return;
    }
  }

  #draw() {
    this.selection.follow(this.#rows.map((row) => row.worktree_id));
    const size = this.#rows.reduce((sum, row) => sum + (row.size ?? 0), 0);
    this.status.textContent = [this.#rows.length ? pluralize(this.#rows.length, "worktree") : "No worktrees.", size > 0 && formatSize(size), this.#free !== null && `${formatSize(this.#free)} free on the disk`].filter(Boolean).join(" · ");
    this.safe.hidden = !this.#rows.some(isSafe);
    syncKeyed(this.list, this.#rows, (row) => row.worktree_id, (row, old) => this.#row(row, old));
    patchChildren(this.results, [...this.#results.values()].map((result) => this.#result(result)));
  }

  /** @param {SweepRow} row @param {HTMLElement | undefined} old */
  #row(row, old) {
    const id = row.worktree_id;
    const box = make("input", { type: "checkbox" });
    const element = old ?? make("li.sweep-row", make("label.landing-select", box), make("div.what"), make("p.facts"), make("p.size"));
    const [select, what, facts, size] = element.children;
    const shownBox = /** @type {HTMLInputElement} */ (select.firstElementChild);
    shownBox.checked = this.selection.has(id);
    shownBox.ariaLabel = `Select ${row.name}`;
    if (!old) box.addEventListener("change", () => this.selection.select(id, box.checked));
    element.classList.toggle("selected", this.selection.has(id));
    const project = this.projectId ? "" : `${this.app.state.projects.get(row.project_id)?.name ?? ""} ▸ `;
    patchChildren(what, [make("h2", row.archived ? row.name : make("a", row.name, { href: hashFor("worktree", id) })), make("p.hint", `${project}${row.branch} · used `, ageElement(row.last_used_at), row.last_used_at ? " ago" : "")]);
    patchChildren(facts, factsOf(row));
    size.textContent = row.size === null ? "…" : formatSize(row.size);
    return element;
  }

  /** @param {Swept & { name: string }} result */
  #result({ ok, name, message, recovery_id: recoveryId }) {
    const restore = async () => {
      const worktree = await this.app.run("restore_worktree", { recoveryId });
      if (worktree) this.app.go("worktree", worktree.id);
    };
    return make("li", icon(ok ? "check" : "warning"), make(ok ? "span.grow" : "span.grow.bad", !message.startsWith(`'${name}'`) && make("b", `${name}: `), message), recoveryId && button([icon("restore"), "Restore"], restore, ".quiet", { "aria-label": `Restore ${name}` }));
  }

  // Selection --------------------------------------------------------------------------------------

  #selectedRows() {
    return this.#rows.filter((row) => this.selection.has(row.worktree_id));
  }

  #actions() {
    const rows = this.#selectedRows();
    const size = rows.reduce((sum, row) => sum + (row.size ?? 0), 0);
    return [
      size > 0 && make("span.wide-label", formatSize(size)),
      rows.some((row) => !row.archived) && button([icon("archive"), "Archive…"], () => this.#sweep("archive")),
      button([icon("trash"), "Delete…"], () => this.#sweep("delete"), ".danger"),
    ];
  }

  /** Read what deleting each worktree would lose now: the question states it. */
  async #readLosses() {
    const chosen = this.#selectedRows().map((row) => row.worktree_id);
    const sweep = await this.app.read("list_sweep", { withSizes: false, worktreeIds: chosen });
    if (!sweep) return;
    const fresh = new Map(sweep.rows.map((/** @type {SweepRow} */ row) => [row.worktree_id, row]));
    const isThere = (/** @type {SweepRow} */ row) => fresh.has(row.worktree_id) || !chosen.includes(row.worktree_id);
    this.#rows = this.#rows.filter(isThere).map((row) => ({ ...row, ...fresh.get(row.worktree_id), size: row.size }));
    this.#draw();
  }

  /** @param {"archive" | "delete"} action */
  async #sweep(action) {
    await this.#readLosses();
    const rows = this.#selectedRows();
    if (!rows.length) return;
    const answer = await askFor(this.app, rows, action);
    if (!answer) return;
    const result = await this.app.run("sweep_worktrees", { worktreeIds: rows.map((row) => row.worktree_id), action, ...answer });
    /** @type {Swept[] | undefined} */ const swept = result;
    if (!swept) return;
    const names = new Map(rows.map((row) => [row.worktree_id, row.name]));
    this.#results = new Map(swept.map((each) => [each.worktree_id, { ...each, name: names.get(each.worktree_id) ?? "" }]));
    this.selection.replace(swept.filter((each) => !each.ok).map((each) => each.worktree_id));
    await this.load();
  }
}

/** What deleting a worktree would lose. @param {SweepRow} row */
const lossesOf = ({ uncommitted, unpushed, merged, besides, is_running: isRunning }) =>
  [isRunning && "a session or script is at work", uncommitted > 0 && pluralize(uncommitted, "uncommitted file"), unpushed > 0 && !merged && `${pluralize(unpushed, "commit")} that nothing else has`, ...besides].filter((each) => typeof each === "string");

/** Whether nothing is lost with a worktree. @param {SweepRow} row */
const isSafe = (row) => Boolean(row.merged) && !lossesOf(row).length;

/** Those that can go without a loss first, the largest of them first. @param {SweepRow} one @param {SweepRow} other */
const compareRows = (one, other) => Number(lossesOf(one).length > 0) - Number(lossesOf(other).length > 0) || (other.size ?? 0) - (one.size ?? 0) || (one.name < other.name ? -1 : Number(one.name > other.name));

/** @param {SweepRow} row @returns {HTMLElement[]} */
function factsOf(row) {
  return [
    row.merged ? make("span.badge.new", MERGED_WORDS[row.merged] ?? "merged") : make("span.badge", "not merged"),
    row.reverted && make("span.badge.waiting", REVERTED),
    row.archived && make("span.badge", "archived"),
    row.is_running && make("span.badge.waiting", "at work"),
    row.uncommitted > 0 && make("span.bad", `${row.uncommitted} not committed`),
    row.unpushed > 0 && !row.merged && make("span.bad", `${pluralize(row.unpushed, "commit")} nowhere else`),
    ...row.besides.map((each) => make("span.bad", each)),
    row.adopted && make("span.badge", "created outside Spinney"),
  ].filter((part) => part instanceof HTMLElement);
}

/** Ask before worktrees are archived or deleted, with what is lost and what can be restored. @param {App} app @param {SweepRow[]} rows @param {"archive" | "delete"} action */
async function askFor(app, rows, action) {
  const losing = rows.filter((row) => lossesOf(row).length > 0);
  const force = make("input", { type: "checkbox" });
  const remote = make("input", { type: "checkbox" });
  const isDeletion = action === "delete";
  const size = rows.reduce((sum, row) => sum + (row.size ?? 0), 0);
  const listed = losing.slice(0, MAX_LISTED).map((row) => make("li", make("b", row.name), `: ${lossesOf(row).join(", ")}`));
  if (losing.length > MAX_LISTED) listed.push(make("li", `… ${losing.length - MAX_LISTED} more`));
  const question = `${isDeletion ? "Delete" : "Archive"} ${pluralize(rows.length, "worktree")}?`;
  const kept = isDeletion
    ? `Their directories and branches are deleted${size ? `, which frees ${formatSize(size)}` : ""}. ${describeRecovery(app, "All of it")} Not kept: files ignored by git, and the contents of repositories inside.`
    : "Their files and sessions are kept, and you can restore them.";
  const details = make(
    "div.fields",
    make("p", kept),
    losing.length > 0 && make("p.bad", `${losing.length === rows.length ? "All" : losing.length} of them ${losing.length === 1 ? "has" : "have"} work that is nowhere else, or is still going on:`),
    losing.length > 0 && make("ul.losses", listed),
    losing.length > 0 && make("label.check", force, isDeletion ? "Delete these, too" : "Archive these, too"),
    isDeletion && make("label.check", remote, "Delete their branches on the remote, too"),
  );
  const isSure = await confirm(question, details, isDeletion ? "Delete" : "Archive", { danger: isDeletion });
  return isSure ? { force: force.checked, deleteRemoteBranch: isDeletion && remote.checked } : null;
}
