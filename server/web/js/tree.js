// @ts-check
// The tree of folders, projects, worktrees and sessions, with their most urgent mark. All rows have the same height,
// and only visible ones are rendered, so that thousands of rows are as fast as a screenful.

import { button, make, syncKeyed } from "./dom.js";
import { gitMarks, markElement, markOf, strongestMark } from "./marks.js";
import { performAction } from "./perform.js";
import { hashFor } from "./router.js";

/**
 * @typedef {import("./state.js").Resource} Resource
 * @typedef {{ id: string, kind: "folder" | "project" | "worktree" | "session", item: Resource, depth: number }} Row
 */

const COLLAPSED_KEY = "spinney-folded";
const OVERSCAN = 20; // rows beyond the visible ones, which scrolling or Tab can reach before the next frame

/** @param {import("./app.js").App} app */
export function initTree(app) {
  return new Tree(app);
}

class Tree {
  /** @type {Set<string>} */ #collapsed = new Set(JSON.parse(localStorage.getItem(COLLAPSED_KEY) ?? "[]"));
  /** @type {Row[]} */ #rows = [];
  #frame = 0;

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.nav = /** @type {HTMLElement} */ (document.getElementById("tree"));
    this.filter = make("input.filter", { type: "search", placeholder: "filter", "aria-label": "Filter projects", autocomplete: "off" });
    this.list = make("ul.rows");
    this.status = make("p.hint", { role: "status" });
    this.nav.append(this.filter, this.status, this.list, links(app));
    this.filter.oninput = () => {
      this.#draw();
      if (!this.filter.value) this.#reveal();
    };
    this.filter.onkeydown = (event) => this.#handleKey(event);
    this.nav.addEventListener("scroll", () => (this.#frame ||= requestAnimationFrame(() => this.#render())), { passive: true });
    new ResizeObserver(() => this.#render()).observe(this.nav);
    app.onChange((change) => change.tree && this.#draw());
    addEventListener("hashchange", () => {
      this.#render();
      this.#reveal();
    });
  }

  #draw() {
    const query = this.filter.value.trim().toLowerCase();
    const rows = [...rowsIn(this.app, query ? new Set() : this.#collapsed, null, 0)];
    this.#rows = query ? filterRows(rows, query) : rows;
    this.status.textContent = query && !this.#rows.length ? `No results for '${this.filter.value.trim()}'.` : "";
    this.#render();
  }

  /** Render the visible rows. */
  #render() {
    this.#frame = 0;
    const height = this.#rowHeight();
    const top = this.nav.scrollTop - this.list.offsetTop;
    const first = Math.max(0, Math.min(Math.floor(top / height) - OVERSCAN, this.#rows.length - 1));
    const last = Math.max(first, Math.min(this.#rows.length, Math.ceil((top + this.nav.clientHeight) / height) + OVERSCAN));
    this.list.style.setProperty("--before", String(first));
    this.list.style.setProperty("--after", String(this.#rows.length - last));
    const focus = /** @type {HTMLElement | null} */ (this.list.contains(document.activeElement) ? document.activeElement : null);
    const key = focus?.closest("li")?.dataset.key;
    syncKeyed(this.list, this.#rows.slice(first, last), (row) => row.id, (row, old) => this.#row(row, old));
    this.#setPositions(first);
    if (focus && !focus.isConnected) {
      const sameRow = [...this.list.children].find((row) => /** @type {HTMLElement} */ (row).dataset.key === key);
      /** @type {HTMLElement | null | undefined} */ (sameRow?.querySelector(focus.localName))?.focus({ preventScroll: true });
    }
  }

  /** Set the positions of rows for screen readers, as most rows are not in the document. @param {number} first */
  #setPositions(first) {
    for (const [index, row] of [...this.list.children].entries()) {
      row.ariaSetSize = String(this.#rows.length);
      row.ariaPosInSet = String(first + index + 1);
    }
  }

  #rowHeight() {
    const known = this.list.firstElementChild?.getBoundingClientRect().height;
    return known || 2.5 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  /** Scroll to the row of the current view. */
  #reveal() {
    const index = this.#rows.findIndex((row) => row.id === this.app.route.id);
    if (index < 0) return;
    const height = this.#rowHeight();
    const above = this.list.offsetTop + index * height;
    const isAbove = above < this.nav.scrollTop + this.filter.offsetHeight;
    const isBelow = above + height > this.nav.scrollTop + this.nav.clientHeight;
    if (isAbove || isBelow) this.nav.scrollTop = above - this.nav.clientHeight / 2;
  }

  /** @param {KeyboardEvent} event */
  #handleKey(event) {
    if (event.key === "Escape" && this.filter.value) {
      event.stopPropagation();
      this.filter.value = "";
      this.#draw();
      this.#reveal();
    }
    const query = this.filter.value.trim().toLowerCase();
    const matchId = this.#rows.find((row) => row.item.name.toLowerCase().includes(query))?.id;
    const links = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll("a")]);
    const first = links.find((link) => link.closest("li")?.dataset.key === matchId) ?? links[0];
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      if (event.key === "Enter") first?.click();
      else first?.focus();
    }
  }

  /** @param {string} id */
  #toggle(id) {
    if (!this.#collapsed.delete(id)) this.#collapsed.add(id);
    localStorage.setItem(COLLAPSED_KEY, JSON.stringify([...this.#collapsed].slice(-500)));
    this.#draw();
  }

  /** @param {Row} row @param {HTMLElement | undefined} old */
  #row({ id, kind, item, depth }, old) {
    const isCollapsed = this.#collapsed.has(id) && !this.filter.value.trim();
    const marks = kind === "session" ? [markOf(item)] : isCollapsed ? marksBelow(this.app, kind, item) : [];
    const mark = marks.length > 0 && markElement(strongestMark(marks));
    const details = kind === "worktree" && (item.status === "ready" ? gitMarks(item) : make("small", item.status));
    const isCurrent = this.app.route.id === id;
    const signature = JSON.stringify([item.name, depth, isCollapsed, mark && mark.textContent, isCurrent, details && `${details.textContent} ${item.cached_pr_status}`]);
    if (old?.dataset.signature === signature) return old;
    const link = make("a", mark, make("span.name", item.name), { href: hashFor(kind, id), title: item.name });
    if (isCurrent) link.ariaCurrent = "page";
    const toggle = kind !== "session" && make("button.fold.quiet", isCollapsed ? "▸" : "▾", {
      type: "button",
      "aria-label": `${isCollapsed ? "Expand" : "Collapse"} ${item.name}`,
      "aria-expanded": String(!isCollapsed),
      onclick: () => this.#toggle(id),
    });
    const element = make("li.row", toggle, link, details, { "data-kind": kind, "data-signature": signature });
    element.style.setProperty("--depth", String(depth));
    return element;
  }
}

/** Rows whose names contain all words, with their parents. @param {Row[]} rows @param {string} query */
function filterRows(rows, query) {
  const words = query.split(/\s+/);
  /** @type {Row[]} */
  const result = [];
  /** @type {Row[]} */
  const path = [];
  /** @type {Set<Row>} */
  const added = new Set();
  for (const row of rows) {
    while (path.length && path[path.length - 1].depth >= row.depth) path.pop();
    path.push(row);
    const names = path.map(({ item }) => item.name).join(" ").toLowerCase();
    if (!words.every((word) => names.includes(word))) continue;
    for (const ancestor of path) {
      if (!added.has(ancestor)) result.push(ancestor);
      added.add(ancestor);
    }
  }
  return result;
}

/**
 * @param {import("./app.js").App} app
 * @param {Set<string>} collapsed
 * @param {string | null} parentId
 * @param {number} depth
 * @returns {Generator<Row>}
 */
function* rowsIn(app, collapsed, parentId, depth) {
  for (const item of app.state.itemsIn(parentId)) {
    yield { id: item.id, kind: item.is_folder ? "folder" : "project", item, depth };
    if (collapsed.has(item.id)) continue;
    if (item.is_folder) yield* rowsIn(app, collapsed, item.id, depth + 1);
    else yield* rowsOf(app, collapsed, item, depth + 1);
  }
}

/**
 * @param {import("./app.js").App} app
 * @param {Set<string>} collapsed
 * @param {Resource} project
 * @param {number} depth
 * @returns {Generator<Row>}
 */
function* rowsOf(app, collapsed, project, depth) {
  for (const worktree of app.state.worktreesOf(project.id)) {
    yield { id: worktree.id, kind: "worktree", item: worktree, depth };
    if (collapsed.has(worktree.id)) continue;
    for (const session of app.state.sessionsOf(worktree.id)) {
      yield { id: session.id, kind: "session", item: session, depth: depth + 1 };
    }
  }
}

/** @param {import("./app.js").App} app @param {string} kind @param {Resource} item @returns {import("./marks.js").Mark[]} */
function marksBelow(app, kind, item) {
  if (kind === "worktree") return app.state.sessionsOf(item.id).map(markOf);
  if (kind === "project") return app.state.worktreesOf(item.id).flatMap((w) => marksBelow(app, "worktree", w));
  return app.state.itemsIn(item.id).flatMap((i) => marksBelow(app, i.is_folder ? "folder" : "project", i));
}

/** @param {import("./app.js").App} app */
function links(app) {
  const navLink = (/** @type {string} */ query, /** @type {string} */ view) => make("a", query, { href: hashFor(view) });
  return make(
    "div.links",
    navLink("All sessions", "canvas"),
    navLink("New worktree", "new"),
    button("Add a project", () => performAction(app, "add_project"), ".quiet"),
    navLink("Search", "search"),
    navLink("Archive", "archive"),
    navLink("Preferences", "preferences"),
    navLink("Server", "server"),
    navLink("Help", "help"),
  );
}
