// @ts-check
// The drawer: folders, projects, worktrees and sessions, each with its strongest mark.

import { make, placeKeyed } from "./dom.js";
import { gitMarks, markElement, markOf, strongest } from "./marks.js";
import { hashOf } from "./router.js";

/** @typedef {import("./state.js").Resource} Resource */

const KEY = "spinney-folded";

/** @param {import("./app.js").App} app */
export function tree(app) {
  const nav = /** @type {HTMLElement} */ (document.getElementById("tree"));
  const list = make("ul.rows");
  nav.append(list, links());
  /** @type {Set<string>} */
  const folded = new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));

  /** @param {string} id */
  const toggle = (id) => {
    if (!folded.delete(id)) folded.add(id);
    localStorage.setItem(KEY, JSON.stringify([...folded].slice(-500)));
    draw();
  };
  const draw = () => {
    const rows = [...rowsIn(app, folded, null, 0)];
    placeKeyed(list, rows, (row) => row.id, (row) => rowElement(app, row, folded, toggle));
  };
  app.follow((change) => change.tree && draw());
  addEventListener("hashchange", draw);
}

/** @typedef {{ id: string, kind: "folder" | "project" | "worktree" | "session", item: Resource, depth: number }} Row */

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

/**
 * @param {import("./app.js").App} app
 * @param {Row} row
 * @param {Set<string>} folded
 * @param {(id: string) => void} toggle
 */
function rowElement(app, { id, kind, item, depth }, folded, toggle) {
  const element = make(`li.row`, { "data-kind": kind });
  element.style.setProperty("--depth", String(depth));
  if (kind !== "session") {
    const isFolded = folded.has(id);
    const words = `${isFolded ? "Unfold" : "Fold"} ${item.name}`;
    const fold = make("button.fold.quiet", isFolded ? "▸" : "▾", { type: "button", "aria-label": words });
    fold.ariaExpanded = String(!isFolded);
    fold.onclick = () => toggle(id);
    element.append(fold);
  }
  const marks = kind === "session" ? [markOf(item)] : folded.has(id) ? marksBelow(app, kind, item) : [];
  const link = make("a", marks.length > 0 && markElement(strongest(marks)), make("span.name", item.name));
  link.href = hashOf(kind, id);
  if (app.route.id === id) link.ariaCurrent = "page";
  element.append(link);
  if (kind === "worktree") element.append(item.status === "ready" ? gitMarks(item) : make("small", item.status));
  return element;
}

/** @param {import("./app.js").App} app @param {string} kind @param {Resource} item @returns {import("./marks.js").Mark[]} */
function marksBelow(app, kind, item) {
  if (kind === "worktree") return app.state.sessionsOf(item.id).map(markOf);
  if (kind === "project") return app.state.worktreesOf(item.id).flatMap((w) => marksBelow(app, "worktree", w));
  return app.state.itemsIn(item.id).flatMap((i) => marksBelow(app, i.is_folder ? "folder" : "project", i));
}

function links() {
  const to = (/** @type {string} */ words, /** @type {string} */ view) => make("a", words, { href: hashOf(view) });
  return make(
    "div.links",
    to("New worktree", "new"),
    to("Search", "search"),
    to("Preferences", "preferences"),
    to("Server", "server"),
    to("Help", "help"),
  );
}
