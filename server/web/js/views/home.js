// @ts-check
// The start view, a feed: the sessions that need you, to be answered directly; those at work, with what they write and
// do; what can be landed; and the sessions that have finished.

import { ageElement } from "../age.js";
import { activityOf } from "../activity.js";
import { requestCard } from "../cards.js";
import { guest, may } from "../guest.js";
import { button, make, patchChildren, syncKeyed } from "../dom.js";
import { RunningCard } from "../feed_card.js";
import { icon } from "../icons.js";
import { changeCounts, markElement, markOf, requestLabel } from "../marks.js";
import { performAction } from "../perform.js";
import { hashFor } from "../router.js";
import { LandingFeed } from "./home_landing.js";
import { drawNotices } from "./home_notices.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const MAX_RECENT = 12;
const MARK = new URL("../../icon.svg", import.meta.url).pathname;

/** @type {import("../app.js").MakeView} */
export function homeView(app) {
  return new Home(app);
}

class Home {
  title = "Home";
  /** @type {Map<string, RunningCard>} by session id */ #running = new Map();
  /** @type {Set<string>} ids of sessions whose running cards are visible */ #visible = new Set();
  /** @type {Map<string, string>} by session id */ #lines = new Map();

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.waitingList = make("div.feed-list");
    this.runningList = make("ul.running-list");
    this.recentList = make("ul.recent-list");
    this.waitingPart = section(may("approve_plan") ? "Needs you" : "Waiting for an answer", "needs", this.waitingList);
    this.runningPart = section("Running", "running", this.runningList);
    this.recentPart = section("Recent", "recent", this.recentList);
    const landingList = make("ul.recent-list");
    const landingPart = section("Landing", "landing", landingList);
    this.noticeList = make("ul.recent-list");
    this.noticePart = section("Notices", "notices", this.noticeList);
    this.landing = new LandingFeed(app, landingPart, landingList);
    this.empty = make("div.empty");
    const task = make("a.button.primary.large.new-task", icon("edit"), "New task", { href: hashFor("new") });
    this.element = make("div.page.home", problemsElement(app), this.empty, this.waitingPart, this.noticePart, make("div.others", this.runningPart, landingPart, this.recentPart), make("div.task-bar", task));
    this.observer = new IntersectionObserver((entries) => this.#watch(entries), { rootMargin: "100px" });
  }

  /** @param {import("../state.js").Change} change */
  update(change) {
    if (change.tree) this.#draw();
    if (change.tree) this.landing.update();
    if (change.tree || change.activity) for (const id of this.#visible) this.#running.get(id)?.update(this.#lines.get(id));
  }

  /** @param {string} name @param {any} body */
  handleEvent(name, body) {
    this.landing.handleEvent(name, body);
    if (name === "message-started") this.#lines.delete(body.session_id);
    if (name !== "live-line") return;
    this.#lines.set(body.session_id, body.text);
    this.app.invalidate({ activity: true });
  }

  handleReload() {
    this.landing.handleReload();
  }

  close() {
    this.landing.close();
    this.observer.disconnect();
    this.app.connection.watchSessions([]);
  }

  #draw() {
    const { state } = this.app;
    const waiting = state.waiting();
    const running = state.running();
    const recent = state.recent(MAX_RECENT);
    syncKeyed(this.waitingList, waiting, (session) => session.id, (session, old) => {
      if (old && old.dataset.request === (session.request?.id ?? "")) return old;
      return waitingCard(this.app, session);
    });
    drawNotices(this.app, this.noticePart, this.noticeList);
    this.#drawRunning(running);
    syncKeyed(this.recentList, recent, (session) => session.id, (session, old) => recentRow(this.app, session, old));
    this.waitingPart.hidden = !waiting.length;
    this.runningPart.hidden = !running.length;
    this.recentPart.hidden = !recent.length;
    this.element.classList.toggle("has-waiting", waiting.length > 0);
    const isQuiet = !waiting.length && !running.length;
    this.empty.hidden = !isQuiet;
    this.element.classList.toggle("is-quiet", isQuiet);
    if (isQuiet) patchChildren(this.empty, emptyContent(this.app));
  }

  /** @param {Resource[]} running */
  #drawRunning(running) {
    const ids = new Set(running.map((session) => session.id));
    for (const [id, card] of this.#running) {
      if (ids.has(id)) continue;
      this.observer.unobserve(card.element);
      this.#running.delete(id);
      this.#visible.delete(id);
      this.#lines.delete(id);
    }
    syncKeyed(this.runningList, running, (session) => session.id, (session) => {
      const known = this.#running.get(session.id) ?? new RunningCard(this.app, session.id);
      if (!this.#running.has(session.id)) {
        this.#running.set(session.id, known);
        this.observer.observe(known.element);
      }
      return known.element;
    });
  }

  /** Follow what the visible cards' sessions write. @param {IntersectionObserverEntry[]} entries */
  #watch(entries) {
    for (const { target, isIntersecting } of entries) {
      const id = /** @type {HTMLElement} */ (target).dataset.key ?? "";
      if (!this.#running.has(id) || !isIntersecting) this.#visible.delete(id);
      else {
        this.#visible.add(id);
        this.#loadActivity(id);
      }
    }
    this.app.connection.watchSessions([...this.#visible]);
    this.app.invalidate({ activity: true });
  }

  /** Read what a session does that was already at work when the page was opened. @param {string} id */
  async #loadActivity(id) {
    const { activities } = this.app.state;
    if (activities.has(id)) return;
    const page = await this.app.connection.call("get_messages", { sessionId: id, limit: 1 }).catch(() => null);
    const message = page?.messages.at(-1);
    if (message?.role !== "assistant" || activities.has(id) || this.app.state.sessions.get(id)?.status !== "running") return;
    activities.set(id, activityOf(message));
    this.app.invalidate({ activity: true });
  }
}

/** @param {string} title @param {string} name @param {HTMLElement} list */
function section(title, name, list) {
  const id = `feed-${name}`;
  return make(/** @type {"section"} */ (`section.feed.${name}`), make("h2", title, { id }), list, { "aria-labelledby": id, hidden: true });
}

/** Problems of this Spinney, if any. @param {App} app */
function problemsElement(app) {
  const box = make("section.problems", { hidden: true });
  if (may("get_problems")) app.connection.call("get_problems").then((/** @type {string[]} */ problems) => {
    box.hidden = !problems.length;
    box.replaceChildren(make("h2", "Problems"), ...problems.map((problem) => make("p.bad", problem)));
  }, () => {});
  return box;
}

/** @param {App} app */
function emptyContent(app) {
  const mark = make("img.mark-large", { src: MARK, alt: "" });
  if (guest()) return [mark, make("h2", "All quiet."), make("p", "No session needs an answer, and none is running.")];
  if (!app.state.projects.size) {
    return [
      mark,
      make("h2", "No projects yet"),
      make("p", "A project is a git repository on the machine that runs Spinney. Agents work in worktrees of it."),
      make("div.choices", button([icon("folder"), "Add a project"], () => performAction(app, "add_project"), ".primary"), button("Clone a repository", () => performAction(app, "clone_project"))),
    ];
  }
  return [
    mark,
    make("h2", "All quiet."),
    make("p", "No session needs you, and none is running. Start something:"),
    make("div.choices", make("a.button.primary.large", icon("edit"), "New task", { href: hashFor("new") }), make("a.button", icon("label"), "Open work", { href: hashFor("work") }), make("a.button", icon("grid"), "All sessions", { href: hashFor("canvas") })),
  ];
}

/** @param {App} app @param {Resource} session */
function pathOf(app, session) {
  const { worktree, project } = app.state.parentsOf(session);
  return [project?.name, worktree?.name].filter(Boolean).join(" ▸ ");
}

/** @param {App} app @param {Resource} session */
function waitingCard(app, session) {
  const link = make("a.session", markElement(markOf(session)), make("span", make("b", session.name), ` ${requestLabel(session)}`), make("small", pathOf(app, session)), {
    href: hashFor("session", session.id),
  });
  const head = make("div.card-head", make("h3", link), session.updated_at && make("small", ageElement(session.updated_at)));
  const card = make("section.card.waiting.waiting-item", head, requestCard(app, session, { hasBox: false }));
  card.dataset.request = session.request?.id ?? "";
  return card;
}

/** @param {App} app @param {Resource} session @param {HTMLElement | undefined} old */
function recentRow(app, session, old) {
  const { worktree } = app.state.parentsOf(session);
  const counts = worktree ? changeCounts(worktree) : [];
  const path = pathOf(app, session);
  const signature = JSON.stringify([session.name, markOf(session), session.updated_at, path, worktree?.cached_uncommitted_added, worktree?.cached_uncommitted_removed]);
  if (old?.dataset.signature === signature) return old;
  const link = make(
    "a",
    markElement(markOf(session)),
    make("span.grow", make("b", session.name), make("small", path)),
    make("span.git", counts),
    make("small", ageElement(session.updated_at)),
    { href: hashFor("session", session.id) },
  );
  return make("li", link, { "data-signature": signature, className: session.unread ? "unread" : "" });
}
