// @ts-check
// The conflicts that merging the worktrees of a project would have: which of them, in which files, both versions of
// each place, and a message with these to a session.

import { missingView } from "../app.js";
import { coalesce } from "../coalesce.js";
import { button, make, syncKeyed } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("conflicts");

const MAX_OPEN = 3; // files that are open at first; if there are more, all are closed
const MAX_COLUMNS = 12; // worktrees and branches of the matrix; with more of them only the list is shown

/**
 * @typedef {import("../app.js").App} App
 * @typedef {{ start: number, count: number, lines: string[] }} Side
 * @typedef {{ path: string, kind: keyof typeof KINDS, hunks: { ours: Side, theirs: Side }[] }} ConflictedFile
 * @typedef {{ worktree_id: string, with: string, with_kind: "worktree" | "branch", files: ConflictedFile[] }} Conflict
 */

const KINDS = { changed: "changed in both", added: "added in both", deleted: "deleted in one, changed in the other", moved: "moved to different places", path: "changed in both" };

/** With `worktree` in the address, its conflicts are the first ones. @type {import("../app.js").MakeView} */
export function conflictsView(app, route) {
  const project = () => app.state.projects.get(route.id);
  if (!project()) return missingView(app, "projects", route.id);
  const list = make("div.list");
  const matrix = make("div.matrix");
  const status = make("p.hint", "Loading …", { role: "status" });
  const load = coalesce(async () => {
    const found = await app.read("list_conflicts", { projectId: route.id });
    if (found) draw(listPairs(found, route.query.get("worktree") ?? ""));
  });
  /** @param {Conflict[]} pairs */
  const draw = (pairs) => {
    const isOpen = pairs.reduce((sum, { files }) => sum + files.length, 0) <= MAX_OPEN;
    status.textContent = pairs.length ? "Not merged yet, but changed in the same places. What is not committed counts, too." : "No worktrees of this project would be in conflict, as far as is known.";
    syncKeyed(list, pairs, keyOf, (pair, old) => pairElement(app, pair, isOpen, old));
    drawMatrix(app, matrix, list, pairs);
  };
  load();
  return {
    title: "Conflicts to come",
    get subtitle() {
      return project()?.name;
    },
    element: make("div.page.conflicts", status, matrix, list),
    update: (change) => change.tree && !project() && app.showRoute(),
    handleEvent: (name, body) => name === "worktree:conflicts_updated" && app.state.worktrees.get(body.worktree_id)?.project_id === route.id && load(),
    handleReload: load,
  };
}

/** @param {Conflict} conflict */
const keyOf = (conflict) => JSON.stringify([conflict.worktree_id, conflict.with].sort());

/** Each pair once, although both of its worktrees list it. @param {Conflict[]} found @param {string} first the worktree whose pairs come first */
function listPairs(found, first) {
  /** @type {Map<string, Conflict>} */
  const pairs = new Map();
  const ordered = [...found].sort((a, b) => Number(b.worktree_id === first) - Number(a.worktree_id === first));
  for (const conflict of ordered) if (!pairs.has(keyOf(conflict))) pairs.set(keyOf(conflict), conflict);
  return [...pairs.values()];
}

/** Draw how many files each two have in conflict; nothing for two of them, or for too many. @param {App} app @param {HTMLElement} matrix @param {HTMLElement} list its cards, in the order of the pairs @param {Conflict[]} pairs */
function drawMatrix(app, matrix, list, pairs) {
  const sides = new Map(pairs.flatMap(({ worktree_id: one, with: other }) => [one, other].map((id) => [id, nameOf(app, id)])));
  const ids = [...sides.keys()].sort((a, b) => (sides.get(a) ?? "").localeCompare(sides.get(b) ?? ""));
  const isShown = ids.length > 2 && ids.length <= MAX_COLUMNS;
  const signature = isShown ? JSON.stringify([...sides, ...pairs.map((pair) => [keyOf(pair), pair.files.length])]) : "";
  if (matrix.dataset.signature === signature) return;
  matrix.dataset.signature = signature;
  matrix.replaceChildren();
  if (!isShown) return;
  const places = new Map(pairs.map((pair, place) => [keyOf(pair), place]));
  /** @param {string} one @param {string} other */
  const cell = (one, other) => {
    const place = places.get(JSON.stringify([one, other].sort()));
    if (place === undefined) return "·";
    const label = `${pluralize(pairs[place].files.length, "file")}: ${sides.get(one)} and ${sides.get(other)}`;
    return button(String(pairs[place].files.length), () => list.children[place]?.scrollIntoView(), "", { "aria-label": label, title: label });
  };
  const head = make("tr", make("td"), ids.slice(1).map((id) => make("th", sides.get(id), { scope: "col" })));
  const rows = ids.slice(0, -1).map((one, row) => make("tr", make("th", sides.get(one), { scope: "row" }), ids.slice(1).map((other, column) => make("td", column < row ? "" : cell(one, other)))));
  matrix.append(make("table", make("caption", "Files in conflict"), head, rows));
}

/** @param {App} app @param {Conflict} conflict @param {boolean} isOpen @param {HTMLElement | undefined} old */
function pairElement(app, conflict, isOpen, old) {
  const { worktree_id: one, with: other, files } = conflict;
  const names = [nameOf(app, one), nameOf(app, other)];
  const signature = JSON.stringify([names, conflict]);
  if (old?.dataset.signature === signature) return old;
  const opened = old && [.../** @type {NodeListOf<HTMLDetailsElement>} */ (old.querySelectorAll("details[open]"))].map(({ dataset }) => dataset.path);
  const isBranch = conflict.with_kind === "branch";
  const partner = isBranch ? [make("code", other), " (base branch)"] : make("a", names[1], { href: hashFor("worktree", other) });
  return make(
    "section.card",
    make("h2", make("a", names[0], { href: hashFor("worktree", one) }), " and ", partner),
    files.map((file) => fileElement(file, names, opened?.includes(file.path) ?? isOpen)),
    make(
      "div.choices",
      writeButton(app, one, other, names[0]),
      !isBranch && writeButton(app, other, one, names[1]),
    ),
    { "data-signature": signature },
  );
}

/** @param {App} app @param {string} id of a worktree, or the name of a branch */
const nameOf = (app, id) => app.state.worktrees.get(id)?.name ?? id;

/** A button to put a message with both versions into the message box of a session. @param {App} app @param {string} worktreeId @param {string} partner @param {string} name */
function writeButton(app, worktreeId, partner, name) {
  const write = async () => {
    const written = await app.run("write_conflict_message", { worktreeId, partner });
    if (!written) return;
    const [newest] = [...app.state.sessionsOf(worktreeId)].sort((a, b) => (b.updated_at ?? 0) - (a.updated_at ?? 0));
    const session = newest ?? (await app.run("create_session", { worktreeId }));
    if (!session) return;
    app.outbox.putBack({ sessionId: session.id, message: written.message, images: [], files: [] });
    app.go("session", session.id);
  };
  return button([icon("agent"), `Write to ${name}`], write, "", { title: "Puts a message with both versions into the message box" });
}

/** @param {ConflictedFile} file @param {string[]} names @param {boolean} isOpen */
function fileElement(file, names, isOpen) {
  const about = file.kind === "changed" && file.hunks.length ? pluralize(file.hunks.length, "place") : KINDS[file.kind];
  const element = make("details.conflict-file", make("summary", make("span.path", file.path), " ", make("small", about)), { open: isOpen, "data-path": file.path });
  const fill = () => element.open && element.childElementCount === 1 && element.append(...placesOf(file, names));
  element.addEventListener("toggle", fill);
  fill();
  return element;
}

/** @param {ConflictedFile} file @param {string[]} names */
function placesOf(file, [one, other]) {
  if (!file.hunks.length) return [make("p.hint", file.kind === "path" ? "Whether the changes fit is known from git 2.39 on." : "The versions are not shown: not text, or too long.")];
  return file.hunks.map(({ ours, theirs }) => make("div.versions", sideElement(one, ours), sideElement(other, theirs)));
}

/** @param {string} name @param {Side} side */
function sideElement(name, { start, count, lines }) {
  return make(
    "figure",
    make("figcaption", make("b", name), count ? ` line ${start}` : " no lines"),
    lines.length > 0 && make("pre", make("code", lines.join("\n"))),
    count > lines.length && make("p.hint", `… ${pluralize(count - lines.length, "more line")}`),
  );
}
