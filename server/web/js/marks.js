// @ts-check
// Status marks of sessions, worktrees and projects, by symbol, text and color.

import { make } from "./dom.js";
import { pluralize } from "./format.js";
import { icon } from "./icons.js";
import { hashFor } from "./router.js";

/**
 * @typedef {import("./state.js").Resource} Resource
 * @typedef {"needs-you" | "failed" | "unread" | "paused" | "running" | "creating" | "idle"} Mark
 */

/** In order of urgency. @type {Mark[]} */
const ORDER = ["needs-you", "failed", "unread", "paused", "running", "creating", "idle"];
/** @type {Record<Mark, [string, string]>} */
export const MARKS = {
  "needs-you": ["?", "needs you"],
  failed: ["✗", "failed"],
  unread: ["●", "finished, not read yet"],
  paused: ["‖", "paused"],
  running: ["◐", "running"],
  creating: ["…", "being created"],
  idle: ["·", "idle"],
};

/** @param {Resource} session @returns {Mark} */
export function markOf(session) {
  if (session.status === "waiting") return "needs-you";
  if (["running", "failed", "paused"].includes(session.status)) return session.status;
  return session.unread ? "unread" : "idle";
}

/** The most urgent of several marks. @param {Mark[]} marks @returns {Mark} */
export function strongestMark(marks) {
  return ORDER.find((mark) => marks.includes(mark)) ?? "idle";
}

/** @param {Mark} mark */
export function markElement(mark) {
  const [symbol, text] = MARKS[mark];
  return make("span.mark", symbol, { title: text, role: "img", "aria-label": text, "data-mark": mark });
}

/** @type {Record<string, string>} */
const REQUEST_LABELS = { plan: "has a plan", question: "has a question", permission: "asks for permission" };

/** What a waiting session waits for. @param {Resource} session */
export const requestLabel = (session) => REQUEST_LABELS[session.waiting_for] ?? "needs you";

/** The numbers of uncommitted added and removed lines of a worktree. @param {Resource} worktree */
export function changeCounts(worktree) {
  const { cached_uncommitted_added: added, cached_uncommitted_removed: removed } = worktree;
  return [
    added > 0 && make("ins", `+${added}`, { title: `${pluralize(added, "line")} added, not committed` }),
    removed > 0 && make("del", `−${removed}`, { title: `${pluralize(removed, "line")} removed, not committed` }),
  ];
}

/** What merging a worktree now would be in conflict with. @param {Resource} worktree */
function conflictMark(worktree) {
  const others = worktree.conflicts_with?.length ?? 0;
  if (!others && !worktree.conflicts_with_base) return null;
  const partners = [others && pluralize(others, "worktree"), worktree.conflicts_with_base && "its base branch"];
  const href = hashFor("conflicts", worktree.project_id, { worktree: worktree.id });
  return make("a.bad", icon("warning"), make("span", "would conflict"), { href, title: `would conflict with ${partners.filter(Boolean).join(" and ")}` });
}

/** The git status of a worktree. @param {Resource} worktree */
export function gitMarks(worktree) {
  const { cached_ahead_count: ahead, cached_behind_count: behind, cached_conflict_count: conflicts } = worktree;
  return make(
    "span.git",
    conflicts > 0 && make("span.bad", pluralize(conflicts, "conflict")),
    conflictMark(worktree),
    ...changeCounts(worktree),
    ahead > 0 && make("span", `↑${ahead}`, { title: `${ahead} ahead of its base` }),
    behind > 0 && make("span", `↓${behind}`, { title: `${behind} behind its base` }),
    worktree.pr_number && pullRequestMark(worktree),
  );
}

/** @type {Record<string, string>} */
const CHECKS = { success: "✓", failure: "✗", error: "!", pending: "…" };

/** The number of a worktree's pull request, and the state of its checks. @param {Resource} worktree */
export function pullRequestMark(worktree) {
  const { pr_number: number, cached_pr_status: status, cached_check_status: checks } = worktree;
  const symbol = CHECKS[checks] ?? "";
  const text = [`pull request ${number}`, status, checks && `checks: ${checks}`].filter(Boolean).join(", ");
  return make("span.pr", `PR ${number} ${symbol}`, { title: text, "data-pr": status ?? "open" });
}
