// @ts-check
// What the landing desk reads, as the API returns it: see model/domain/landing.py.

/**
 * @typedef {"answer" | "wait" | "commit" | "resolve" | "fix" | "review" | "check" | "update" | "land" | "merge" | "archive"} NextStep
 * @typedef {"merge" | "squash" | "rebase"} MergeMethod
 * @typedef {"keep" | "archive" | "delete"} AfterLanding
 * @typedef {"queued" | "running" | "passed" | "failed" | "cancelled" | "skipped" | "waiting"} CheckState
 * @typedef {"draft" | "open" | "approved" | "changes_requested" | "in_conflict" | "queued" | "merged" | "closed"} Phase
 *
 * @typedef {object} CheckResult
 * @property {string} worktree_id
 * @property {"none" | "running" | "passed" | "failed" | "stopped"} status
 * @property {boolean} has_script
 * @property {boolean} is_stale
 * @property {number | null} started_at
 * @property {number | null} ended_at
 * @property {number | null} exit_code
 * @property {string} error
 *
 * @typedef {object} LandingRow
 * @property {string} worktree_id
 * @property {string} name
 * @property {string} branch
 * @property {string} base
 * @property {number} files
 * @property {number} added
 * @property {number} removed
 * @property {number} ahead
 * @property {number} behind
 * @property {number} uncommitted
 * @property {{ with: string, with_kind: "worktree" | "branch", files: string[] }[]} conflicts
 * @property {{ hunks: number, accepted: number, rejected: number, files: number, viewed: number }} review
 * @property {CheckResult} check
 * @property {{ number: number, url: string, phase: Phase | null, checks: CheckState | null, unresolved: number, unanswered: number } | null} pull_request
 * @property {string | null} merged
 * @property {boolean} reverted
 * @property {NextStep} next
 * @property {string} reason
 * @property {string} new_base onto which it has to be moved, as its base has landed
 *
 * @typedef {object} Landing
 * @property {string} id
 * @property {string[]} worktree_ids
 * @property {string} base
 * @property {string} before
 * @property {string} after
 * @property {MergeMethod} method
 * @property {number} landed_at
 * @property {number | null} undone_at
 * @property {string[]} notes
 *
 * @typedef {object} TrainCar
 * @property {string} worktree_id
 * @property {string} branch
 * @property {"waiting" | "merging" | "checking" | "ready" | "conflict" | "failed" | "left_out"} status
 * @property {string[]} conflicts files
 * @property {string[]} siblings branches before it that it is in conflict with
 * @property {"none" | "passed" | "failed"} check
 * @property {string} error
 *
 * @typedef {object} Train
 * @property {string} id
 * @property {string} project_id
 * @property {string} base
 * @property {MergeMethod} method
 * @property {boolean} with_check
 * @property {boolean} keep_going
 * @property {"running" | "stopped" | "ready" | "landed" | "outdated" | "failed"} status
 * @property {TrainCar[]} cars
 * @property {number} started_at
 * @property {number | null} ended_at
 * @property {string} error
 * @property {string | null} landing_id
 */

/** @type {[MergeMethod, string][]} */
export const METHODS = [["merge", "Merge"], ["squash", "Squash"], ["rebase", "Rebase"]];

/** @type {[AfterLanding, string][]} */
export const AFTER = [["keep", "Keep the worktree"], ["archive", "Archive the worktree"], ["delete", "Delete the worktree and its branch"]];
