// @ts-check
// The diff view of a worktree: unstaged, staged and committed changes, kept up to date, with git actions and comments.

import { missingView } from "../app.js";
import { runSoon } from "../coalesce.js";
import { button, make, syncChildren } from "../dom.js";
import { hashFor } from "../router.js";
import { DiffActions } from "./diff_actions.js";
import { DiffBar, DiffLayout } from "./diff_bar.js";
import { Comments } from "./diff_comments.js";
import { DiffFile } from "./diff_file.js";
import { Findings } from "./diff_findings.js";
import { keepWriting } from "./diff_focus.js";
import { FileList } from "./diff_list.js";
import { bindKeys } from "./diff_keys.js";
import { LineSelection } from "./diff_marks.js";
import { Overlaps } from "./diff_overlaps.js";
import { reviewSection } from "./diff_review.js";
import { reviewBar } from "./diff_review_bar.js";
import { WorktreeReview } from "./diff_reviewed.js";
import { Verdicts } from "./diff_verdicts.js";
import { GitPanel } from "./git.js";
import { loadCodeColors, loadStylesheet } from "./stylesheet.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./diff_head.js").ChangedFile} ChangedFile
 * @typedef {"unstaged" | "staged" | "branch"} Side
 */

await Promise.all([loadStylesheet("diff"), loadCodeColors()]);

/** @type {Side[]} */
const SIDES = ["unstaged", "staged", "branch"];
const RELOAD_DELAY = 300; // ms in which events about the worktree are handled together
const PAGE_SIZE = 500; // files shown initially

/** @type {import("../app.js").MakeView} */
export function diffView(app, route) {
  return app.state.worktrees.has(route.id) ? new DiffView(app, route) : missingView(app, "worktrees", route.id);
}

export class DiffView {
  /** @type {Side} */ side = "unstaged";
  sides = SIDES;
  /** The number of files on each side, as far as it is known. @type {Map<Side, number>} */ counts = new Map();
  /** What stopped half-way on the unstaged side. @type {{ name: string | null, conflicts: number } | null} */ operation = null;
  /** @type {string | null} a file that the agent edits, to be shown beside the conversation */ #followed = null;
  /** @type {DiffFile[]} */ files = [];
  /** @type {string | null} */ #targetPath;
  /** @type {string | null} a git form to open initially */ #initialForm;
  /** @type {Promise<void> | null} */ #loading = null;
  /** The error of the last attempt to load the list. */
  problem = "";
  #isStale = false;
  #isAnySideStale = true;
  #limit = PAGE_SIZE;
  /** @type {() => unknown} */ #unsubscribe;
  /** The result of `list_changed_files`. @type {{ files: ChangedFile[], base: string, operation: string | null, can_undo: boolean } | undefined} */ changes;

  /** @param {App} app @param {import("../router.js").Route} route @param {{ scroller?: HTMLElement }} [options] `scroller`: it is shown beside a conversation, in this element */
  constructor(app, route, { scroller } = {}) {
    this.app = app;
    this.id = route.id;
    this.isBeside = Boolean(scroller);
    this.scroller = scroller ?? /** @type {HTMLElement} */ (document.getElementById("content"));
    this.#targetPath = route.query.get("file");
    this.#initialForm = route.query.get("form");
    this.side = SIDES.find((side) => side === route.query.get("side")) ?? "unstaged";
    this.reviewed = new WorktreeReview(app, this.id, () => this.#drawReviewed());
    this.verdicts = new Verdicts(this);
    this.findings = new Findings(this);
    this.reviewBar = reviewBar(this);
    this.comments = new Comments(this.id, () => this.#drawComments());
    this.announcement = make("p.visually-hidden", { role: "status" });
    this.overlaps = new Overlaps(this);
    this.selection = new LineSelection((text) => (this.announcement.textContent = text));
    this.git = new GitPanel(app, this.id, () => this.reload());
    this.review = reviewSection(this);
    this.layout = new DiffLayout(() => this.#redraw(), this.isBeside);
    this.actions = new DiffActions(this);
    this.fileList = new FileList(this);
    this.toolbar = new DiffBar(this);
    this.list = make("div.files", skeleton());
    this.more = button("Show more files", () => this.#showMore(), "", { hidden: true });
    this.element = make(
      "div.diff-view",
      this.toolbar.element,
      this.git.operation.element,
      this.reviewBar.element,
      make("div.diff-main", this.fileList.element, make("div.diff-files", this.list, this.more)),
      make("div.diff-foot", this.selection.bar, this.review.element),
      this.announcement,
    );
    this.visibilityObserver = new IntersectionObserver((entries) => this.#handleVisibility(entries), { root: this.scroller, rootMargin: "600px 0px" });
    bindKeys(this);
    // Changes by editors are only found by reloading; the server checks git once a minute.
    addEventListener("focus", this.#markAllStale);
    document.addEventListener("visibilitychange", this.#markAllStale);
    this.#unsubscribe = app.onConnection((status) => {
      if (status.state === "open") this.reload();
      else if (status.state === "lost" && !this.changes) this.problem = "You are offline. Changes will load when you are back online.";
      this.#drawBars();
    });
    this.#drawComments();
  }

  get title() {
    return `Changes in ${this.app.state.worktrees.get(this.id)?.name ?? "a worktree"}`;
  }

  close() {
    this.#unsubscribe();
    removeEventListener("focus", this.#markAllStale);
    document.removeEventListener("visibilitychange", this.#markAllStale);
    this.#markStale.cancel();
    this.layout.close();
    this.visibilityObserver.disconnect();
    this.comments.close();
    this.git.close();
  }

  focus() {
    if (!this.element.contains(document.activeElement)) this.toolbar.focus();
  }

  // Updates ----------------------------------------------------------------------------------------

  /** @param {import("../state.js").Change} change */
  update(change) {
    if (!change.tree) return;
    if (!this.isBeside && !this.app.state.worktrees.has(this.id)) this.app.go("needs");
    this.git.draw();
    this.review.draw();
    this.overlaps.follow();
  }

  /** @param {string} name @param {any} body */
  handleEvent(name, body) {
    const isGit = name === "git:status-update" || name === "task:completed";
    const isAgent = name === "message-block" || name === "message-completed";
    const ofSession = isAgent && this.app.state.sessions.get(body.session_id)?.worktree_id;
    if (isGit && body.worktree_id === this.id) this.#markAllStale();
    else if (name === "review:updated" && body.worktree_id === this.id) this.reviewed.read();
    else if (ofSession === this.id) this.#markStale();
  }

  handleReload() {
    this.#markAllStale();
  }

  /** An agent may have edited files. */
  #markStale = runSoon(() => this.#reloadSide(), RELOAD_DELAY);

  #markAllStale = () => {
    this.#isAnySideStale = true;
    this.#markStale();
  };

  /** Reload the list, the visible files and the counts of the other sides; resolves when everything is loaded. */
  reload() {
    this.#isAnySideStale = true;
    return this.#reloadSide();
  }

  #reloadSide() {
    this.#isStale = true;
    this.#loading ??= this.#loadChanges().finally(() => (this.#loading = null));
    return this.#loading;
  }

  async #loadChanges() {
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
      if (!this.#isStale) await this.review.findOutdated(); // while which it may become so
    }
  }

  /** @param {NonNullable<DiffView["changes"]>} changes */
  async #show(changes) {
    this.counts.set(this.side, changes.files.length);
    if (this.side === "unstaged") this.#showOperation(changes);
    const known = new Map(this.files.map((file) => [file.path, file]));
    this.changes = changes;
    this.problem = "";
    this.files = changes.files.slice(0, this.#limit).map((file) => {
      const old = known.get(file.path);
      known.delete(file.path);
      old?.update(file);
      return old ?? this.#createFile(file);
    });
    keepWriting(this, () => this.#replaceFiles([...known.values()]));
    this.#drawBars();
    this.#openForm();
    if (!this.#showTarget()) for (const file of this.files) if (file.isNear) await file.load();
    this.#follow();
    this.#drawComments();
    if (this.#isAnySideStale) await this.#countOthers();
    this.reviewed.read(); // a mark goes with the file's changes
  }

  /** Show the current files; the focus of one that is gone moves to the next. @param {DiffFile[]} gone */
  #replaceFiles(gone) {
    const focused = gone.find(({ element }) => element.contains(document.activeElement));
    const index = focused ? [...this.list.children].indexOf(focused.element) : 0;
    for (const removed of gone) {
      this.visibilityObserver.unobserve(removed.element);
      removed.element.remove();
      if (this.selection.file === removed) this.selection.clear();
    }
    syncChildren(this.list, this.files.map((file) => file.element));
    if (focused) this.actions.focusNear(focused, index);
  }

  /** @param {NonNullable<DiffView["changes"]>} changes of the unstaged side */
  #showOperation(changes) {
    const conflicts = changes.files.filter((file) => file.status === "conflicted").length;
    this.operation = changes.operation || conflicts ? { name: changes.operation, conflicts } : null;
    this.git.operation.show(changes);
  }

  /** Count the files of the other sides. */
  async #countOthers() {
    this.#isAnySideStale = false;
    for (const side of SIDES.filter((other) => other !== this.side)) {
      const changes = await this.app.connection.call("list_changed_files", { worktreeId: this.id, side }).catch(() => null);
      if (!changes) return;
      this.counts.set(side, changes.files.length);
      if (side === "unstaged") this.#showOperation(changes);
    }
    this.#drawBars();
  }

  /** Show the file that the agent edits, beside the conversation. @param {string} path */
  follow(path) {
    const root = this.app.state.worktrees.get(this.id)?.path;
    this.#followed = root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  }

  #follow() {
    const file = this.#followed !== null && this.fileOf(this.#followed);
    if (!file || this.element.contains(document.activeElement)) return;
    this.#followed = null;
    file.setExpanded(true);
    file.element.scrollIntoView({ block: "start" });
  }

  #openForm() {
    const form = this.#initialForm;
    this.#initialForm = null;
    if (form === "commit") this.git.commit();
    if (form === "pull_request" && !this.git.worktree.pr_url) this.git.pullRequest();
  }

  /** @param {ChangedFile} changed */
  #createFile(changed) {
    const file = new DiffFile(this, changed);
    this.visibilityObserver.observe(file.element);
    return file;
  }

  /** Show the requested file; returns whether the search for it continues on the next side. */
  #showTarget() {
    const path = this.#targetPath;
    if (path === null) return false;
    const file = this.fileOf(path);
    if (!file) {
      const next = SIDES[SIDES.indexOf(this.side) + 1];
      if (next) this.showSide(next);
      else this.app.toast(`'${path}' has no changes any more.`);
      if (!next) this.#targetPath = null;
      return Boolean(next);
    }
    this.#targetPath = null;
    this.goToFile(file);
    return false;
  }

  /** @param {DiffFile} file */
  goToFile(file) {
    file.setExpanded(true);
    file.element.scrollIntoView();
    file.head.fold.focus({ preventScroll: true });
  }

  /** @param {IntersectionObserverEntry[]} entries */
  async #handleVisibility(entries) {
    for (const { target, isIntersecting } of entries) {
      const file = this.files.find((other) => other.element === target);
      if (file) file.isNear = isIntersecting;
    }
    for (const file of this.files) if (file.isNear) await file.load();
    this.#drawComments();
  }

  // Drawing ----------------------------------------------------------------------------------------

  #drawBars() {
    this.toolbar.draw();
    this.fileList.draw();
    this.element.classList.toggle("wrap", this.layout.wraps || this.layout.isSplit);
    this.more.hidden = (this.changes?.files.length ?? 0) <= this.#limit;
  }

  /** Verdicts, marks or findings changed. */
  #drawReviewed() {
    keepWriting(this, () => this.files.forEach((file) => file.drawReviewed()));
    this.reviewBar.draw();
    this.#drawBars();
  }

  /** @param {boolean} isExpanded */
  setAllExpanded(isExpanded) {
    for (const file of this.files) file.setExpanded(isExpanded);
  }

  /** The name of the branch that is compared with. */
  get base() {
    return this.changes?.base ?? this.git.base;
  }

  #showMore() {
    this.#limit += PAGE_SIZE;
    return this.reload();
  }

  #drawComments() {
    keepWriting(this, () => this.files.forEach((file) => file.drawComments()));
    this.review.draw();
    this.#drawBars();
  }

  #redraw() {
    this.#drawBars();
    for (const file of this.files) if (file.rows.length) file.draw();
  }

  // Navigation -------------------------------------------------------------------------------------

  /** @param {string} path */
  fileOf(path) {
    return this.files.find((file) => file.path === path);
  }

  /** The last line or heading of the previous file, or the heading of the next one. @param {DiffFile} file @param {1 | -1} by */
  adjacentStop(file, by) {
    const next = this.files[this.files.indexOf(file) + by];
    return by < 0 && next?.isOpen ? (next.drawn.at(-1) ?? next.head.fold) : next?.head.fold;
  }

  /** @param {Side} side */
  async showSide(side) {
    if (side === this.side) return;
    this.side = side;
    this.selection.clear();
    for (const file of this.files) this.visibilityObserver.unobserve(file.element);
    this.files = [];
    this.changes = undefined;
    const hadFocus = this.list.contains(document.activeElement) && !document.activeElement?.matches("textarea");
    this.list.replaceChildren(skeleton());
    if (!this.isBeside) history.replaceState(null, "", hashFor("diff", this.id, { side }));
    this.#drawBars();
    if (hadFocus) this.focus(); // else no key would act
    await this.reload();
  }

  nextSide() {
    return this.showSide(SIDES[(SIDES.indexOf(this.side) + 1) % SIDES.length]);
  }

  /** Whether a comment is shown below its lines. @param {string} id */
  showsComment(id) {
    return this.files.some((file) => file.showsComment(id));
  }

  /** The box of a comment that is being written: below its lines, or in the list of comments. @param {string} id @returns {HTMLTextAreaElement | undefined} */
  boxOf(id) {
    if (!this.showsComment(id)) this.review.open();
    const boxes = /** @type {NodeListOf<HTMLTextAreaElement>} */ (this.element.querySelectorAll(`[data-comment="${CSS.escape(id)}"] textarea`));
    return [...boxes].find((box) => box.checkVisibility());
  }

  /** Go to a comment below its lines, or to its file. @param {import("./diff_comments.js").Comment} comment */
  goTo(comment) {
    const card = this.element.querySelector(`.comment-row [data-comment="${CSS.escape(comment.id)}"]`);
    const control = card?.querySelector("textarea, button");
    if (control instanceof HTMLElement) {
      control.focus({ preventScroll: true });
      card?.scrollIntoView({ block: "nearest" });
      return;
    }
    this.#targetPath = comment.path;
    if (this.fileOf(comment.path)) this.#showTarget();
    else if (this.side === "unstaged") this.reload();
    else this.showSide("unstaged");
  }
}

/** What is shown while the list is loaded. */
const skeleton = () => make("div.skeleton", Array.from({ length: 9 }, () => make("span")), { "aria-hidden": "true" });
