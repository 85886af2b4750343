// @ts-check
// The part of a session in the page's header (changes, menu), its state in words, and the tabs of its siblings.

import { describeActivity } from "../activity.js";
import { choose } from "../dialogs.js";
import { button, make, syncKeyed } from "../dom.js";
import { formatDuration, formatWhen } from "../format.js";
import { icon } from "../icons.js";
import { changeCounts, markElement, markOf } from "../marks.js";
import { hashFor } from "../router.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const NARROW = matchMedia("(max-width: 48rem)"); // as in session.css
const TICK = 1000; // ms between updates of the elapsed time, while something runs

export class SessionHeader {
  #timer = 0;
  #runsSince = 0; // ms, as seen here
  #observer = new ResizeObserver(() => this.#fitTabs());
  /** @type {number[]} */ #widths = [];

  /**
   * @param {App} app
   * @param {string} sessionId
   * @param {{ openMenu: () => unknown, pane: import("./pane.js").ChangesPane, startedAt: () => number }} options
   *   `startedAt`: of the newest message in ms, or 0 while it is not loaded
   */
  constructor(app, sessionId, { openMenu, pane, startedAt }) {
    this.app = app;
    this.startedAt = startedAt;
    this.id = sessionId;
    this.changes = make("a.button.quiet.changes", icon("diff"), make("span.words", "Changes"), make("span.counts"));
    this.bar = make("div", this.changes, pane.toggle, button(icon("more"), openMenu, ".quiet.icon-only.more", { "aria-label": "Session actions", title: "More" }));
    this.place = make("a.place");
    this.tabs = make("div.tabs");
    this.others = button("…", () => this.#chooseSession(), ".quiet.icon-only", { hidden: true, "aria-label": "All sessions of this worktree", title: "All sessions of this worktree" });
    this.element = make("nav.top", this.place, this.tabs, this.others, { "aria-label": "Worktree" });
    this.#observer.observe(this.element);
    NARROW.addEventListener("change", this.#updateTitle);
  }

  #updateTitle = () => this.app.updateTitle();

  get #session() {
    return this.app.state.sessions.get(this.id);
  }

  close() {
    clearInterval(this.#timer);
    this.#observer.disconnect();
    NARROW.removeEventListener("change", this.#updateTitle);
  }

  /** What the session does, and on a phone where it is. */
  get state() {
    const session = this.#session;
    const { worktree, project } = this.app.state.parentsOf(session);
    if (session?.status === "running") {
      const activity = this.app.state.activities.get(this.id);
      const verb = activity && describeActivity({ ...activity, isTimed: false });
      return `running ${formatDuration((Date.now() - (this.startedAt() || this.#runsSince)) / 1000)}${verb ? ` · ${verb}` : ""}`;
    }
    const place = NARROW.matches && `${project?.name ?? ""} ▸ ${worktree?.name ?? ""}`; // else it is in the bar below
    const paused = session?.pause && (session.pause.until === null ? "paused" : `paused until ${formatWhen(session.pause.until)}`);
    return [STATES[session?.waiting_for], session?.status === "paused" && paused, place].filter(Boolean).join(" · ");
  }

  /** @param {Resource} session */
  update(session) {
    const isRunning = session.status === "running";
    this.#runsSince = isRunning ? this.#runsSince || Date.now() : 0;
    if (isRunning) this.#timer ||= setInterval(() => document.hidden || this.app.updateTitle(), TICK);
    else this.#timer = (clearInterval(this.#timer), 0);
    const { worktree, project } = this.app.state.parentsOf(session);
    if (!worktree) return;
    const counts = changeCounts(worktree).filter((part) => part instanceof Node);
    this.changes.href = hashFor("diff", worktree.id);
    this.changes.lastElementChild?.replaceChildren(...counts);
    this.changes.ariaLabel = ["Changes", ...counts.map((count) => count.textContent)].join(" ");
    this.place.textContent = this.place.title = `${project?.name ?? ""} ▸ ${worktree.name}`;
    this.place.href = hashFor("worktree", worktree.id);
    this.#drawTabs(worktree.id);
  }

  /** @param {string} worktreeId */
  #drawTabs(worktreeId) {
    const sessions = this.app.state.sessionsOf(worktreeId);
    this.element.classList.toggle("single", sessions.length < 2);
    const names = sessions.map((session) => `${session.id} ${session.name} ${markOf(session)}`).join("\n");
    if (this.tabs.dataset.signature === names) return;
    this.tabs.dataset.signature = names;
    syncKeyed(this.tabs, sessions.length < 2 ? [] : sessions, (session) => session.id, (session, old) => {
      const tab = make("a.tab", markElement(markOf(session)), make("span", session.name), {
        href: hashFor("session", session.id),
        title: session.name,
        "aria-current": session.id === this.id ? "page" : null,
      });
      if (!old) return tab;
      old.replaceChildren(...tab.childNodes); // the focus stays on the link
      old.title = tab.title;
      return old;
    });
    this.#widths = [];
    this.#fitTabs();
  }

  /** Show the tabs that fit, the current one among them, and a button for the others. */
  #fitTabs() {
    const tabs = /** @type {HTMLElement[]} */ ([...this.tabs.children]);
    if (!tabs.length || !this.element.isConnected) {
      this.others.hidden = true;
      return;
    }
    if (!this.#widths.length) {
      for (const tab of tabs) tab.hidden = false;
      this.#widths = tabs.map((tab) => tab.offsetWidth);
    }
    const total = this.#widths.reduce((sum, width) => sum + width, 0);
    this.others.hidden = total <= this.tabs.clientWidth + (this.others.hidden ? 0 : this.others.offsetWidth);
    const current = tabs.findIndex((tab) => tab.ariaCurrent === "page");
    let room = this.tabs.clientWidth - (this.#widths[current] ?? 0);
    tabs.forEach((tab, index) => {
      if (index !== current) room -= this.#widths[index];
      tab.hidden = index !== current && room < 0;
    });
  }

  async #chooseSession() {
    const session = this.#session;
    const sessions = this.app.state.sessionsOf(session?.worktree_id ?? "");
    const entries = sessions.map((other) => /** @type {[string, string]} */ ([other.name, other.id]));
    const chosen = await choose("Sessions of this worktree", entries);
    if (chosen) this.app.go("session", chosen);
  }
}

/** @type {Record<string, string>} */
const STATES = { plan: "waiting: plan", question: "waiting: question", permission: "waiting: permission" };
