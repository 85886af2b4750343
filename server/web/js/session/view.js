// @ts-check
// The session view: conversation with autoscroll, open request, queue, and message box.

import { missingView } from "../app.js";
import { replaceBlocks } from "./blocks.js";
import { composer } from "./composer.js";
import { Conversation, cacheConversation, cachedConversation, PAGE_SIZE } from "./conversation.js";
import { button, make } from "../dom.js";
import { SessionHeader } from "./header.js";
import { ChangesPane } from "./pane.js";
import { updateDividers } from "./dividers.js";
import { foldRewound, setRewound, showRewound } from "./rewound.js";
import { Autoscroll } from "./autoscroll.js";
import { drawMessageEnd, drawBlocks, drawMessage, drawRunningTool, messageElement } from "./message.js";
import { may } from "../guest.js";
import { queueList } from "./queue.js";
import { chooseAction, scrollButtons, setAsidePlan, endElements } from "./parts.js";
import { Turns } from "./turns.js";
import { announcer } from "./announcer.js";
import { formatTime } from "../format.js";
import { loadCodeColors, loadStylesheet } from "../views/stylesheet.js";

loadStylesheet("print");
await Promise.all([loadStylesheet("session"), loadCodeColors()]);

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const SECTION = 50;
const MAX_PAGE_SIZE = 500;

/** @type {import("../app.js").MakeView} */
export function sessionView(app, route) {
  if (!app.state.sessions.has(route.id)) return missingView(app, "sessions", route.id);
  return new SessionView(app, route.id, route.query.get("message"));
}

class SessionView {
  /** @type {Map<string, { message: Resource, indices: Set<number> | null, running: Set<number>, isEnd: boolean }>} */ #dirty = new Map();
  /** @type {Map<string, any[]>} blocks received since the last frame, in order, by message and index */ #blocks = new Map();
  #frame = 0;
  /** @type {Promise<boolean> | null} an older page that is being loaded */ #loadingOlder = null;
  #isLoading = false;
  /** @type {() => unknown} */ #unsubscribe;
  /** @type {string | null} a message to show once it is loaded */ #targetId;

  /** @param {App} app @param {string} sessionId @param {string | null} targetId of a message */
  constructor(app, sessionId, targetId) {
    this.#targetId = targetId;
    this.app = app;
    this.id = sessionId;
    this.conversation = new Conversation(sessionId);
    this.turns = new Turns(app, this.conversation, () => this.session && this.#drawEnd(this.session));
    this.older = button("Earlier messages", () => this.#loadOlder(), ".quiet.older", { hidden: true });
    this.list = make("div.messages");
    this.note = make("p.hint.messages", { role: "status", hidden: true });
    this.endElement = make("div.session-end");
    this.scroller = make("div.transcript", this.older, this.list, this.note, this.endElement, {
      tabIndex: 0,
      role: "log",
      "aria-label": "Conversation",
      "aria-live": "off", // the announcer announces complete blocks
    });
    this.announcer = announcer(sessionId);
    this.scrollButtons = scrollButtons(() => this.#goToFirst(), () => this.#goToEnd());
    this.composer = composer(app, sessionId, () => this.#goToEnd());
    this.queue = queueList(app, sessionId, (text, paths) => this.composer.insertText(text, paths));
    this.pane = new ChangesPane(app, () => this.session?.worktree_id);
    this.header = new SessionHeader(app, sessionId, {
      openMenu: () => chooseAction(app, this.title),
      pane: this.pane,
      startedAt: () => 1000 * (this.conversation.messages.at(-1)?.timestamp ?? 0),
    });
    this.bar = this.header.bar;
    this.element = make("div.session", this.header.element, this.pane.element, make("div.reading", this.scroller, this.scrollButtons.element), this.queue.element, this.composer.element, this.announcer.element);
    this.autoscroll = new Autoscroll(this.scroller, this.element);
    this.scroller.addEventListener("scroll", () => this.#handleScroll(), { passive: true });
    // Subscribe before loading, so that no text is missed. After a reconnect it is loaded again, because replayed
    // events contain no text.
    app.connection.showSession(sessionId);
    this.#showCached();
    this.#unsubscribe = app.onConnection((status) => {
      if (status.state === "open") this.#load();
      if (status.state === "lost") this.#showOffline();
    });
  }

  get session() {
    return this.app.state.sessions.get(this.id);
  }

  get title() {
    return this.session?.name ?? "Spinney";
  }

  get subtitle() {
    return this.header.state;
  }

  close() {
    this.#unsubscribe();
    this.header.close();
    this.pane.close();
    this.queue.close();
    this.announcer.close();
    this.app.connection.showSession(null);
    this.composer.close();
  }

  /** The state was reloaded: events may have been missed. */
  handleReload() {
    this.conversation.isLoaded = false;
    this.pane.handleReload();
    if (this.app.connection.isOpen) this.#load();
  }

  /** @param {string} name @param {any} body */
  handleEvent(name, body) {
    this.announcer.handleEvent(name, body);
    this.pane.handleEvent(name, body);
    this.turns.handleEvent(name, body);
    if (name === "tool-use" && body.session_id === this.id) this.pane.follow(body.tool_input);
    if (name === "blocks-missed" && body.session_id === this.id) this.handleReload();
    if (name === "messages:rewound") this.#rewind(body);
    const changed = this.conversation.apply(name, body);
    if (!changed) return;
    const { message, index, isEnd } = changed;
    const dirty = this.#dirty.get(message.id) ?? { message, indices: new Set(), running: new Set(), isEnd: false };
    if (isEnd) dirty.isEnd = true;
    else if (name === "tool-running") dirty.running.add(Number(index));
    else if (index === undefined) dirty.indices = null;
    else if (name === "content-blocks" && !dirty.indices?.has(index)) {
      const key = `${message.id}/${index}`;
      this.#blocks.set(key, [...(this.#blocks.get(key) ?? []), body]);
    } else dirty.indices?.add(index);
    dirty.message = message;
    this.#dirty.set(message.id, dirty);
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  /** @param {import("../state.js").Change} change */
  update(change) {
    const session = this.session;
    if (!session) {
      this.app.go("needs");
      return;
    }
    if (change.tree || change.ids.has(this.id)) {
      this.#drawEnd(session);
      this.composer.update(session);
      this.header.update(session);
      if (session.unread && may("mark_session_read") && document.visibilityState === "visible") {
        this.app.connection.call("mark_session_read", { sessionId: this.id }).catch(() => {});
      }
    }
    if (change.tree || change.queues.has(this.id)) this.queue.draw();
    if (change.tree) this.pane.update(change);
  }

  focus() {
    if (matchMedia("(pointer: fine)").matches && !this.#targetId && may("send_chat_message")) this.composer.focus();
  }

  // Loading ----------------------------------------------------------------------------------------

  async #load() {
    if (this.#isLoading) return;
    this.#isLoading = true;
    this.turns.load();
    // Reload everything that is loaded, up to the maximum size of a page.
    const limit = Math.min(Math.max(PAGE_SIZE, this.conversation.messages.length), MAX_PAGE_SIZE);
    try {
      const page = await this.app.connection.call("get_message_blocks", { sessionId: this.id, limit });
      this.conversation.load(page);
      cacheConversation(this.conversation);
      this.#dirty.clear();
      this.#blocks.clear();
      const anchor = this.autoscroll.isOn ? null : this.#scrollAnchor();
      this.list.replaceChildren(...this.#sections(page.messages));
      foldRewound(this.list);
      this.autoscroll.reobserve(this.list);
      this.note.hidden = true;
      this.older.hidden = this.conversation.older === 0;
      if (this.session) this.#drawEnd(this.session);
      if (this.#targetId) await this.#showTarget(this.#targetId);
      else if (anchor) this.#restoreScroll(anchor);
      else this.#goToEnd();
    } catch (error) {
      // If the connection was lost, it is loaded again after a reconnect.
      if (this.app.connection.isOpen) this.app.toast(/** @type {Error} */ (error).message, { bad: true });
    } finally {
      this.#isLoading = false;
    }
  }

  /** Show the cached conversation until it is loaded again: it can take a while until a dead connection is noticed. */
  #showCached() {
    const cached = this.#targetId ? undefined : cachedConversation(this.id);
    if (!cached) return;
    this.list.replaceChildren(...this.#sections(cached.messages));
    foldRewound(this.list);
    this.#goToEnd();
  }

  /** Show that the conversation cannot be loaded while offline. */
  #showOffline() {
    const cached = cachedConversation(this.id);
    if (this.conversation.isLoaded || (!cached && this.list.childElementCount)) return;
    this.note.hidden = false;
    this.note.textContent = cached
      ? `You are offline. This is the conversation as of ${formatTime(cached.readAt)}. It will update when you are back online.`
      : "You are offline, and this conversation has not been loaded yet. It will load when you are back online.";
  }

  /** Load an older page; returns whether there was one. */
  #loadOlder(limit = PAGE_SIZE) {
    this.#loadingOlder ??= this.#loadOlderPage(limit).finally(() => (this.#loadingOlder = null));
    return this.#loadingOlder;
  }

  /** @param {number} limit */
  async #loadOlderPage(limit) {
    if (this.conversation.older === 0) return false;
    const offset = this.conversation.messages.length;
    const page = await this.app.run("get_message_blocks", { sessionId: this.id, limit, offset });
    if (!page) return false;
    const before = this.scroller.scrollHeight - this.scroller.scrollTop;
    const loaded = this.conversation.prepend(page);
    this.list.prepend(...this.#sections(loaded));
    foldRewound(this.list);
    this.older.hidden = this.conversation.older === 0;
    this.scroller.scrollTop = this.scroller.scrollHeight - before;
    return loaded.length > 0;
  }

  /** Load older pages until a message is found, and highlight it. @param {string} id */
  async #showTarget(id) {
    this.#targetId = null;
    this.autoscroll.stop();
    const findMessage = () => document.getElementById(`m-${id}`);
    while (!findMessage() && this.conversation.older > 0 && (await this.#loadOlder(MAX_PAGE_SIZE)));
    const message = findMessage();
    if (!message) {
      this.app.toast("This message does not exist any more.");
      this.#goToEnd();
      return;
    }
    showRewound(this.list, message);
    message.classList.add("highlighted");
    // Content outside the viewport has an estimated height until it is rendered.
    for (let turn = 0; turn < 3; turn++) {
      message.scrollIntoView({ block: "center" });
      await new Promise(requestAnimationFrame);
    }
    message.tabIndex = -1;
    message.focus({ preventScroll: true });
  }

  /** @param {Resource[]} messages */
  #sections(messages) {
    const sections = [];
    for (let start = 0; start < messages.length; start += SECTION) {
      const group = messages.slice(start, start + SECTION);
      sections.push(make("section.chunk", group.map((message) => messageElement(message, this.#messageContext()))));
    }
    return sections;
  }

  /** @returns {import("./message.js").MessageContext} */
  #messageContext() {
    return { app: this.app, sessionId: this.id, labelOf: (name) => this.composer.labelOf(name) };
  }

  // Drawing ----------------------------------------------------------------------------------------

  #draw() {
    this.#frame = 0;
    for (const [key, updates] of this.#blocks) this.#drawBlocks(key, updates);
    this.#blocks.clear();
    for (const { message, indices, running, isEnd } of this.#dirty.values()) {
      const element = this.#elementOf(message);
      if (indices === null) drawMessage(element, message, this.#messageContext());
      else drawBlocks(element, message, indices, this.#messageContext());
      if (indices !== null) for (const index of running) drawRunningTool(element, message, index, this.#messageContext());
      if (indices !== null && isEnd) drawMessageEnd(element, message, this.#messageContext());
    }
    this.#dirty.clear();
    if (this.session) this.#drawEnd(this.session);
    this.autoscroll.scrollIfOn();
    if (!this.autoscroll.isOn) this.scrollButtons.show({ hasNews: true });
  }

  /** Fold messages that were taken back, or show those that are part of the conversation again. @param {any} body */
  #rewind(body) {
    const changed = this.conversation.rewind(body);
    for (const message of changed) {
      const element = document.getElementById(`m-${message.id}`);
      if (element) setRewound(element, message);
    }
    if (changed.length) foldRewound(this.list);
    if (this.session) this.#drawEnd(this.session);
    this.autoscroll.scrollIfOn();
  }

  /** Update the elements after the last message. @param {Resource} session */
  #drawEnd(session) {
    const isStopped = session.status === "idle" && session.last_run?.status === "cancelled";
    const { newest } = this.conversation;
    const isUnanswered = isStopped && newest?.role === "user";
    const end = session.status === "running" ? null : this.turns.lastChanges();
    const { worktree } = this.app.state.parentsOf(session);
    const signature = JSON.stringify([session.request?.id ?? setAsidePlan(session)?.id, session.waiting_for, session.recap, session.status === "paused" && session.pause, session.archived_at, isUnanswered, end, end && nextStepOf(worktree)]);
    if (this.endElement.dataset.signature === signature) return;
    this.endElement.dataset.signature = signature;
    this.endElement.replaceChildren(...endElements(this.app, session, isUnanswered, end));
    this.autoscroll.scrollIfAtEnd();
    if (this.autoscroll.isOn) this.scrollButtons.hide();
  }

  /** @param {string} key @param {any[]} updates */
  #drawBlocks(key, updates) {
    const [id, index] = key.split("/");
    const dirty = this.#dirty.get(id);
    if (!dirty || dirty.indices === null || dirty.indices.has(Number(index))) return; // rendered as a whole
    const prose = document.getElementById(`m-${id}`)?.querySelector(`:scope > [data-index="${index}"].prose`);
    if (!(prose instanceof HTMLElement)) dirty.indices.add(Number(index));
    else for (const { from, blocks } of updates) replaceBlocks(prose, from, blocks);
  }

  /** @param {Resource} message */
  #elementOf(message) {
    const known = document.getElementById(`m-${message.id}`);
    if (known) return known;
    const created = messageElement(message, this.#messageContext());
    let last = this.list.lastElementChild;
    if (!last || last.children.length >= SECTION) {
      last = make("section.chunk");
      this.list.append(last);
    }
    last.append(created);
    updateDividers(this.list, created);
    return created;
  }

  // Scrolling --------------------------------------------------------------------------------------

  #handleScroll() {
    if (this.autoscroll.isOn) this.scrollButtons.hide();
    else this.scrollButtons.show({ isAtFirst: this.scroller.scrollTop < 1 && this.conversation.older === 0 });
    if (this.scroller.scrollTop < this.scroller.clientHeight && this.conversation.older > 0) this.#loadOlder();
  }

  /** The first visible message, and its offset from the upper edge. */
  #scrollAnchor() {
    const edge = this.scroller.getBoundingClientRect().top;
    const all = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll(".message")]);
    const first = all.find((message) => message.getBoundingClientRect().bottom > edge);
    return first ? { id: first.id, offset: first.getBoundingClientRect().top - edge } : null;
  }

  /** @param {{ id: string, offset: number }} anchor */
  #restoreScroll({ id, offset }) {
    const message = document.getElementById(id);
    if (!message) return;
    this.scroller.scrollTop += message.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top - offset;
  }

  async #goToFirst() {
    this.autoscroll.stop();
    do this.scroller.scrollTop = 0;
    while (this.conversation.older > 0 && (await this.#loadOlder(MAX_PAGE_SIZE)));
  }

  #goToEnd() {
    this.autoscroll.scrollToEnd();
    this.scrollButtons.hide();
  }
}

/** What the change card offers depends on. @param {Resource | undefined} worktree */
const nextStepOf = (worktree) => [worktree?.pr_url, Boolean(worktree?.cached_uncommitted_added || worktree?.cached_uncommitted_removed), worktree?.cached_unpushed_count > 0];
