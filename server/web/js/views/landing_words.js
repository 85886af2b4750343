// @ts-check
// The states of checks, merges and pull requests in words.

/** @type {Record<import("./landing_types.js").Phase, string>} */
export const PHASES = {
  draft: "draft",
  open: "open",
  approved: "approved",
  changes_requested: "changes requested",
  in_conflict: "in conflict",
  queued: "in the queue",
  merged: "merged",
  closed: "closed",
};

/** Of checks, or of all of them together: the word, its symbol, and its classes. @type {Record<import("./landing_types.js").CheckState, { word: string, symbol: string, classes: string }>} */
export const STATES = {
  failed: { word: "failed", symbol: "✗", classes: "bad" },
  waiting: { word: "waiting for a person", symbol: "?", classes: "waits" },
  running: { word: "running", symbol: "◐", classes: "" },
  queued: { word: "queued", symbol: "…", classes: "" },
  cancelled: { word: "canceled", symbol: "–", classes: "" },
  passed: { word: "passed", symbol: "✓", classes: "ok" },
  skipped: { word: "skipped", symbol: "·", classes: "" },
};

/** @type {Record<import("./landing_types.js").CheckResult["status"], string>} */
const CHECK_WORDS = { none: "not checked", running: "check runs", passed: "check passed", failed: "check failed", stopped: "check stopped" };

/** How a branch is known to be merged. @type {Record<string, string>} */
export const MERGED_WORDS = { commits: "merged", squash: "merged by squash", content: "nothing differs", pull_request: "pull request merged" };

/** Its changes were in the base, which has taken some of them back since. */
export const REVERTED = "taken back since";

/** The result of the check script. @param {import("./landing_types.js").CheckResult} check */
export const checkText = ({ status, is_stale }) => `${CHECK_WORDS[status]}${is_stale && status !== "running" ? ", before later changes" : ""}`;
