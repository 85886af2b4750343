// @ts-check
// The drawer: folders, projects, worktrees and sessions, each with its strongest mark. Rows have one
// height, and only those in sight are drawn, so that thousands cost what a screen of them costs.

import { button, make, placeKeyed } from "./dom.js";
import { gitMarks, markElement, markOf, strongest } from "./marks.js";
import { perform } from "./perform.js";
import { hashOf } from "./router.js";

/**
 * @typedef {import("./state.js").Resource} Resource
 * @typedef {{ id: string, kind: "folder" | "project" | "worktree" | "session", item: Resource, depth: number }} Row
 */

const KEY = "spinney-folded";
const MORE = 20; // rows beyond the edges: what a flick or the tab key reaches before the next frame

/** @param {import("./app.js").App} app */
export function tree(app) {
  return new Tree(app);
}

class Tree {
  /** @type {Set<string>} */ #folded = new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
  /** @type {Row[]} */ #rows = [];
  #frame = 0;

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.nav = /** @type {HTMLElement} */ (document.getElementById("tree"));
    this.filter = make("input.filter", { type: "search", placeholder: "filter", "aria-label": "Filter the projects", autocomplete: "off" });
    this.list = make("ul.rows");
    this.told = make("p.hint", { role: "status" });
    this.nav.append(this.filter, this.told, this.list, links(app));
    this.filter.oninput = () => {
      this.#draw();
      if (!this.filter.value) this.#reveal();
    };
    this.filter.onkeydown = (event) => this.#key(event);
    this.nav.addEventListener("scroll", () => (this.#frame ||= requestAnimationFrame(() => this.#place())), { passive: true });
    new ResizeObserver(() => this.#place()).observe(this.nav);
    app.follow((change) => change.tree && this.#draw());
    addEventListener("hashchange", () => {
      this.#place();
      this.#reveal();
    });
  }

  #draw() {
    const words = this.filter.value.trim().toLowerCase();
    const all = [...rowsIn(this.app, words ? new Set() : this.#folded, null, 0)];
    this.#rows = words ? fitting(all, words) : all;
    this.told.textContent = words && !this.#rows.length ? `Nothing is called “${this.filter.value.trim()}”.` : "";
    this.#place();
  }

  /** Draw the rows that are in sight. */
  #place() {
    this.#frame = 0;
    const height = this.#rowHeight();
    const top = this.nav.scrollTop - this.list.offsetTop;
    const first = Math.max(0, Math.min(Math.floor(top / height) - MORE, this.#rows.length - 1));
    const last = Math.max(first, Math.min(this.#rows.length, Math.ceil((top + this.nav.clientHeight) / height) + MORE));
    this.list.style.setProperty("--before", String(first));
    this.list.style.setProperty("--after", String(this.#rows.length - last));
    const focus = /** @type {HTMLElement | null} */ (this.list.contains(document.activeElement) ? document.activeElement : null);
    const key = focus?.closest("li")?.dataset.key;
    placeKeyed(this.list, this.#rows.slice(first, last), (row) => row.id, (row, old) => this.#row(row, old));
    this.#number(first);
    if (focus && !focus.isConnected) {
      const again = [...this.list.children].find((row) => /** @type {HTMLElement} */ (row).dataset.key === key);
      /** @type {HTMLElement | null | undefined} */ (again?.querySelector(focus.localName))?.focus({ preventScroll: true });
    }
  }

  /** Say which of all rows these are, since the others are not there to be counted. @param {number} first */
  #number(first) {
    for (const [place, row] of [...this.list.children].entries()) {
      row.ariaSetSize = String(this.#rows.length);
      row.ariaPosInSet = String(first + place + 1);
    }
  }

  #rowHeight() {
    const known = this.list.firstElementChild?.getBoundingClientRect().height;
    return known || 2.5 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  /** Scroll to the row of the place that is shown. */
  #reveal() {
    const place = this.#rows.findIndex((row) => row.id === this.app.route.id);
    if (place < 0) return;
    const height = this.#rowHeight();
    const above = this.list.offsetTop + place * height;
    const isAbove = above < this.nav.scrollTop + this.filter.offsetHeight;
    const isBelow = above + height > this.nav.scrollTop + this.nav.clientHeight;
    if (isAbove || isBelow) this.nav.scrollTop = above - this.nav.clientHeight / 2;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Escape" && this.filter.value) {
      event.stopPropagation();
      this.filter.value = "";
      this.#draw();
      this.#reveal();
    }
    const words = this.filter.value.trim().toLowerCase();
    const hit = this.#rows.find((row) => row.item.name.toLowerCase().includes(words))?.id;
    const links = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll("a")]);
    const first = links.find((link) => link.closest("li")?.dataset.key === hit) ?? links[0];
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      if (event.key === "Enter") first?.click();
      else first?.focus();
    }
  }

  /** @param {string} id */
  #toggle(id) {
    if (!this.#folded.delete(id)) this.#folded.add(id);
    localStorage.setItem(KEY, JSON.stringify([...this.#folded].slice(-500)));
    this.#draw();
  }

  /** @param {Row} row @param {HTMLElement | undefined} old */
  #row({ id, kind, item, depth }, old) {
    const isFolded = this.#folded.has(id) && !this.filter.value.trim();
    const marks = kind === "session" ? [markOf(item)] : isFolded ? marksBelow(this.app, kind, item) : [];
    const mark = marks.length > 0 && markElement(strongest(marks));
    const told = kind === "worktree" && (item.status === "ready" ? gitMarks(item) : make("small", item.status));
    const isHere = this.app.route.id === id;
    const looks = JSON.stringify([item.name, depth, isFolded, mark && mark.textContent, isHere, told && `${told.textContent} ${item.cached_pr_status}`]);
    if (old?.dataset.looks === looks) return old;
    const link = make("a", mark, make("span.name", item.name), { href: hashOf(kind, id), title: item.name });
    if (isHere) link.ariaCurrent = "page";
    const fold = kind !== "session" && make("button.fold.quiet", isFolded ? "▸" : "▾", {
      type: "button",
      "aria-label": `${isFolded ? "Unfold" : "Fold"} ${item.name}`,
      "aria-expanded": String(!isFolded),
      onclick: () => this.#toggle(id),
    });
    const element = make("li.row", fold, link, told, { "data-kind": kind, "data-looks": looks });
    element.style.setProperty("--depth", String(depth));
    return element;
  }
}

/** Rows with these words in their names, and all that they lie in. @param {Row[]} rows @param {string} words */
function fitting(rows, words) {
  const wanted = words.split(/\s+/);
  /** @type {Row[]} */
  const kept = [];
  /** @type {Row[]} */
  const path = [];
  /** @type {Set<Row>} */
  const taken = new Set();
  for (const row of rows) {
    while (path.length && path[path.length - 1].depth >= row.depth) path.pop();
    path.push(row);
    const names = path.map(({ item }) => item.name).join(" ").toLowerCase();
    if (!wanted.every((word) => names.includes(word))) continue;
    for (const each of path) {
      if (!taken.has(each)) kept.push(each);
      taken.add(each);
    }
  }
  return kept;
}

/**
 * @param {import("./app.js").App} app
 * @param {Set<string>} folded
 * @param {string | null} parentId
 * @param {number} depth
 * @returns {Generator<Row>}
 */
function* rowsIn(app, folded, parentId, depth) {
  for (const item of app.state.itemsIn(parentId)) {
    yield { id: item.id, kind: item.is_folder ? "folder" : "project", item, depth };
    if (folded.has(item.id)) continue;
    if (item.is_folder) yield* rowsIn(app, folded, item.id, depth + 1);
    else yield* rowsOf(app, folded, item, depth + 1);
  }
}

/**
 * @param {import("./app.js").App} app
 * @param {Set<string>} folded
 * @param {Resource} project
 * @param {number} depth
 * @returns {Generator<Row>}
 */
function* rowsOf(app, folded, project, depth) {
  for (const worktree of app.state.worktreesOf(project.id)) {
    yield { id: worktree.id, kind: "worktree", item: worktree, depth };
    if (folded.has(worktree.id)) continue;
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
  const to = (/** @type {string} */ words, /** @type {string} */ view) => make("a", words, { href: hashOf(view) });
  return make(
    "div.links",
    to("All sessions", "canvas"),
    to("New worktree", "new"),
    button("Add a project", () => perform(app, "add_project"), ".quiet"),
    to("Search", "search"),
    to("Archive", "archive"),
    to("Preferences", "preferences"),
    to("Server", "server"),
    to("Help", "help"),
  );
}
