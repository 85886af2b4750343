// @ts-check
// All sessions on one screen, by need first: to look at, and several at once to stop, archive or write to.

import { requestCard } from "../cards.js";
import { ask, confirm } from "../dialogs.js";
import { button, make, placeKeyed } from "../dom.js";
import { asks, markElement, markOf } from "../marks.js";
import { hashOf } from "../router.js";
import { sheet } from "./sheet.js";
import { counted } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

/** Who stands first; those that are idle stand last. @type {Record<string, number>} */
const NEED = { "needs-you": 0, running: 1, unread: 2, failed: 3 };
const TAIL = 280; // characters of the last words that fit a card

/** @type {import("../app.js").MakeView} */
export function canvasView(app, route) {
  sheet("canvas");
  return new Canvas(app, route.query.get("project"));
}

class Canvas {
  title = "All sessions";
  /** @type {Set<string>} */ #marked = new Set();
  /** @type {Map<string, string>} what was said last, by session */ #said = new Map();
  /** @type {Map<string, symbol>} sessions whose last words are asked for, with what tells one asking from the next */ #asked = new Map();

  /** @param {App} app @param {string | null} projectId */
  constructor(app, projectId) {
    this.app = app;
    this.projectId = projectId;
    this.filter = make("input", { type: "search", placeholder: "filter", "aria-label": "Filter the sessions", oninput: () => this.#draw() });
    this.layout = button("Grid", () => this.#switch());
    this.all = make("input", { type: "checkbox", onchange: () => this.#markAll() });
    this.told = make("p.hint", { role: "status" });
    this.chosen = make("div.chosen.choices", { role: "group", "aria-label": "With those that are marked" });
    this.list = make("ul.cells", { "aria-label": "Sessions" });
    const head = make("div.canvas-head", this.filter, make("label.check", this.all, "all"), this.layout);
    this.element = make("div.canvas", make("div.canvas-top", head, this.chosen, this.told), this.list);
    this.seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) this.#ask(/** @type {HTMLElement} */ (target).dataset.key ?? "");
      }
    }, { rootMargin: "200px" });
  }

  /** @param {import("../state.js").Change} change */
  changed(change) {
    if (change.tree || change.preferences) this.#draw();
  }

  /** @param {string} name @param {any} body */
  event(name, body) {
    if (name === "message-completed" || name === "message-error" || name === "message-queued") {
      this.#said.delete(body.session_id);
      this.#asked.delete(body.session_id); // what is on its way may be from before
      this.#ask(body.session_id);
    }
  }

  close() {
    this.seen.disconnect();
  }

  /** The sessions that are shown, by need first: the longest waiting, then the newest. */
  #sessions() {
    const { state } = this.app;
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    return [...state.sessions.values()]
      .filter((session) => {
        const { worktree, project } = state.placeOf(session);
        if (session.archived_at || !worktree || worktree.archived_at) return false;
        if (this.projectId && worktree.project_id !== this.projectId) return false;
        const text = `${session.name} ${project?.name} ${worktree.name} ${session.backend} ${session.status}`.toLowerCase();
        return words.every((word) => text.includes(word));
      })
      .sort((a, b) => need(a) - need(b) || (need(a) === 0 ? 1 : -1) * (a.updated_at - b.updated_at));
  }

  #draw() {
    const isGrid = this.app.state.preferences.canvas_layout === "grid";
    this.list.classList.toggle("grid", isGrid);
    this.layout.textContent = isGrid ? "As a list" : "As a grid";
    const sessions = this.#sessions();
    const shown = new Set(sessions.map((session) => session.id));
    for (const id of this.#marked) if (!shown.has(id)) this.#marked.delete(id);
    placeKeyed(this.list, sessions, (session) => session.id, (session, old) => this.#cell(session, old));
    this.all.checked = sessions.length > 0 && this.#marked.size === sessions.length;
    this.all.indeterminate = this.#marked.size > 0 && !this.all.checked;
    this.told.textContent = sessions.length ? "" : this.filter.value ? "No session is called so." : "There are no sessions yet.";
    this.#drawChosen();
  }

  /** @param {Resource} session @param {HTMLElement | undefined} old */
  #cell(session, old) {
    const { worktree, project } = this.app.state.placeOf(session);
    const said = this.#said.get(session.id);
    const looks = JSON.stringify([session.name, session.status, session.request?.id, session.unread, said, worktree?.name, project?.name]);
    if (old?.dataset.looks === looks) {
      const box = old.querySelector("input");
      if (box) box.checked = this.#marked.has(session.id);
      return old;
    }
    const focus = /** @type {HTMLElement | null} */ (old?.contains(document.activeElement) ? document.activeElement : null);
    const box = make("input", { type: "checkbox", checked: this.#marked.has(session.id), "aria-label": `Mark ${session.name}` });
    box.onchange = () => this.#mark(session.id, box.checked);
    const link = make("a.session", markElement(markOf(session)), make("b", session.name), { href: hashOf("session", session.id) });
    const cell = make(
      "li.cell",
      make("div.cell-head", make("label.tick", box), link),
      make("small", [project?.name, worktree?.name].filter(Boolean).join(" ▸ ")),
      make("p.words", said ?? (session.message_count ? "…" : "nothing was said yet")),
      session.status === "waiting" && this.#request(session, old),
      { "data-looks": looks },
    );
    if (old) this.seen.unobserve(old);
    this.seen.observe(cell);
    if (focus) {
      requestAnimationFrame(() => {
        const again = /** @type {HTMLElement | null} */ (focus.isConnected ? focus : cell.querySelector(focus.localName));
        again?.focus({ preventScroll: true });
      });
    }
    return cell;
  }

  /** What it asks; the same thing stays as it is, with what was chosen in it. @param {Resource} session @param {HTMLElement | undefined} old */
  #request(session, old) {
    const known = /** @type {HTMLElement | null | undefined} */ (old?.querySelector(".asks"));
    const { id } = session.request ?? {};
    if (known && known.dataset.request === id) return known;
    const card = requestCard(this.app, session, { hasBox: false });
    return make("details.asks", make("summary", asks(session)), card, { "data-request": id });
  }

  /** Ask for a session's last words, once. @param {string} id */
  async #ask(id) {
    const session = this.app.state.sessions.get(id);
    if (!session?.message_count || this.#said.has(id) || this.#asked.has(id) || !this.app.connection.isOpen) return;
    const asking = Symbol();
    this.#asked.set(id, asking);
    try {
      const page = await this.app.connection.call("get_messages", { sessionId: id, limit: 1 });
      if (this.#asked.get(id) !== asking) return;
      this.#said.set(id, lastWords(page.messages.at(-1)));
      this.app.changed({ tree: true });
    } catch {
      // It may be gone; the next change asks again.
    } finally {
      if (this.#asked.get(id) === asking) this.#asked.delete(id);
    }
  }

  // Several at once --------------------------------------------------------------------------------

  /** @param {string} id @param {boolean} isMarked */
  #mark(id, isMarked) {
    if (isMarked) this.#marked.add(id);
    else this.#marked.delete(id);
    this.#draw();
  }

  #markAll() {
    this.#marked = new Set(this.all.checked ? this.#sessions().map((session) => session.id) : []);
    this.#draw();
  }

  #drawChosen() {
    this.chosen.hidden = this.#marked.size === 0;
    const count = this.#marked.size;
    const looks = String(count);
    if (this.chosen.dataset.looks === looks) return;
    this.chosen.dataset.looks = looks;
    this.chosen.replaceChildren(
      make("span", `${count} marked`),
      button("Message…", () => this.#write()),
      button("Stop", () => this.#each("stop_generation", "stopped", (s) => s.status === "running" || s.status === "waiting")),
      button("Mark as read", () => this.#each("mark_session_read", "marked as read", (s) => s.unread)),
      button("Archive", () => this.#archive()),
      button("Unmark", () => {
        this.#marked.clear();
        this.#draw();
      }, ".quiet"),
    );
  }

  /** @param {string} command @param {string} done @param {(session: Resource) => boolean} [fits] */
  async #each(command, done, fits = () => true) {
    const ids = [...this.#marked].filter((id) => {
      const session = this.app.state.sessions.get(id);
      return session && fits(session);
    });
    const results = await Promise.allSettled(ids.map((sessionId) => this.app.connection.call(command, { sessionId })));
    const failed = results.find((result) => result.status === "rejected");
    const count = results.filter((result) => result.status === "fulfilled").length;
    if (failed) this.app.say(`${count} of ${ids.length} ${done}. ${failed.reason.message}`, { bad: true });
    else this.app.say(count ? `${howMany(count)} ${done}.` : `None of them can be ${done}.`);
  }

  async #archive() {
    const busy = [...this.#marked].filter((id) => ["running", "waiting"].includes(this.app.state.sessions.get(id)?.status)).length;
    const isClear = this.#marked.size === 1 && !busy && !this.app.state.preferences.confirm_session_close;
    const told = busy ? `${howMany(busy)} at work will be stopped.` : "They can be brought back from the archive.";
    if (isClear || (await confirm(`Archive ${howMany(this.#marked.size)}?`, told, "Archive"))) await this.#each("archive_session", "archived");
  }

  async #write() {
    const ids = [...this.#marked];
    const message = await ask(`Message to ${howMany(ids.length)}`, { yes: "Send", rows: 5, hint: "What should be done?" });
    if (!message?.trim()) return;
    for (const id of ids) this.app.outbox.add(id, message.trim());
    this.app.say(this.app.connection.isOpen ? `Sent to ${howMany(ids.length)}.` : "It goes when the connection is back.");
  }

  #switch() {
    const layout = this.app.state.preferences.canvas_layout === "grid" ? "list" : "grid";
    return this.app.run("update_preferences", { changes: { canvas_layout: layout } });
  }
}

/** @param {Resource} session */
const need = (session) => NEED[markOf(session)] ?? 4;

/** @param {number} count */
const howMany = (count) => counted(count, "session");

/** The end of what a message says. @param {Resource | undefined} message */
function lastWords(message) {
  const said = (message?.content ?? []).map((/** @type {any} */ block) => {
    if (block.type === "text" || block.type === "plan") return block.text;
    if (block.type === "tool_use") return `▸ ${block.name}`;
    return block.type === "question" ? block.questions[0]?.question : "";
  });
  const text = [...said, message?.error?.error].filter(Boolean).join("\n").trim();
  return text.length > TAIL ? `… ${text.slice(-TAIL)}` : text;
}
