// What is known here, and how each event changes it: the same fold as in Spinney itself.

const byId = (items) => new Map(items.map((item) => [item.id, item]));
const inOrder = (items) =>
  items.sort((a, b) => b.order - a.order || (a.created_at ?? a.added_at) - (b.created_at ?? b.added_at));

/** Projects, worktrees, sessions, waiting messages, and the conversation that is open. */
export class State {
  projects = new Map();
  worktrees = new Map();
  sessions = new Map();
  queued = new Map();
  preferences = {};
  /** The open session's messages, oldest first; `null` while they are on their way. */
  messages = null;
  openId = null;

  load(snapshot) {
    this.projects = byId(snapshot.projects);
    this.worktrees = byId(Object.values(snapshot.worktreesByProject).flat());
    this.sessions = byId(Object.values(snapshot.sessionsByWorktree).flat());
    this.queued = new Map(Object.entries(snapshot.queuedBySession));
    this.preferences = snapshot.preferences;
  }

  worktreesOf(projectId) {
    const own = [...this.worktrees.values()].filter((w) => w.project_id === projectId);
    return inOrder(own.filter((w) => !w.archived_at));
  }

  sessionsOf(worktreeId) {
    const own = [...this.sessions.values()].filter((s) => s.worktree_id === worktreeId);
    return inOrder(own.filter((s) => !s.archived_at));
  }

  projectsInOrder() {
    return inOrder([...this.projects.values()].filter((project) => !project.is_folder));
  }

  waiting() {
    return [...this.sessions.values()].filter((s) => s.waiting_for && !s.archived_at);
  }

  /** Apply an event; gives the id of the message that changed, `"tree"`, `"queue"` or nothing. */
  apply(name, body) {
    const [topic] = name.split(/[:-]/);
    if (topic === "message" || topic === "content" || topic === "tool") {
      return this.#applyToMessages(name, body);
    }
    if (topic === "session") this.#applyToSessions(name, body);
    else if (topic === "worktree") this.#applyToWorktrees(name, body);
    else if (topic === "project") this.#applyToProjects(name, body);
    else if (name === "preferences:updated") Object.assign(this.preferences, body.changes);
    return "tree";
  }

  #applyToSessions(name, body) {
    if (name === "session-created") this.sessions.set(body.session.id, body.session);
    else if (name === "session-deleted") this.sessions.delete(body.session_id);
    else if (name === "session-updated" || name === "session-archived") {
      const known = this.sessions.get(body.session_id);
      const changes = body.updates ?? { archived_at: body.archived_at };
      if (known) this.sessions.set(known.id, { ...known, ...changes });
    }
  }

  #applyToWorktrees(name, body) {
    if (body.worktree) this.worktrees.set(body.worktree.id, body.worktree);
    else if (name === "worktree:deleted") this.worktrees.delete(body.worktree_id);
    else if (name === "worktree:create_error") this.worktrees.delete(body.id);
  }

  #applyToProjects(name, body) {
    if (name === "project:removed") this.projects.delete(body.project_id);
    else this.projects.set(body.id, body);
  }

  #applyToMessages(name, body) {
    if (name === "message-queued" || name === "message-removed") this.#applyToQueue(name, body);
    if (!this.messages || body.session_id !== this.openId) return null;
    if (name === "message-removed") return "queue";
    if (name === "message-queued") {
      if (body.status === "processing") this.#put(body.message);
      return body.message.id;
    }
    if (name === "message-started") this.#put(body.message);
    const message = this.messages.find((known) => known.id === body.message_id);
    if (!message) return null;
    const blocks = message.content;
    const place = body.content_index;
    if (name === "content-delta") {
      const type = body.kind ?? "text";
      blocks[place] ??= { type, text: "" };
      blocks[place].text += body.content;
    } else if (name === "tool-use") {
      blocks[place] = {
        type: "tool_use", id: body.tool_use_id, name: body.tool_name, input: body.tool_input,
      };
    } else if (name === "message-block") {
      blocks[place] = body.block;
    } else if (name === "message-completed") {
      message.status = "completed";
    } else if (name === "message-error") {
      Object.assign(message, { status: "completed", error: body });
    }
    return message.id;
  }

  #put(message) {
    const place = this.messages.findIndex((known) => known.id === message.id);
    if (place < 0) this.messages.push(message);
    else this.messages[place] = message;
  }

  #applyToQueue(name, body) {
    const id = body.message?.id ?? body.message_id;
    const rest = (this.queued.get(body.session_id) ?? []).filter((known) => known.id !== id);
    if (name === "message-queued" && body.status === "sent") rest.push(body.message);
    this.queued.set(body.session_id, rest);
  }
}
