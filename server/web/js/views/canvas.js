// @ts-check
// All sessions on one screen, those that need you first, with bulk actions: message, stop, mark as read, archive.

import { requestCard } from "../cards.js";
import { ask, confirm } from "../dialogs.js";
import { button, make, syncKeyed } from "../dom.js";
import { requestLabel, markElement, markOf } from "../marks.js";
import { hashFor } from "../router.js";
import { Selection } from "./selection.js";
import { loadStylesheet } from "./stylesheet.js";
import { plainText, pluralize } from "../format.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

/** Sort order by mark; idle sessions come last. @type {Record<string, number>} */
const SORT_ORDER = { "needs-you": 0, running: 1, unread: 2, failed: 3 };
const EXCERPT_LENGTH = 280; // characters of the last message that fit a card

/** @type {import("../app.js").MakeView} */
export function canvasView(app, route) {
  loadStylesheet("canvas");
  return new Canvas(app, route.query.get("project"));
}

class Canvas {
  title = "All sessions";
  /** @type {Map<string, string>} excerpts of last messages, by session */ #excerpts = new Map();
  /** @type {Map<string, symbol>} pending requests for last messages, by session */ #requests = new Map();

  /** @param {App} app @param {string | null} projectId */
  constructor(app, projectId) {
    this.app = app;
    this.projectId = projectId;
    this.filter = make("input", { type: "search", placeholder: "Filter", "aria-label": "Filter sessions", oninput: () => this.#draw() });
    this.layout = button("Grid", () => this.#toggleLayout());
    this.selection = new Selection("sessions", () => this.#draw(), () => this.#actions());
    this.status = make("p.hint", { role: "status" });
    this.list = make("ul.cells", { "aria-label": "Sessions" });
    const head = make("div.canvas-head", this.filter, this.selection.allLabel, this.layout);
    this.element = make("div.canvas", make("div.canvas-top", head, this.selection.bar, this.status), this.list);
    this.seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) this.#loadExcerpt(/** @type {HTMLElement} */ (target).dataset.key ?? "");
      }
    }, { rootMargin: "200px" });
  }

  /** @param {import("../state.js").Change} change */
  update(change) {
    if (change.tree || change.preferences) this.#draw();
  }

  /** @param {string} name @param {any} body */
  handleEvent(name, body) {
    if (name === "message-completed" || name === "message-error" || name === "message-queued") {
      this.#excerpts.delete(body.session_id);
      this.#requests.delete(body.session_id); // a pending response may be outdated
      this.#loadExcerpt(body.session_id);
    }
  }

  close() {
    this.seen.disconnect();
  }

  /** The visible sessions: waiting ones first, the longest waiting at the top, then the newest. */
  #sessions() {
    const { state } = this.app;
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    return [...state.sessions.values()]
      .filter((session) => {
        const { worktree, project } = state.parentsOf(session);
        if (session.archived_at || !worktree || worktree.archived_at) return false;
        if (this.projectId && worktree.project_id !== this.projectId) return false;
        const text = `${session.name} ${project?.name} ${worktree.name} ${session.backend} ${session.status}`.toLowerCase();
        return words.every((word) => text.includes(word));
      })
      .sort((a, b) => sortKey(a) - sortKey(b) || (sortKey(a) === 0 ? 1 : -1) * (a.updated_at - b.updated_at));
  }

  #draw() {
    const isGrid = this.app.state.preferences.canvas_layout === "grid";
    this.list.classList.toggle("grid", isGrid);
    this.layout.textContent = isGrid ? "As a list" : "As a grid";
    const sessions = this.#sessions();
    this.selection.follow(sessions.map((session) => session.id));
    syncKeyed(this.list, sessions, (session) => session.id, (session, old) => this.#cell(session, old));
    this.status.textContent = sessions.length ? "" : this.filter.value ? "No matching sessions." : "No sessions yet.";
  }

  /** @param {Resource} session @param {HTMLElement | undefined} old */
  #cell(session, old) {
    const { worktree, project } = this.app.state.parentsOf(session);
    const excerpt = this.#excerpts.get(session.id);
    const signature = JSON.stringify([session.name, session.status, session.request?.id, session.unread, excerpt, worktree?.name, project?.name]);
    if (old?.dataset.signature === signature) {
      const box = old.querySelector("input");
      if (box) box.checked = this.selection.has(session.id);
      return old;
    }
    const focus = /** @type {HTMLElement | null} */ (old?.contains(document.activeElement) ? document.activeElement : null);
    const box = make("input", { type: "checkbox", checked: this.selection.has(session.id), "aria-label": `Select ${session.name}` });
    box.addEventListener("change", () => this.selection.select(session.id, box.checked));
    const link = make("a.session", markElement(markOf(session)), make("b", session.name), { href: hashFor("session", session.id) });
    const cell = make(
      "li.cell",
      make("div.cell-head", make("label.cell-select", box), link),
      make("small", [project?.name, worktree?.name].filter(Boolean).join(" ▸ ")),
      make("p.last-message", excerpt ?? (session.message_count ? "…" : "no messages yet")),
      session.status === "waiting" && this.#requestDetails(session, old),
      { "data-signature": signature },
    );
    if (old) this.seen.unobserve(old);
    this.seen.observe(cell);
    if (focus) {
      queueMicrotask(() => { // once it is in the document, and before the next key
        const target = /** @type {HTMLElement | null} */ (focus.isConnected ? focus : cell.querySelector(focus.localName));
        target?.focus({ preventScroll: true });
      });
    }
    return cell;
  }

  /** The card of a request; an unchanged one is kept, with its input. @param {Resource} session @param {HTMLElement | undefined} old */
  #requestDetails(session, old) {
    const existing = /** @type {HTMLElement | null | undefined} */ (old?.querySelector(".request-details"));
    const { id } = session.request ?? {};
    if (existing && existing.dataset.request === id) return existing;
    const card = requestCard(this.app, session, { hasBox: false });
    return make("details.request-details", make("summary", requestLabel(session)), card, { "data-request": id });
  }

  /** Load the last message of a session, once. @param {string} id */
  async #loadExcerpt(id) {
    const session = this.app.state.sessions.get(id);
    if (!session?.message_count || this.#excerpts.has(id) || this.#requests.has(id) || !this.app.connection.isOpen) return;
    const token = Symbol();
    this.#requests.set(id, token);
    try {
      const page = await this.app.connection.call("get_messages", { sessionId: id, limit: 1 });
      if (this.#requests.get(id) !== token) return;
      this.#excerpts.set(id, excerptOf(page.messages.find((/** @type {Resource} */ message) => !message.rewound)));
      this.app.invalidate({ tree: true });
    } catch {
      // The session may be gone; the next change tries again.
    } finally {
      if (this.#requests.get(id) === token) this.#requests.delete(id);
    }
  }

  // Bulk actions -----------------------------------------------------------------------------------

  #actions() {
    return [
      button("Message…", () => this.#sendMessage()),
      button("Stop", () => this.#each("stop_generation", "stopped", (s) => s.status === "running" || s.status === "waiting")),
      button("Mark as read", () => this.#each("mark_session_read", "marked as read", (s) => s.unread)),
      button("Archive", () => this.#archive()),
    ];
  }

  /** @param {string} command @param {string} outcome @param {(session: Resource) => boolean} [applies] */
  async #each(command, outcome, applies = () => true) {
    const ids = this.selection.ids.filter((id) => {
      const session = this.app.state.sessions.get(id);
      return session && applies(session);
    });
    const results = await Promise.allSettled(ids.map((sessionId) => this.app.connection.call(command, { sessionId })));
    const failed = results.find((result) => result.status === "rejected");
    const count = results.filter((result) => result.status === "fulfilled").length;
    if (failed) this.app.toast(`${count} of ${ids.length} ${outcome}. ${failed.reason.message}`, { bad: true });
    else this.app.toast(count ? `${countSessions(count)} ${outcome}.` : `None of the sessions can be ${outcome}.`);
  }

  async #archive() {
    const { ids } = this.selection;
    const busyCount = ids.filter((id) => ["running", "waiting"].includes(this.app.state.sessions.get(id)?.status)).length;
    const skipsConfirmation = ids.length === 1 && !busyCount && !this.app.state.preferences.confirm_session_close;
    const details = busyCount ? `${countSessions(busyCount)} will be stopped first.` : "You can restore them from the archive.";
    if (skipsConfirmation || (await confirm(`Archive ${countSessions(ids.length)}?`, details, "Archive"))) await this.#each("archive_session", "archived");
  }

  async #sendMessage() {
    const { ids } = this.selection;
    const message = await ask(`Message to ${countSessions(ids.length)}`, { label: "Send", rows: 5, hint: "The message is sent to each of them." });
    if (!message?.trim()) return;
    for (const id of ids) this.app.outbox.add(id, message.trim());
    this.app.toast(this.app.connection.isOpen ? `Sent to ${countSessions(ids.length)}.` : "It will be sent when you are back online.");
  }

  #toggleLayout() {
    const layout = this.app.state.preferences.canvas_layout === "grid" ? "list" : "grid";
    return this.app.run("update_preferences", { changes: { canvas_layout: layout } });
  }
}

/** @param {Resource} session */
const sortKey = (session) => SORT_ORDER[markOf(session)] ?? 4;

/** @param {number} count */
const countSessions = (count) => pluralize(count, "session");

/** The end of a message's text. @param {Resource | undefined} message */
function excerptOf(message) {
  const parts = (message?.content ?? []).map((/** @type {any} */ block) => {
    if (block.type === "text" || block.type === "plan") return block.text;
    if (block.type === "tool_use") return `▸ ${block.name}`;
    return block.type === "question" ? block.questions[0]?.question : "";
  });
  const text = plainText([...parts, message?.error?.error].filter(Boolean).join("\n")).trim();
  return text.length > EXCERPT_LENGTH ? `… ${text.slice(-EXCERPT_LENGTH)}` : text;
}
