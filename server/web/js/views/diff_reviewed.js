// @ts-check
// What is known of the review of a worktree: a person's verdicts, files viewed, and an agent's findings. All of it is
// kept by Spinney, so that every screen shows the same.

import { coalesce } from "../coalesce.js";
import { pluralize } from "../format.js";

/**
 * @typedef {"unstaged" | "staged" | "branch"} Side
 *
 * @typedef {object} HunkVerdict
 * @property {string} id
 * @property {string} path
 * @property {Side} side
 * @property {"accepted" | "rejected"} verdict
 * @property {string} reason
 * @property {string} text the hunk, as it was then
 *
 * @typedef {object} Finding of an agent's review
 * @property {string} id
 * @property {string} path
 * @property {number} first_line in the new text, from 1
 * @property {number} last_line
 * @property {"critical" | "major" | "minor" | "note"} severity
 * @property {string} explanation
 * @property {string} suggestion the lines that should replace these, or ""
 * @property {"open" | "sent" | "dismissed"} state
 * @property {boolean} is_new
 * @property {boolean} is_outdated
 *
 * @typedef {object} ReviewState
 * @property {{ hunks: number, accepted: number, rejected: number }} progress
 * @property {HunkVerdict[]} verdicts newest first
 * @property {{ path: string, side: Side }[]} viewed
 *
 * @typedef {object} AgentReview
 * @property {"none" | "running" | "completed" | "failed"} status
 * @property {Finding[]} findings
 * @property {string} summary
 * @property {string} error
 * @property {string} agent
 */

export class WorktreeReview {
  /** @type {ReviewState | null} `null` before it was read */ state = null;
  /** @type {AgentReview | null} */ byAgent = null;
  /** Marks that are being saved, by side and path. @type {Map<string, boolean>} */ #toggled = new Map();

  /** @param {import("../app.js").App} app @param {string} worktreeId @param {() => void} onChange */
  constructor(app, worktreeId, onChange) {
    this.app = app;
    this.worktreeId = worktreeId;
    this.onChange = onChange;
    /** Read verdicts, marks and findings; what cannot be read stays as it was. */
    this.read = coalesce(() => this.#read());
  }

  async #read() {
    const { connection } = this.app;
    if (!connection.isOpen) return;
    const args = { worktreeId: this.worktreeId };
    const [state, byAgent] = await Promise.all(["get_review", "get_code_review"].map((command) => connection.call(command, args).catch(() => null)));
    this.state = state ?? this.state;
    this.byAgent = byAgent ?? this.byAgent;
    this.onChange();
  }

  // Files viewed -----------------------------------------------------------------------------------

  /** @param {Side} side @param {string} path */
  isViewed(side, path) {
    return this.#toggled.get(`${side}/${path}`) ?? this.state?.viewed.some((file) => file.path === path && file.side === side) ?? false;
  }

  /** Mark a file as viewed until it changes, or unmark it; the mark is shown at once. @param {Side} side @param {string} path @param {boolean} viewed */
  async setViewed(side, path, viewed) {
    const key = `${side}/${path}`;
    this.#toggled.set(key, viewed);
    await this.app.run("mark_viewed", { worktreeId: this.worktreeId, path, side, viewed });
    await this.#read();
    this.#toggled.delete(key);
    this.onChange();
  }

  // A person's verdicts ----------------------------------------------------------------------------

  /** The number of rejected hunks that no session got. */
  get unsent() {
    return this.state?.progress.rejected ?? 0;
  }

  /** How many hunks are decided, and what waits to be sent; "" without any verdict. */
  get progress() {
    if (!this.state) return "";
    const { hunks, accepted, rejected } = this.state.progress;
    const decided = accepted + rejected;
    return [decided > 0 && `${decided} of ${pluralize(hunks, "hunk")}`, rejected > 0 && `${rejected} rejected to send`].filter(Boolean).join(" · ");
  }

  /** The verdict about a hunk that is still shown: committed, or rejected and back again. @param {string} path @param {Side} side @param {string[]} lines of the hunk, with their signs */
  verdictOf(path, side, lines) {
    return this.state?.verdicts.find((one) => {
      if (one.path !== path || (side !== "branch" && one.verdict !== "rejected")) return false;
      const decided = one.text.split("\n").slice(1).filter((line) => line && !line.startsWith("\\"));
      return decided.length > 0 && decided.every((line, index) => line === lines[index]);
    });
  }

  // An agent's review ------------------------------------------------------------------------------

  get isRunning() {
    return this.byAgent?.status === "running";
  }

  /** The findings that are not dismissed. */
  get findings() {
    return this.byAgent?.findings.filter((finding) => finding.state !== "dismissed") ?? [];
  }

  /** The findings that nothing was done about. */
  get openFindings() {
    return this.findings.filter((finding) => finding.state === "open");
  }

  /** Severity, and what else is to be known of a finding. @param {Finding} finding */
  wordsOf(finding) {
    const marksNew = !this.findings.every((one) => one.is_new); // after a first review everything is new
    return [finding.is_new && marksNew && "new", finding.state !== "open" && finding.state, finding.is_outdated && "outdated"].filter((word) => typeof word === "string");
  }
}

/** `file:line` or `file:first-last`. @param {Finding} finding */
export const locate = ({ path, first_line: first, last_line: last }) => `${path}:${first}${last > first ? `-${last}` : ""}`;
