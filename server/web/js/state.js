// @ts-check
// What is known here, and how each event changes it: the same fold as in Spinney itself.
// The open conversation is not here; its view keeps it (conversation.js).

/**
 * @typedef {Record<string, any> & { id: string }} Resource a project, worktree, session or message as the interface has it
 *
 * @typedef {object} Change what an event changed; views draw what concerns them
 * @property {Set<string>} ids of projects, worktrees and sessions
 * @property {boolean} tree whether rows of the tree came, went or look different
 * @property {boolean} preferences
 * @property {Set<string>} queues ids of sessions whose waiting messages changed
 */

/** @returns {Change} */
export const noChange = () => ({ ids: new Set(), tree: false, preferences: false, queues: new Set() });

/**
 * @param {Resource[]} items
 * @returns {Map<string, Resource>}
 */
const byId = (items) => new Map(items.map((item) => [item.id, item]));

/** Lowest `order` first, then the oldest. @param {Resource[]} items */
const inOrder = (items) =>
  items.sort((a, b) => a.order - b.order || (a.created_at ?? a.added_at) - (b.created_at ?? b.added_at));

/** Fields of `git:status-update` that a worktree keeps under another name. */
const GIT_FIELDS = {
  ahead: "cached_ahead_count",
  behind: "cached_behind_count",
  uncommitted_added: "cached_uncommitted_added",
  uncommitted_removed: "cached_uncommitted_removed",
  branch_diff_added: "cached_branch_diff_added",
  branch_diff_removed: "cached_branch_diff_removed",
  unpushed: "cached_unpushed_count",
  conflicts: "cached_conflict_count",
  checked_at: "cached_status_at",
};

/** Projects, worktrees, sessions, waiting messages and preferences. */
export class State {
  /** @type {Map<string, Resource>} */ projects = new Map();
  /** @type {Map<string, Resource>} */ worktrees = new Map();
  /** @type {Map<string, Resource>} */ sessions = new Map();
  /** @type {Map<string, Resource[]>} by session id */ queued = new Map();
  /** @type {Record<string, any>} */ preferences = {};
  isLoaded = false;
  /** What lies where, in order, until the next event. @type {Map<string | null, Resource[]> | null} */ #below = null;

  /** @param {any} snapshot of `GET /api/init` */
  load(snapshot) {
    this.projects = byId(snapshot.projects);
    this.worktrees = byId(Object.values(snapshot.worktreesByProject).flat());
    this.sessions = byId(Object.values(snapshot.sessionsByWorktree).flat());
    this.queued = new Map(Object.entries(snapshot.queuedBySession));
    this.preferences = snapshot.preferences;
    this.#below = null;
    this.isLoaded = true;
  }

  // Looking ----------------------------------------------------------------------------------------

  /** Folders and projects of a folder, or of the top. @param {string | null} parentId */
  itemsIn(parentId) {
    return this.#in(parentId);
  }

  /** @param {string} projectId */
  worktreesOf(projectId) {
    return this.#in(projectId);
  }

  /** @param {string} worktreeId */
  sessionsOf(worktreeId) {
    return this.#in(worktreeId);
  }

  /** @param {string | null} id of what they lie in */
  #in(id) {
    this.#below ??= this.#sorted();
    return this.#below.get(id) ?? [];
  }

  // One pass over everything: asked row by row, a tree of thousands would be sought through as often.
  #sorted() {
    /** @type {Map<string | null, Resource[]>} */
    const below = new Map();
    /** @param {string | null} id @param {Resource} item */
    const put = (id, item) => {
      const there = below.get(id);
      if (there) there.push(item);
      else below.set(id, [item]);
    };
    for (const item of this.projects.values()) put(item.parent_id ?? null, item);
    for (const worktree of this.worktrees.values()) if (!worktree.archived_at) put(worktree.project_id, worktree);
    for (const session of this.sessions.values()) if (!session.archived_at) put(session.worktree_id, session);
    for (const items of below.values()) inOrder(items);
    return below;
  }

  /** Sessions that a person is asked something in, the longest wait first. */
  waiting() {
    const all = [...this.sessions.values()].filter((s) => s.waiting_for && !this.#isAway(s));
    return all.sort((a, b) => (a.updated_at ?? 0) - (b.updated_at ?? 0));
  }

  running() {
    return [...this.sessions.values()].filter((s) => s.status === "running" && !this.#isAway(s));
  }

  /** @param {Resource} session */
  #isAway(session) {
    return Boolean(session.archived_at || this.worktrees.get(session.worktree_id)?.archived_at);
  }

  /** The session's worktree and project, where they are known. @param {Resource | undefined} session */
  placeOf(session) {
    const worktree = this.worktrees.get(session?.worktree_id);
    return { worktree, project: this.projects.get(worktree?.project_id) };
  }

  // Folding ----------------------------------------------------------------------------------------

  /**
   * Apply an event and note what it changed.
   * @param {string} name
   * @param {any} body
   * @param {Change} change
   */
  apply(name, body, change) {
    const [topic] = name.split(/[:-]/);
    if (topic !== "content" && topic !== "message") this.#below = null;
    if (name === "message-queued" || name === "message-removed") this.#applyToQueue(name, body, change);
    else if (topic === "session") this.#applyToSessions(name, body, change);
    else if (topic === "worktree" || topic === "git") this.#applyToWorktrees(name, body, change);
    else if (topic === "project") this.#applyToProjects(name, body, change);
    else if (name === "preferences:updated") {
      Object.assign(this.preferences, body.changes);
      change.preferences = true;
    }
  }

  /** @param {string} name @param {any} body @param {Change} change */
  #applyToSessions(name, body, change) {
    const id = body.session?.id ?? body.session_id;
    const known = this.sessions.get(id);
    if (name === "session-created") this.sessions.set(id, body.session);
    else if (name === "session-deleted") this.sessions.delete(id);
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
    else if (name === "worktree:deleted" || name === "worktree:create_error") this.#forget(id);
    else if (known && name === "git:status-update") {
      const named = Object.entries(GIT_FIELDS).map(([told, kept]) => [kept, body[told]]);
      this.worktrees.set(id, { ...known, ...Object.fromEntries(named) });
    } else if (known && name === "worktree:status_updated") {
      const { cached_pr_status, cached_check_status } = body;
      this.worktrees.set(id, { ...known, cached_pr_status, cached_check_status });
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
        if (worktree.project_id === id) this.#forget(worktree.id);
      }
    }
    else this.projects.set(id, body);
    change.ids.add(id);
    change.tree = true;
  }

  /** A worktree is gone, and its sessions with it. @param {string} id */
  #forget(id) {
    this.worktrees.delete(id);
    for (const session of [...this.sessions.values()]) {
      if (session.worktree_id === id) this.sessions.delete(session.id);
    }
  }

  /** @param {string} name @param {any} body @param {Change} change */
  #applyToQueue(name, body, change) {
    const id = body.message?.id ?? body.message_id;
    const rest = (this.queued.get(body.session_id) ?? []).filter((known) => known.id !== id);
    if (name === "message-queued" && body.status === "sent") rest.push(body.message);
    this.queued.set(body.session_id, rest);
    change.queues.add(body.session_id);
  }
}
