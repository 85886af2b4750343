// @ts-check
// The rows of the tree: which there are, and their elements. A worktree with one session is one row.

import { ageElement } from "./age.js";
import { describeActivity } from "./activity.js";
import { avatarElement } from "./avatars.js";
import { make } from "./dom.js";
import { icon } from "./icons.js";
import { gitMarks, markElement, markOf, strongestMark } from "./marks.js";
import { hashFor } from "./router.js";
import { formatAge, formatWhen } from "./format.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./state.js").Resource} Resource
 *
 * @typedef {object} Row
 * @property {string} id
 * @property {"folder" | "project" | "worktree" | "session"} kind
 * @property {Resource} item
 * @property {Resource} [only] the only session of a worktree
 * @property {number} depth
 *
 * @typedef {{ isCollapsed: boolean, toggle: () => void }} Fold
 */

/** @param {App} app @param {Row} row */
export function collapsible(app, { kind, item, only }) {
  if (kind === "worktree") return !only && app.state.sessionsOf(item.id).length > 0;
  return kind !== "session";
}

/** The element of a row; the old one if it is still up to date. @param {App} app @param {Row} row @param {Fold | null} fold @param {HTMLElement | undefined} old */
export function rowElement(app, row, fold, old) {
  const { kind, item, only, depth } = row;
  const session = kind === "session" ? item : only;
  const marks = session ? [markOf(session)] : fold?.isCollapsed ? marksBelow(app, kind, item) : [];
  const mark = marks.length > 0 && strongestMark(marks);
  const isCurrent = [item.id, only?.id].includes(app.route.id);
  const status = statusText(app, item, session);
  const counts = kind === "worktree" && item.status === "ready" ? gitMarks(item) : null;
  const signature = JSON.stringify([item.name, only?.id, only?.name, depth, fold?.isCollapsed, mark, isCurrent, status, counts?.textContent, item.cached_pr_status, item.avatar_path]);
  if (old?.dataset.signature === signature) return old;
  const link = make(
    "a",
    mark && markElement(mark),
    kind === "project" && item.avatar_path && avatarElement(item),
    kind === "folder" && icon("folder"),
    make("span.name", item.name),
    statusElement(status, session),
    { href: session ? hashFor("session", session.id) : hashFor(kind, item.id), title: titleOf(item, only) },
  );
  if (isCurrent) link.ariaCurrent = "page";
  const element = make("li.row", fold ? foldButton(item, fold) : make("span.space"), link, counts, { "data-kind": kind, "data-session": session?.id, "data-signature": signature });
  element.style.setProperty("--depth", String(depth));
  return element;
}

/** @param {Resource} item @param {Resource | undefined} only */
const titleOf = (item, only) => [item.name, item.branch !== item.name && item.branch, only?.name].filter(Boolean).join("\n");

/** @param {Resource} item @param {Fold} fold */
function foldButton(item, { isCollapsed, toggle }) {
  return make("button.fold.quiet", icon("chevron-right"), {
    type: "button",
    "aria-label": `${isCollapsed ? "Expand" : "Collapse"} ${item.name}`,
    "aria-expanded": String(!isCollapsed),
    onclick: toggle,
  });
}

/** What a session waits for or does, or its age; the state of a worktree that is not ready. @param {App} app @param {Resource} item @param {Resource | undefined} session */
function statusText(app, item, session) {
  if (item.status && !["ready", "idle", "running", "waiting", "failed", "paused"].includes(item.status)) return item.status;
  if (!session) return "";
  if (session.waiting_for) return session.waiting_for;
  if (session.status === "paused" && session.pause?.until) return formatWhen(session.pause.until);
  if (session.status === "running") {
    const activity = app.state.activities.get(session.id);
    return activity ? describeActivity(activity) : "";
  }
  return session.message_count ? formatAge(session.updated_at) : "";
}

/** @param {string} text @param {Resource | undefined} session */
function statusElement(text, session) {
  if (!text) return null;
  const isAge = session && !session.waiting_for && session.status !== "running" && text === formatAge(session.updated_at);
  return make(session?.waiting_for ? "small.waiting" : "small", isAge ? ageElement(session.updated_at) : text);
}

/** Rows whose names contain all words, with their parents. @param {Row[]} rows @param {string} query */
export function filterRows(rows, query) {
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
    const names = path.map(({ item, only }) => `${item.name} ${only?.name ?? ""}`).join(" ").toLowerCase();
    if (!words.every((word) => names.includes(word))) continue;
    for (const ancestor of path) {
      if (!added.has(ancestor)) result.push(ancestor);
      added.add(ancestor);
    }
  }
  return result;
}

/**
 * @param {App} app
 * @param {Set<string>} collapsed
 * @param {string | null} parentId
 * @param {number} depth
 * @returns {Generator<Row>}
 */
export function* rowsIn(app, collapsed, parentId, depth) {
  for (const item of app.state.itemsIn(parentId)) {
    yield { id: item.id, kind: item.is_folder ? "folder" : "project", item, depth };
    if (collapsed.has(item.id)) continue;
    if (item.is_folder) yield* rowsIn(app, collapsed, item.id, depth + 1);
    else yield* rowsOf(app, collapsed, item, depth + 1);
  }
}

/**
 * @param {App} app
 * @param {Set<string>} collapsed
 * @param {Resource} project
 * @param {number} depth
 * @returns {Generator<Row>}
 */
function* rowsOf(app, collapsed, project, depth) {
  for (const worktree of app.state.worktreesOf(project.id)) {
    const sessions = app.state.sessionsOf(worktree.id);
    const only = sessions.length === 1 ? sessions[0] : undefined;
    yield { id: worktree.id, kind: "worktree", item: worktree, only, depth };
    if (only || collapsed.has(worktree.id)) continue;
    for (const session of sessions) yield { id: session.id, kind: "session", item: session, depth: depth + 1 };
  }
}

/** @param {App} app @param {string} kind @param {Resource} item @returns {import("./marks.js").Mark[]} */
function marksBelow(app, kind, item) {
  if (kind === "worktree") return app.state.sessionsOf(item.id).map(markOf);
  if (kind === "project") return app.state.worktreesOf(item.id).flatMap((worktree) => marksBelow(app, "worktree", worktree));
  return app.state.itemsIn(item.id).flatMap((child) => marksBelow(app, child.is_folder ? "folder" : "project", child));
}
