// @ts-check
// A session: its conversation in sections, held at the end while the reader is there, the request
// that waits, the queue, and the message box.

import { replaceBlocks } from "./blocks.js";
import { requestCard } from "./cards.js";
import { composer } from "./composer.js";
import { Conversation, PAGE } from "./conversation.js";
import { button, make, placeKeyed } from "./dom.js";
import { fillContents, fillMessage, messageElement } from "./message.js";
import { hashOf } from "./router.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./state.js").Resource} Resource
 */

const SECTION = 50;
const LONGEST_PAGE = 500;
const NEAR = 80; // px from the end that still count as being there

/** @type {import("./app.js").MakeView} */
export function sessionView(app, route) {
  if (!app.state.sessions.has(route.id)) return gone();
  return new SessionView(app, route.id);
}

function gone() {
  const back = make("a", "Back to all sessions", { href: hashOf("needs") });
  return { title: "Spinney", element: make("p.hint.page", "This session is not here (any more). ", back) };
}

class SessionView {
  /** @type {Map<string, { message: Resource, indices: Set<number> | null }>} */ #dirty = new Map();
  /** @type {Map<string, any[]>} blocks that came since the last frame, in order, by message and index */ #blocks = new Map();
  #frame = 0;
  #isAtEnd = true;
  #isFetching = false;
  #isReading = false;
  /** @type {() => unknown} */ #unwatch;

  /** @param {App} app @param {string} sessionId */
  constructor(app, sessionId) {
    this.app = app;
    this.id = sessionId;
    this.conversation = new Conversation(sessionId);
    this.older = button("Earlier messages", () => this.#fetchOlder(), ".quiet.older", { hidden: true });
    this.list = make("div.messages");
    this.asked = make("div.asked");
    this.scroller = make("div.transcript", this.older, this.list, this.asked, { tabIndex: 0, role: "log", "aria-label": "Conversation" });
    this.end = button("↓ to the end", () => this.#toEnd(), ".end", { hidden: true });
    this.queue = make("ul.queue", { "aria-label": "Messages that wait" });
    this.composer = composer(app, sessionId);
    this.status = make("nav.places", { "aria-label": "Worktree" });
    this.element = make("div.session", this.status, this.scroller, this.end, this.queue, this.composer.element);
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.#isAtEnd && this.#toEnd()).observe(this.list);
    // Text is told of from now on, and read then: nothing falls between. After a gap it is read again,
    // as the events that a connection is told afterwards hold no text.
    app.connection.show(sessionId);
    this.#unwatch = app.watch((link) => link.state === "open" && this.#fetch());
  }

  get session() {
    return this.app.state.sessions.get(this.id);
  }

  get title() {
    return this.session?.name ?? "Spinney";
  }

  close() {
    this.#unwatch();
    this.app.connection.show(null);
    this.composer.close();
  }

  /** Everything was read anew: events may have been missed. */
  loaded() {
    this.conversation.isLoaded = false;
    if (this.app.connection.isOpen) this.#fetch();
  }

  /** @param {string} name @param {any} body */
  event(name, body) {
    if (name === "blocks-missed" && body.session_id === this.id) this.loaded();
    const changed = this.conversation.apply(name, body);
    if (!changed) return;
    const { message, index } = changed;
    const dirty = this.#dirty.get(message.id) ?? { message, indices: new Set() };
    if (index === undefined) dirty.indices = null;
    else if (name === "content-blocks" && !dirty.indices?.has(index)) {
      const key = `${message.id}/${index}`;
      this.#blocks.set(key, [...(this.#blocks.get(key) ?? []), body]);
    } else dirty.indices?.add(index);
    dirty.message = message;
    this.#dirty.set(message.id, dirty);
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  /** @param {import("./state.js").Change} change */
  changed(change) {
    const session = this.session;
    if (!session) {
      this.app.go("needs");
      return;
    }
    if (change.tree || change.ids.has(this.id)) {
      const waiting = session.request?.id ?? "";
      if (this.asked.dataset.request !== waiting) {
        this.asked.dataset.request = waiting;
        this.asked.replaceChildren(...[requestCard(this.app, session)].filter((card) => card !== null));
        if (this.#isAtEnd) this.#toEnd();
      }
      this.composer.follow(session);
      this.#drawPlaces(session);
      if (session.unread && document.visibilityState === "visible") {
        this.app.connection.call("mark_session_read", { sessionId: this.id }).catch(() => {});
      }
    }
    if (change.tree || change.queues.has(this.id)) this.#drawQueue();
  }

  // Reading ----------------------------------------------------------------------------------------

  async #fetch() {
    if (this.#isReading) return;
    this.#isReading = true;
    // What the reader has before them is read again with the rest, as far back as one page goes.
    const limit = Math.min(Math.max(PAGE, this.conversation.messages.length), LONGEST_PAGE);
    try {
      const page = await this.app.connection.call("get_message_blocks", { sessionId: this.id, limit });
      this.conversation.load(page);
      this.#dirty.clear();
      this.#blocks.clear();
      const place = this.#isAtEnd ? null : this.#placeOfReader();
      this.list.replaceChildren(...this.#sections(page.messages));
      this.older.hidden = this.conversation.older === 0;
      if (place) this.#returnTo(place);
      else this.#toEnd();
    } catch (error) {
      // A connection that broke comes back, and then it is read.
      if (this.app.connection.isOpen) this.app.say(/** @type {Error} */ (error).message, { bad: true });
    } finally {
      this.#isReading = false;
    }
  }

  async #fetchOlder() {
    if (this.#isFetching || this.conversation.older === 0) return;
    this.#isFetching = true;
    const offset = this.conversation.messages.length;
    const page = await this.app.run("get_message_blocks", { sessionId: this.id, limit: PAGE, offset });
    this.#isFetching = false;
    if (!page) return;
    const before = this.scroller.scrollHeight - this.scroller.scrollTop;
    this.list.prepend(...this.#sections(this.conversation.prepend(page)));
    this.older.hidden = this.conversation.older === 0;
    this.scroller.scrollTop = this.scroller.scrollHeight - before;
  }

  /** @param {Resource[]} messages */
  #sections(messages) {
    const sections = [];
    for (let start = 0; start < messages.length; start += SECTION) {
      const some = messages.slice(start, start + SECTION);
      sections.push(make("section.chunk", some.map((message) => messageElement(message, this.#around()))));
    }
    return sections;
  }

  /** @returns {import("./message.js").Around} */
  #around() {
    return { app: this.app, sessionId: this.id, agent: this.composer.agent };
  }

  // Drawing ----------------------------------------------------------------------------------------

  #draw() {
    this.#frame = 0;
    for (const [key, told] of this.#blocks) this.#drawBlocks(key, told);
    this.#blocks.clear();
    for (const { message, indices } of this.#dirty.values()) {
      const element = this.#elementOf(message);
      if (indices === null) fillMessage(element, message, this.#around());
      else fillContents(element, message, indices, this.#around());
    }
    this.#dirty.clear();
    if (this.#isAtEnd) this.#toEnd();
    else this.end.hidden = false;
  }

  /** @param {string} key @param {any[]} told */
  #drawBlocks(key, told) {
    const [id, index] = key.split("/");
    const dirty = this.#dirty.get(id);
    if (!dirty || dirty.indices === null || dirty.indices.has(Number(index))) return; // drawn whole
    const prose = document.getElementById(`m-${id}`)?.querySelector(`:scope > [data-index="${index}"].prose`);
    if (!(prose instanceof HTMLElement)) dirty.indices.add(Number(index));
    else for (const { from, blocks } of told) replaceBlocks(prose, from, blocks);
  }

  /** @param {Resource} message */
  #elementOf(message) {
    const known = document.getElementById(`m-${message.id}`);
    if (known) return known;
    const made = messageElement(message, this.#around());
    let last = this.list.lastElementChild;
    if (!last || last.children.length >= SECTION) {
      last = make("section.chunk");
      this.list.append(last);
    }
    last.append(made);
    return made;
  }

  /** @param {Resource} session */
  #drawPlaces(session) {
    const { worktree, project } = this.app.state.placeOf(session);
    if (!worktree) return;
    const others = this.app.state.sessionsOf(worktree.id).filter((other) => other.id !== this.id);
    this.status.replaceChildren(
      make("a", `${project?.name ?? ""} ▸ ${worktree.name}`, { href: hashOf("worktree", worktree.id) }),
      make("a", "Changes", { href: hashOf("diff", worktree.id) }),
      ...others.slice(0, 5).map((other) => make("a.other", other.name, { href: hashOf("session", other.id) })),
    );
  }

  #drawQueue() {
    const waiting = this.app.state.queued.get(this.id) ?? [];
    placeKeyed(this.queue, waiting, (message) => message.id, (message, old) => old ?? this.#queued(message));
  }

  /** @param {Resource} message */
  #queued(message) {
    const text = message.content.map((/** @type {any} */ block) => block.text ?? block.path).join(" ");
    const given = { sessionId: this.id, messageId: message.id };
    const change = button("change", async () => {
      if ((await this.app.run("remove_queued_message", given)) !== undefined) this.composer.put(text);
    }, ".quiet");
    const drop = button("✕", () => this.app.run("remove_queued_message", given), ".quiet", { "aria-label": "Remove" });
    return make("li", make("span", "waits: ", text), change, drop);
  }

  // Scrolling --------------------------------------------------------------------------------------

  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    this.#isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    if (this.#isAtEnd) this.end.hidden = true;
    if (scrollTop < clientHeight && this.conversation.older > 0) this.#fetchOlder();
  }

  /** The first message in sight, and how far below the upper edge it begins. */
  #placeOfReader() {
    const edge = this.scroller.getBoundingClientRect().top;
    const all = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll(".message")]);
    const first = all.find((message) => message.getBoundingClientRect().bottom > edge);
    return first ? { id: first.id, below: first.getBoundingClientRect().top - edge } : null;
  }

  /** @param {{ id: string, below: number }} place */
  #returnTo({ id, below }) {
    const message = document.getElementById(id);
    if (!message) return;
    this.scroller.scrollTop += message.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top - below;
  }

  #toEnd() {
    this.#isAtEnd = true;
    this.end.hidden = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }
}
