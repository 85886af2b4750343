// @ts-check
// What a worktree changes: files on three sides, kept true while they are looked at, with what git
// can do about them and what people say of them.

import { gone } from "../app.js";
import { button, make, place } from "../dom.js";
import { hashOf } from "../router.js";
import { Actions } from "./diff_actions.js";
import { bars, Look } from "./diff_bar.js";
import { Comments } from "./diff_comments.js";
import { DiffFile } from "./diff_file.js";
import { keysTable, takeKeys } from "./diff_keys.js";
import { Marks } from "./diff_marks.js";
import { reviewSection } from "./diff_review.js";
import { GitPanel } from "./git.js";
import { sheet } from "./sheet.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./diff_head.js").ChangedFile} ChangedFile
 * @typedef {"unstaged" | "staged" | "branch"} Side
 */

await sheet("diff");

/** @type {Side[]} */
const SIDES = ["unstaged", "staged", "branch"];
const PAUSE = 300; // ms in which events about the worktree are taken as one
const LISTED = 500; // files of the list, before it is asked for more

/** @type {import("../app.js").MakeView} */
export function diffView(app, route) {
  return app.state.worktrees.has(route.id) ? new DiffView(app, route) : gone(app, "worktrees", route.id);
}

export class DiffView {
  /** @type {Side} */ side = "unstaged";
  /** @type {DiffFile[]} */ files = [];
  /** @type {string | null} */ #wanted;
  /** @type {string | null} a form of git's that is opened at first */ #form;
  /** @type {number | undefined} */ #timer;
  /** @type {Promise<void> | null} */ #reading = null;
  /** Why the list could not be read. */
  problem = "";
  #isStale = false;
  #most = LISTED;
  /** @type {() => unknown} */ #unwatch;
  /** @type {() => unknown} */ #letGoOfKeys;
  /** What `list_changed_files` gave. @type {{ files: ChangedFile[], base: string, operation: string | null } | undefined} */ changes;

  /** @param {App} app @param {import("../router.js").Route} route */
  constructor(app, route) {
    this.app = app;
    this.id = route.id;
    this.#wanted = route.query.get("file");
    this.#form = route.query.get("form");
    this.side = SIDES.find((side) => side === route.query.get("side")) ?? "unstaged";
    this.comments = new Comments(this.id, () => this.#drawComments());
    this.said = make("p.aside", { role: "status" });
    this.marks = new Marks((words) => (this.said.textContent = words));
    this.git = new GitPanel(app, this.id, () => this.reload());
    this.review = reviewSection(this);
    this.look = new Look(() => this.#redraw());
    this.actions = new Actions(this);
    this.bars = bars(this);
    this.list = make("div.files");
    this.more = button("Show more files", () => this.#showMore(), "", { hidden: true });
    this.element = make(
      "div.diff-view",
      make("a", "← the worktree", { href: hashOf("worktree", this.id), className: "back" }),
      this.bars.sides, this.bars.tools, this.git.element, this.bars.note, this.list, this.more, this.marks.bar, this.review.element, keysTable(), this.said,
    );
    this.sight = new IntersectionObserver((seen) => this.#sighted(seen), { root: document.getElementById("room"), rootMargin: "600px 0px" });
    this.#letGoOfKeys = takeKeys(this);
    // What an editor changed is seen by the next look only, and git looks once a minute.
    addEventListener("focus", this.#markStale);
    document.addEventListener("visibilitychange", this.#markStale);
    this.#unwatch = app.watch((link) => {
      if (link.state === "open") this.reload();
      else if (link.state === "lost" && !this.changes) this.problem = "You are offline. Changes are read when the connection is back.";
      this.#drawBars();
    });
    this.#drawComments();
  }

  get title() {
    return `Changes in ${this.app.state.worktrees.get(this.id)?.name ?? "a worktree"}`;
  }

  close() {
    this.#unwatch();
    this.#letGoOfKeys();
    removeEventListener("focus", this.#markStale);
    document.removeEventListener("visibilitychange", this.#markStale);
    clearTimeout(this.#timer);
    this.look.close();
    this.sight.disconnect();
    this.comments.close();
    this.git.close();
  }

  focus() {
    if (!this.element.contains(document.activeElement)) this.bars.sides.querySelector("button")?.focus({ preventScroll: true });
  }

  // Following --------------------------------------------------------------------------------------

  /** @param {import("../state.js").Change} change */
  changed(change) {
    if (!change.tree) return;
    if (!this.app.state.worktrees.has(this.id)) this.app.go("needs");
    this.git.draw();
    this.review.draw();
  }

  /** @param {string} name @param {any} body */
  event(name, body) {
    const isGit = name === "git:status-update" || name === "task:completed";
    const isAgent = name === "message-block" || name === "message-completed";
    const ofSession = isAgent && this.app.state.sessions.get(body.session_id)?.worktree_id;
    if ((isGit && body.worktree_id === this.id) || ofSession === this.id) this.#markStale();
  }

  loaded() {
    this.#markStale();
  }

  #markStale = () => {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.reload();
    }, PAUSE);
  };

  /** Read the list, then what is in sight of its files; done when all that is known. */
  reload() {
    this.#isStale = true;
    this.#reading ??= this.#read().finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #read() {
    while (this.#isStale) {
      this.#isStale = false;
      const side = this.side;
      if (!this.app.connection.isOpen) return;
      try {
        const changes = await this.app.connection.call("list_changed_files", { worktreeId: this.id, side });
        if (side !== this.side) continue;
        await this.#show(changes);
      } catch (error) {
        this.problem = /** @type {Error} */ (error).message;
        this.#drawBars();
      }
    }
    await this.review.lookForLost();
  }

  /** @param {NonNullable<DiffView["changes"]>} changes */
  async #show(changes) {
    if (this.side === "unstaged") this.git.stopped.show(changes);
    else this.git.look();
    const known = new Map(this.files.map((file) => [file.path, file]));
    this.changes = changes;
    this.problem = "";
    this.files = changes.files.slice(0, this.#most).map((file) => {
      const old = known.get(file.path);
      known.delete(file.path);
      old?.update(file);
      return old ?? this.#made(file);
    });
    for (const gone of known.values()) {
      this.sight.unobserve(gone.element);
      gone.element.remove();
      if (this.marks.file === gone) this.marks.clear();
    }
    place(this.list, this.files.map((file) => file.element));
    this.#drawBars();
    this.#openForm();
    if (!this.#goesOnLooking()) for (const file of this.files) if (file.isNear) await file.load();
    this.#drawComments();
  }

  #openForm() {
    const form = this.#form;
    this.#form = null;
    if (form === "commit") this.git.commit();
    if (form === "pull_request" && !this.git.worktree.pr_url) this.git.pullRequest();
  }

  /** @param {ChangedFile} changed */
  #made(changed) {
    const file = new DiffFile(this, changed);
    this.sight.observe(file.element);
    return file;
  }

  /** Whether the file that was asked for is looked for on the next side. */
  #goesOnLooking() {
    const wanted = this.#wanted;
    if (wanted === null) return false;
    const file = this.fileOf(wanted);
    if (!file) {
      const next = SIDES[SIDES.indexOf(this.side) + 1];
      if (next) this.lookAt(next);
      else this.app.say(`“${wanted}” has no changes any more.`);
      if (!next) this.#wanted = null;
      return Boolean(next);
    }
    this.#wanted = null;
    file.choose(true);
    file.element.scrollIntoView();
    file.head.fold.focus({ preventScroll: true });
    return false;
  }

  /** @param {IntersectionObserverEntry[]} seen */
  async #sighted(seen) {
    for (const { target, isIntersecting } of seen) {
      const file = this.files.find((each) => each.element === target);
      if (file) file.isNear = isIntersecting;
    }
    for (const file of this.files) if (file.isNear) await file.load();
    this.#drawComments();
  }

  // Drawing ----------------------------------------------------------------------------------------

  #drawBars() {
    this.bars.draw();
    this.element.classList.toggle("wrap", this.look.wraps || this.look.isSplit);
    this.more.hidden = (this.changes?.files.length ?? 0) <= this.#most;
  }

  #showMore() {
    this.#most += LISTED;
    return this.reload();
  }

  #drawComments() {
    for (const file of this.files) file.drawComments();
    this.review.draw();
    this.#drawBars();
  }

  #redraw() {
    this.#drawBars();
    for (const file of this.files) if (file.rows.length) file.draw();
  }

  // Places -----------------------------------------------------------------------------------------

  /** @param {string} path */
  fileOf(path) {
    return this.files.find((file) => file.path === path);
  }

  /** The head of the file before, or its last line; of the next one the head. @param {DiffFile} file @param {1 | -1} by */
  neighbour(file, by) {
    const next = this.files[this.files.indexOf(file) + by];
    return by < 0 && next?.isOpen ? (next.drawn.at(-1) ?? next.head.fold) : next?.head.fold;
  }

  /** @param {Side} side */
  async lookAt(side) {
    if (side === this.side) return;
    this.side = side;
    this.marks.clear();
    for (const file of this.files) this.sight.unobserve(file.element);
    this.files = [];
    this.changes = undefined;
    this.list.replaceChildren();
    history.replaceState(null, "", hashOf("diff", this.id, { side }));
    this.#drawBars();
    await this.reload();
  }

  nextSide() {
    return this.lookAt(SIDES[(SIDES.indexOf(this.side) + 1) % SIDES.length]);
  }

  /** Whether a comment stands under its lines. @param {string} id */
  shows(id) {
    return this.files.some((file) => file.shows(id));
  }

  /** Go to a comment where it stands, or to its file. @param {import("./diff_comments.js").Comment} comment */
  goTo(comment) {
    const card = this.element.querySelector(`.said [data-comment="${CSS.escape(comment.id)}"]`);
    const inside = card?.querySelector("textarea, button");
    if (inside instanceof HTMLElement) {
      inside.focus({ preventScroll: true });
      card?.scrollIntoView({ block: "nearest" });
      return;
    }
    this.#wanted = comment.path;
    if (this.fileOf(comment.path)) this.#goesOnLooking();
    else if (this.side === "unstaged") this.reload();
    else this.lookAt("unstaged");
  }
}
