// @ts-check
// A session: its conversation in sections, held at the end while the reader is there, the request
// that waits, the queue, and the message box.

import { gone } from "../app.js";
import { replaceBlocks } from "./blocks.js";
import { composer } from "./composer.js";
import { Conversation, keepConversation, keptConversation, PAGE } from "./conversation.js";
import { button, make } from "../dom.js";
import { markDays } from "./days.js";
import { Following } from "./following.js";
import { endMessage, fillContents, fillMessage, fillRunning, messageElement } from "./message.js";
import { waitingList } from "./queue.js";
import { chooseAction, drawPlaces, scrollButtons, setAside, toldBelow } from "./parts.js";
import { speaker } from "./speaker.js";
import { clock } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const SECTION = 50;
const LONGEST_PAGE = 500;

/** @type {import("../app.js").MakeView} */
export function sessionView(app, route) {
  if (!app.state.sessions.has(route.id)) return gone(app, "sessions", route.id);
  return new SessionView(app, route.id, route.query.get("message"));
}

class SessionView {
  /** @type {Map<string, { message: Resource, indices: Set<number> | null, running: Set<number>, isEnd: boolean }>} */ #dirty = new Map();
  /** @type {Map<string, any[]>} blocks that came since the last frame, in order, by message and index */ #blocks = new Map();
  #frame = 0;
  /** @type {Promise<boolean> | null} an older page that is being read */ #fetching = null;
  #isReading = false;
  /** @type {() => unknown} */ #unwatch;
  /** @type {string | null} a message that is to be shown, once it is read */ #wanted;

  /** @param {App} app @param {string} sessionId @param {string | null} wanted a message's id */
  constructor(app, sessionId, wanted) {
    this.#wanted = wanted;
    this.app = app;
    this.id = sessionId;
    this.conversation = new Conversation(sessionId);
    this.older = button("Earlier messages", () => this.#fetchOlder(), ".quiet.older", { hidden: true });
    this.list = make("div.messages");
    this.note = make("p.hint.messages", { role: "status", hidden: true });
    this.asked = make("div.asked");
    this.scroller = make("div.transcript", this.older, this.list, this.note, this.asked, {
      tabIndex: 0,
      role: "log",
      "aria-label": "Conversation",
      "aria-live": "off", // the speaker says what is finished
    });
    this.speaker = speaker(sessionId);
    this.ways = scrollButtons(() => this.#toFirst(), () => this.#toEnd());
    this.composer = composer(app, sessionId, () => this.#toEnd());
    this.queue = waitingList(app, sessionId, (text, images) => this.composer.put(text, images));
    this.status = make("nav.places", { "aria-label": "Worktree" });
    this.more = button("⋯", () => chooseAction(app, this.title), ".quiet.more", { "aria-label": "What can be done with this session", title: "More" });
    const top = make("div.top", this.status, this.more);
    this.element = make("div.session", top, make("div.reading", this.scroller, this.ways.element), this.queue.element, this.composer.element, this.speaker.element);
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.following = new Following(this.scroller, this.element);
    // Text is told of from now on, and read then: nothing falls between. After a gap it is read again,
    // as the events that a connection is told afterwards hold no text.
    app.connection.show(sessionId);
    this.#showKept();
    this.#unwatch = app.watch((link) => {
      if (link.state === "open") this.#fetch();
      if (link.state === "lost") this.#sayOffline();
    });
  }

  get session() {
    return this.app.state.sessions.get(this.id);
  }

  get title() {
    return this.session?.name ?? "Spinney";
  }

  close() {
    this.#unwatch();
    this.following.close();
    this.queue.close();
    this.speaker.close();
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
    this.speaker.event(name, body);
    if (name === "blocks-missed" && body.session_id === this.id) this.loaded();
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
  changed(change) {
    const session = this.session;
    if (!session) {
      this.app.go("needs");
      return;
    }
    if (change.tree || change.ids.has(this.id)) {
      this.#drawBelow(session);
      this.composer.follow(session);
      drawPlaces(this.app, session, this.status);
      if (session.unread && document.visibilityState === "visible") {
        this.app.connection.call("mark_session_read", { sessionId: this.id }).catch(() => {});
      }
    }
    if (change.tree || change.queues.has(this.id)) this.queue.draw();
  }

  focus() {
    if (matchMedia("(pointer: fine)").matches && !this.#wanted) this.composer.focus();
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
      keepConversation(this.conversation);
      this.#dirty.clear();
      this.#blocks.clear();
      const place = this.following.isOn ? null : this.#placeOfReader();
      this.list.replaceChildren(...this.#sections(page.messages));
      markDays(this.list);
      this.following.observeAnew(this.list);
      this.note.hidden = true;
      this.older.hidden = this.conversation.older === 0;
      if (this.session) this.#drawBelow(this.session);
      if (this.#wanted) await this.#showWanted(this.#wanted);
      else if (place) this.#returnTo(place);
      else this.#toEnd();
    } catch (error) {
      // A connection that broke comes back, and then it is read.
      if (this.app.connection.isOpen) this.app.say(/** @type {Error} */ (error).message, { bad: true });
    } finally {
      this.#isReading = false;
    }
  }

  /** Show what was read before, until it is read again: a line may be dead for a while before that is known. */
  #showKept() {
    const kept = this.#wanted ? undefined : keptConversation(this.id);
    if (!kept) return;
    this.list.replaceChildren(...this.#sections(kept.messages));
    markDays(this.list);
    this.#toEnd();
  }

  /** Say why nothing is read now. */
  #sayOffline() {
    const kept = keptConversation(this.id);
    if (this.conversation.isLoaded || (!kept && this.list.childElementCount)) return;
    this.note.hidden = false;
    this.note.textContent = kept
      ? `You are offline. This is what was read by ${clock(kept.readAt)}; what came since is shown when the connection is back.`
      : "You are offline, and this conversation was not read before. It is shown when the connection is back.";
  }

  /** Read an older page; gives whether it came. */
  #fetchOlder(limit = PAGE) {
    this.#fetching ??= this.#readOlder(limit).finally(() => (this.#fetching = null));
    return this.#fetching;
  }

  /** @param {number} limit */
  async #readOlder(limit) {
    if (this.conversation.older === 0) return false;
    const offset = this.conversation.messages.length;
    const page = await this.app.run("get_message_blocks", { sessionId: this.id, limit, offset });
    if (!page) return false;
    const before = this.scroller.scrollHeight - this.scroller.scrollTop;
    const read = this.conversation.prepend(page);
    this.list.prepend(...this.#sections(read));
    markDays(this.list);
    this.older.hidden = this.conversation.older === 0;
    this.scroller.scrollTop = this.scroller.scrollHeight - before;
    return read.length > 0;
  }

  /** Read back until a message is there, and mark it. @param {string} id */
  async #showWanted(id) {
    this.#wanted = null;
    this.following.leave();
    const here = () => document.getElementById(`m-${id}`);
    while (!here() && this.conversation.older > 0 && (await this.#fetchOlder(LONGEST_PAGE)));
    const message = here();
    if (!message) {
      this.app.say("This message is not here any more.");
      this.#toEnd();
      return;
    }
    message.classList.add("sought");
    // What is out of sight has a height that is only guessed, until it comes into sight.
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
    for (const { message, indices, running, isEnd } of this.#dirty.values()) {
      const element = this.#elementOf(message);
      if (indices === null) fillMessage(element, message, this.#around());
      else fillContents(element, message, indices, this.#around());
      if (indices !== null) for (const index of running) fillRunning(element, message, index, this.#around());
      if (indices !== null && isEnd) endMessage(element, message, this.#around());
    }
    this.#dirty.clear();
    if (this.session) this.#drawBelow(this.session);
    this.following.settle();
    if (!this.following.isOn) this.ways.show({ hasNews: true });
  }

  /** Draw what stands under the last message. @param {Resource} session */
  #drawBelow(session) {
    const isStopped = session.status === "idle" && session.last_run?.status === "cancelled";
    const isUnanswered = isStopped && this.conversation.messages.at(-1)?.role === "user";
    const told = JSON.stringify([session.request?.id ?? setAside(session)?.id, session.waiting_for, session.recap, session.archived_at, isUnanswered]);
    if (this.asked.dataset.told === told) return;
    this.asked.dataset.told = told;
    this.asked.replaceChildren(...toldBelow(this.app, session, isUnanswered));
    this.following.settleWhereItEnds();
    if (this.following.isOn) this.ways.hide();
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
    markDays(this.list, made);
    return made;
  }

  // Scrolling --------------------------------------------------------------------------------------

  #scrolled() {
    if (this.following.scrolled()) this.ways.hide();
    else this.ways.show({ isAtFirst: this.scroller.scrollTop < 1 && this.conversation.older === 0 });
    if (this.scroller.scrollTop < this.scroller.clientHeight && this.conversation.older > 0) this.#fetchOlder();
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

  async #toFirst() {
    this.following.leave();
    do this.scroller.scrollTop = 0;
    while (this.conversation.older > 0 && (await this.#fetchOlder(LONGEST_PAGE)));
  }

  #toEnd() {
    this.following.toEnd();
    this.ways.hide();
  }
}
