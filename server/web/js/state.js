// @ts-check
// The state of the page, and how events change it, in the same way as in Spinney itself.
// The open conversation is not part of it; see session/conversation.js.

import { activityAfter } from "./activity.js";
import { GIT_STATUS_FIELDS } from "./generated.js";

/**
 * @typedef {Record<string, any> & { id: string }} Resource a project, worktree, session or message as in the API
 *
 * @typedef {object} Change what an event changed; views update what is affected
 * @property {Set<string>} ids of projects, worktrees and sessions
 * @property {boolean} tree whether rows of the tree were added, removed or changed
 * @property {boolean} activity whether a running session does something else
 * @property {boolean} preferences
 * @property {Set<string>} queues ids of sessions whose queued messages changed
 */

/** @returns {Change} */
export const noChange = () => ({ ids: new Set(), tree: false, activity: false, preferences: false, queues: new Set() });

/**
 * @param {Resource[]} items
 * @returns {Map<string, Resource>}
 */
const byId = (items) => new Map(items.map((item) => [item.id, item]));

/** Lowest `order` first, then the oldest. @param {Resource[]} items */
const sortItems = (items) =>
  items.sort((a, b) => a.order - b.order || (a.created_at ?? a.added_at) - (b.created_at ?? b.added_at));

/** Projects, worktrees, sessions, queued messages, notices and preferences. */
export class State {
  /** @type {Map<string, Resource>} */ projects = new Map();
  /** @type {Map<string, Resource>} */ worktrees = new Map();
  /** @type {Map<string, Resource>} */ sessions = new Map();
  /** @type {Map<string, Resource[]>} by session id */ queued = new Map();
  /** @type {Map<string, import("./activity.js").Activity>} by session id */ activities = new Map();
  /** @type {Record<string, any>} */ preferences = {};
  /** @type {Map<string, Resource>} */ notices = new Map();
  /** The running program: its version, another installed one, a restart. @type {Record<string, any>} */ program = {};
  isLoaded = false;
  /** Ordered children by parent id, cached until the next event. @type {Map<string | null, Resource[]> | null} */ #children = null;

  /** @param {any} snapshot of `GET /api/init` */
  load(snapshot) {
    this.projects = byId(snapshot.projects);
    this.worktrees = byId(Object.values(snapshot.worktreesByProject).flat());
    this.sessions = byId(Object.values(snapshot.sessionsByWorktree).flat());
    this.queued = new Map(Object.entries(snapshot.queuedBySession));
    this.preferences = snapshot.preferences;
    this.notices = byId(snapshot.notices ?? []);
    this.program = snapshot.program ?? {};
    this.#children = null;
    this.isLoaded = true;
  }

  // Queries ----------------------------------------------------------------------------------------

  /** The folders and projects in a folder, or at the top level. @param {string | null} parentId */
  itemsIn(parentId) {
    return this.#childrenOf(parentId);
  }

  /** @param {string} projectId */
  worktreesOf(projectId) {
    return this.#childrenOf(projectId);
  }

  /** @param {string} worktreeId */
  sessionsOf(worktreeId) {
    return this.#childrenOf(worktreeId);
  }

  /** @param {string | null} id of the parent */
  #childrenOf(id) {
    this.#children ??= this.#groupByParent();
    return this.#children.get(id) ?? [];
  }

  // One pass for all rows: a search per row would be too slow for a tree of thousands.
  #groupByParent() {
    /** @type {Map<string | null, Resource[]>} */
    const children = new Map();
    /** @param {string | null} id @param {Resource} item */
    const add = (id, item) => {
      const siblings = children.get(id);
      if (siblings) siblings.push(item);
      else children.set(id, [item]);
    };
    for (const item of this.projects.values()) add(item.parent_id ?? null, item);
    for (const worktree of this.worktrees.values()) if (!worktree.archived_at) add(worktree.project_id, worktree);
    for (const session of this.sessions.values()) if (!session.archived_at) add(session.worktree_id, session);
    for (const items of children.values()) sortItems(items);
    return children;
  }

  /** Sessions that wait for the user, the longest waiting first. */
  waiting() {
    const all = [...this.sessions.values()].filter((s) => s.waiting_for && !this.#isArchived(s));
    return all.sort((a, b) => (a.updated_at ?? 0) - (b.updated_at ?? 0));
  }

  /** The sessions at work, the latest first. */
  running() {
    const all = [...this.sessions.values()].filter((s) => s.status === "running" && !this.#isArchived(s));
    return all.sort((a, b) => (b.updated_at ?? 0) - (a.updated_at ?? 0));
  }

  /** Sessions that have ended their turn, unread ones first, then the latest. @param {number} limit */
  recent(limit) {
    const isOver = (/** @type {Resource} */ s) => s.message_count > 0 && ["idle", "failed", "paused"].includes(s.status) && !this.#isArchived(s);
    const all = [...this.sessions.values()].filter(isOver);
    return all.sort((a, b) => Number(b.unread) - Number(a.unread) || (b.updated_at ?? 0) - (a.updated_at ?? 0)).slice(0, limit);
  }

  /** @param {Resource} session */
  #isArchived(session) {
    return Boolean(session.archived_at || this.worktrees.get(session.worktree_id)?.archived_at);
  }

  /** The worktree and project of a session, if they are known. @param {Resource | undefined} session */
  parentsOf(session) {
    const worktree = this.worktrees.get(session?.worktree_id);
    return { worktree, project: this.projects.get(worktree?.project_id) };
  }

  // Events -----------------------------------------------------------------------------------------

  /**
   * Apply an event and record what it changed.
   * @param {string} name
   * @param {any} body
   * @param {Change} change
   */
  apply(name, body, change) {
    const [topic] = name.split(/[:-]/);
    this.#applyToActivity(name, body, change);
    if (topic !== "content" && topic !== "message") this.#children = null;
    if (name === "message-queued" || name === "message-removed") this.#applyToQueue(name, body, change);
    else if (topic === "session") this.#applyToSessions(name, body, change);
    else if (topic === "worktree" || topic === "git") this.#applyToWorktrees(name, body, change);
    else if (topic === "project") this.#applyToProjects(name, body, change);
    else if (name === "notice:raised" || name === "notice:withdrawn") {
      if (body.notice) this.notices.set(body.notice.id, body.notice);
      else this.notices.delete(body.notice_id);
      change.tree = true;
    }
    else if (name === "program:updated") this.program = body.program;
    else if (name === "preferences:updated") {
      Object.assign(this.preferences, body.changes);
      change.preferences = true;
    }
  }

  /** @param {string} name @param {any} body @param {Change} change */
  #applyToActivity(name, body, change) {
    const id = body.session_id;
    const activity = activityAfter(name, body, this.activities.get(id));
    if (activity === undefined) return;
    if (activity) this.activities.set(id, activity);
    else this.activities.delete(id);
    change.activity = true;
  }

  /** @param {string} name @param {any} body @param {Change} change */
  #applyToSessions(name, body, change) {
    const id = body.session?.id ?? body.session_id;
    const known = this.sessions.get(id);
    if (name === "session-created") this.sessions.set(id, body.session);
    else if (name === "session-deleted") {
      this.sessions.delete(id);
      this.activities.delete(id);
    }
    else if (known && (name === "session-updated" || name === "session-archived")) {
      this.sessions.set(id, { ...known, ...(body.updates ?? { archived_at: body.archived_at }) });
    } else return;
    change.ids.add(id);
    change.tree = true;
  }

  /** @param {string} name @param {any} body @param {Change} change */
  #applyToWorktrees(name, body, change) {
    const id = body.worktree?.id ?? body.worktree_id ?? body.id;
    const known = this.worktrees.get(id);
    if (body.worktree) this.worktrees.set(id, body.worktree);
    else if (name === "worktree:deleted" || name === "worktree:create_error") this.#removeWorktree(id);
    else if (known && name === "git:status-update") {
      const fields = Object.entries(GIT_STATUS_FIELDS).map(([field, worktreeField]) => [worktreeField, body[field]]);
      this.worktrees.set(id, { ...known, ...Object.fromEntries(fields) });
    } else if (known && name === "worktree:status_updated") {
      const { cached_pr_status, cached_check_status } = body;
      this.worktrees.set(id, { ...known, cached_pr_status, cached_check_status });
    } else if (known && name === "worktree:conflicts_updated") {
      const ofKind = (/** @type {string} */ kind) => body.conflicts.filter((/** @type {any} */ one) => one.with_kind === kind);
      const conflicts_with = ofKind("worktree").map((/** @type {any} */ one) => one.with);
      this.worktrees.set(id, { ...known, conflicts_with, conflicts_with_base: ofKind("branch").length > 0 });
    } else return;
    change.ids.add(id);
    change.tree = true;
  }

  /** @param {string} name @param {any} body @param {Change} change */
  #applyToProjects(name, body, change) {
    const id = body.project_id ?? body.id;
    if (name === "project:removed") {
      this.projects.delete(id);
      for (const worktree of [...this.worktrees.values()]) {
        if (worktree.project_id === id) this.#removeWorktree(worktree.id);
      }
    }
    else this.projects.set(id, body);
    change.ids.add(id);
    change.tree = true;
  }

  /** Remove a worktree and its sessions. @param {string} id */
  #removeWorktree(id) {
    this.worktrees.delete(id);
    for (const session of [...this.sessions.values()]) {
      if (session.worktree_id === id) this.sessions.delete(session.id);
    }
  }

  /** @param {string} name @param {any} body @param {Change} change */
  #applyToQueue(name, body, change) {
    const id = body.message?.id ?? body.message_id;
    const queued = [...(this.queued.get(body.session_id) ?? [])];
    const known = queued.findIndex((message) => message.id === id);
    const changed = name === "message-queued" && body.status === "sent" ? [body.message] : [];
    queued.splice(known < 0 ? queued.length : known, known < 0 ? 0 : 1, ...changed);
    this.queued.set(body.session_id, queued);
    change.queues.add(body.session_id);
  }
}
