// @ts-check
// The tree of folders, projects, worktrees and sessions, with their most urgent mark. All rows have the same height,
// and only visible ones are rendered, so that thousands of rows are as fast as a screenful.

import { button, make, syncKeyed } from "./dom.js";
import { icon } from "./icons.js";
import { performAction } from "./perform.js";
import { hashFor } from "./router.js";
import { enableDrag } from "./tree_drag.js";
import { collapsible, filterRows, rowElement, rowsIn } from "./tree_rows.js";

/** @typedef {import("./tree_rows.js").Row} Row */

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
    this.filter = make("input.filter", { type: "search", placeholder: "Filter", "aria-label": "Filter projects", autocomplete: "off" });
    this.list = make("ul.rows");
    this.status = make("p.hint", { role: "status" });
    this.scroller = make("div.scroller", this.status, this.list);
    this.nav.append(treeHead(app, this.filter), this.scroller, links());
    enableDrag(app, this.list);
    this.filter.addEventListener("input", () => {
      this.#draw();
      if (!this.filter.value) this.#reveal();
    });
    this.filter.addEventListener("keydown", (event) => this.#handleKey(event));
    this.scroller.addEventListener("scroll", () => (this.#frame ||= requestAnimationFrame(() => this.#render())), { passive: true });
    new ResizeObserver(() => this.#render()).observe(this.scroller);
    app.onChange((change) => {
      if (change.tree) this.#draw();
      else if (change.activity) this.#render();
    });
    addEventListener("hashchange", () => {
      this.#render();
      markCurrentLink(this.nav, app.route.view);
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
    const top = this.scroller.scrollTop - this.list.offsetTop;
    const first = Math.max(0, Math.min(Math.floor(top / height) - OVERSCAN, this.#rows.length - 1));
    const last = Math.max(first, Math.min(this.#rows.length, Math.ceil((top + this.scroller.clientHeight) / height) + OVERSCAN));
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
    return known || parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
  }

  /** Scroll to the row of the current view. */
  #reveal() {
    const { id } = this.app.route;
    const index = this.#rows.findIndex((row) => row.id === id || row.only?.id === id);
    if (index < 0) return;
    const height = this.#rowHeight();
    const above = this.list.offsetTop + index * height;
    const isAbove = above < this.scroller.scrollTop;
    const isBelow = above + height > this.scroller.scrollTop + this.scroller.clientHeight;
    if (isAbove || isBelow) this.scroller.scrollTop = above - this.scroller.clientHeight / 2;
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
  #row(row, old) {
    const isCollapsed = this.#collapsed.has(row.id) && !this.filter.value.trim();
    const fold = collapsible(this.app, row) ? { isCollapsed, toggle: () => this.#toggle(row.id) } : null;
    return rowElement(this.app, row, fold, old);
  }
}

/** What is most wanted, above the rows. @param {import("./app.js").App} app @param {HTMLElement} filter */
function treeHead(app, filter) {
  const add = button(icon("plus"), () => performAction(app, "add_project"), ".icon-only", { title: "Add a project", "aria-label": "Add a project" });
  return make(
    "div.head",
    make("a.button.primary", icon("edit"), "New task", { href: hashFor("new") }),
    add,
    make("div.search-field", icon("search"), filter),
  );
}

/** @type {[name: string, view: string, icon: string][]} */
const LINKS = [
  ["All sessions", "canvas", "grid"],
  ["Open work", "work", "label"],
  ["Landing", "landing", "merge"],
  ["Search", "search", "search"],
  ["Archive", "archive", "archive"],
  ["Usage", "usage", "bolt"],
  ["Preferences", "preferences", "settings"],
  ["Server", "server", "server"],
  ["Help", "help", "question"],
];

/** The other views, below the rows. */
const links = () => make("div.links", LINKS.map(([name, view, symbol]) => make("a", icon(symbol), name, { href: hashFor(view), "data-view": view })));

/** @param {HTMLElement} nav @param {string} view */
function markCurrentLink(nav, view) {
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (nav.querySelectorAll(".links a"))) link.ariaCurrent = link.dataset.view === view ? "page" : null;
}
