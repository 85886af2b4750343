// @ts-check
// The one mark of a session, worktree or project: what it needs, by sign, word and colour alike.

import { make } from "./dom.js";
import { counted } from "./words.js";

/**
 * @typedef {import("./state.js").Resource} Resource
 * @typedef {"needs-you" | "failed" | "unread" | "running" | "creating" | "idle"} Mark
 */

/** The strongest first. @type {Mark[]} */
const ORDER = ["needs-you", "failed", "unread", "running", "creating", "idle"];
/** @type {Record<Mark, [string, string]>} */
export const LOOKS = {
  "needs-you": ["?", "needs you"],
  failed: ["✗", "failed"],
  unread: ["●", "finished, not read yet"],
  running: ["◐", "running"],
  creating: ["…", "being made"],
  idle: ["·", "idle"],
};

/** @param {Resource} session @returns {Mark} */
export function markOf(session) {
  if (session.status === "waiting") return "needs-you";
  if (session.status === "running" || session.status === "failed") return session.status;
  return session.unread ? "unread" : "idle";
}

/** The strongest of several. @param {Mark[]} marks @returns {Mark} */
export function strongest(marks) {
  return ORDER.find((mark) => marks.includes(mark)) ?? "idle";
}

/** @param {Mark} mark */
export function markElement(mark) {
  const [sign, words] = LOOKS[mark];
  return make("span.mark", sign, { title: words, role: "img", "aria-label": words, "data-mark": mark });
}

/** @type {Record<string, string>} */
const ASKS = { plan: "has a plan", question: "has a question", permission: "asks for permission" };

/** What a waiting session wants. @param {Resource} session */
export const asks = (session) => ASKS[session.waiting_for] ?? "needs you";

/** How many lines of a worktree are added and removed, and not committed. @param {Resource} worktree */
export function changeCounts(worktree) {
  const { cached_uncommitted_added: more, cached_uncommitted_removed: less } = worktree;
  return [
    more > 0 && make("ins", `+${more}`, { title: `${counted(more, "line")} added, not committed` }),
    less > 0 && make("del", `−${less}`, { title: `${counted(less, "line")} removed, not committed` }),
  ];
}

/** Git's counts of a worktree. @param {Resource} worktree */
export function gitMarks(worktree) {
  const { cached_ahead_count: ahead, cached_behind_count: behind, cached_conflict_count: conflicts } = worktree;
  return make(
    "span.git",
    conflicts > 0 && make("span.bad", counted(conflicts, "conflict")),
    ...changeCounts(worktree),
    ahead > 0 && make("span", `↑${ahead}`, { title: `${ahead} ahead of its base` }),
    behind > 0 && make("span", `↓${behind}`, { title: `${behind} behind its base` }),
    worktree.pr_number && pullRequestMark(worktree),
  );
}

/** @type {Record<string, string>} */
const CHECKS = { success: "✓", failure: "✗", error: "!", pending: "…" };

/** @param {Resource} worktree */
function pullRequestMark(worktree) {
  const { pr_number: number, cached_pr_status: status, cached_check_status: checks } = worktree;
  const sign = CHECKS[checks] ?? "";
  const words = [`pull request ${number}`, status, checks && `checks: ${checks}`].filter(Boolean).join(", ");
  return make("span.pr", `PR ${number} ${sign}`, { title: words, "data-pr": status ?? "open" });
}
