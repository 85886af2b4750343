// @ts-check
// What a worktree changes: files on three sides, kept true while they are looked at, with what git
// can do about them and what people say of them.

import { button, make, place } from "../dom.js";
import { hashOf } from "../router.js";
import { Comments, placeOf } from "./diff_comments.js";
import { DiffFile } from "./diff_file.js";
import { keysTable, takeKeys } from "./diff_keys.js";
import { Marks } from "./diff_marks.js";
import { plain, reviewSection } from "./diff_review.js";
import { spoken } from "./diff_rows.js";
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
const EMPTY = {
  unstaged: "Nothing is changed that is not staged.",
  staged: "Nothing is staged.",
  branch: "The branch has no commits that its base lacks.",
};
const PAUSE = 300; // ms in which events about the worktree are taken as one
const LISTED = 500; // files of the list, before it is asked for more
const WIDE = "(min-width: 80rem)"; // from here on two versions stand beside each other, unless one chose
const KEY = "spinney-diff-look";

/** @type {import("../app.js").MakeView} */
export function diffView(app, route) {
  if (app.state.worktrees.has(route.id)) return new DiffView(app, route);
  return { title: "Changes", element: make("p.hint.page", "This worktree is not here (any more).") };
}

export class DiffView {
  /** @type {Side} */ side = "unstaged";
  /** @type {DiffFile[]} */ files = [];
  /** @type {string | null} */ #wanted;
  /** @type {number | undefined} */ #timer;
  /** @type {Promise<void> | null} */ #reading = null;
  #isStale = false;
  #most = LISTED;

  /** @param {App} app @param {import("../router.js").Route} route */
  constructor(app, route) {
    this.app = app;
    this.id = route.id;
    this.#wanted = route.query.get("file");
    this.side = SIDES.find((side) => side === route.query.get("side")) ?? "unstaged";
    this.comments = new Comments(this.id, () => this.#drawComments());
    this.said = make("p.aside", { role: "status" });
    this.marks = new Marks((words) => (this.said.textContent = words));
    this.git = new GitPanel(app, this.id, () => this.reload());
    this.review = reviewSection(this);
    this.bar = make("div.choices.sides", { role: "group", "aria-label": "Which changes" });
    this.tools = make("div.choices.tools");
    this.note = make("p.hint");
    this.list = make("div.files");
    this.more = button("Show more files", () => this.#showMore(), "", { hidden: true });
    this.element = make(
      "div.diff-view",
      make("a", "← the worktree", { href: hashOf("worktree", this.id), className: "back" }),
      this.bar, this.tools, this.git.element, this.note, this.list, this.more, this.marks.bar, this.review.element, keysTable(), this.said,
    );
    this.wide = matchMedia(WIDE);
    this.wide.addEventListener("change", this.#redraw);
    this.sight = new IntersectionObserver((seen) => this.#sighted(seen), { root: document.getElementById("room"), rootMargin: "600px 0px" });
    takeKeys(this);
    this.element.addEventListener("focusin", (event) => nameRow(this, /** @type {HTMLElement} */ (event.target)));
    this.#unwatch = app.watch((link) => link.state === "open" && this.reload());
    this.#drawBar();
    this.#drawComments();
  }

  /** @type {() => unknown} */ #unwatch;

  get title() {
    return `Changes in ${this.app.state.worktrees.get(this.id)?.name ?? "a worktree"}`;
  }

  close() {
    this.#unwatch();
    clearTimeout(this.#timer);
    this.wide.removeEventListener("change", this.#redraw);
    this.sight.disconnect();
    this.comments.close();
    this.git.close();
  }

  focus() {
    if (!this.element.contains(document.activeElement)) this.bar.querySelector("button")?.focus({ preventScroll: true });
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

  #markStale() {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.reload();
    }, PAUSE);
  }

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
        this.note.textContent = /** @type {Error} */ (error).message;
      }
    }
    await this.#lookForLost();
  }

  /** @param {{ files: ChangedFile[], base: string, operation: string | null }} changes */
  async #show(changes) {
    if (this.side === "unstaged") this.git.stopped.show(changes);
    else this.git.look();
    const known = new Map(this.files.map((file) => [file.path, file]));
    this.changes = changes;
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
    this.#drawBar();
    if (!this.#goesOnLooking()) for (const file of this.files) if (file.isNear) await file.load();
    this.#drawComments();
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

  /** Tell of comments whose lines are on no side of the changes any more. */
  async #lookForLost() {
    const unseen = this.comments.ready.filter((comment) => !this.shows(comment.id));
    const found = unseen.length
      ? await this.app.connection.call("write_review", { worktreeId: this.id, comments: unseen.map(plain) }).catch(() => null)
      : { lost: [] };
    if (!found) return;
    const lost = new Set(found.lost.map((/** @type {number} */ at) => unseen[at].id));
    const news = unseen.filter((comment) => lost.has(comment.id) && !this.comments.lost.has(comment.id));
    const isSame = lost.size === this.comments.lost.size && !news.length;
    this.comments.lost = lost;
    if (news.length) this.app.say(`The lines of a comment are gone: ${news.map(placeOf).join(", ")}. It is kept, below.`);
    if (!isSame) this.#drawComments();
  }

  // Drawing ----------------------------------------------------------------------------------------

  #drawBar() {
    const base = this.changes?.base ?? "its base";
    const names = { unstaged: "Not staged", staged: "Staged", branch: `Against ${base}` };
    const shown = this.changes && this.changes.files;
    const count = (/** @type {"added" | "removed"} */ what) => shown?.reduce((sum, file) => sum + (file[what] ?? 0), 0);
    sync(this.bar, SIDES.map((side) => [side, names[side], () => this.lookAt(side), this.side === side]));
    const { isSplit, wrap } = this.look;
    const hasFiles = Boolean(shown?.length);
    sync(this.tools, [
      ...(this.side !== "branch" && hasFiles ? [entry("all", this.side === "unstaged" ? "Stage all" : "Unstage all", () => this.actOnAll())] : []),
      ...(this.#hasDiscarded ? [entry("undo", "Undo discard", () => this.undo())] : []),
      entry("split", "Two columns", () => this.setLook({ split: !isSplit }), isSplit),
      entry("wrap", "Wrap lines", () => this.setLook({ wrap: !wrap }), wrap),
      ...(this.comments.list.length ? [entry("comments", `Comments: ${this.comments.list.length}`, () => this.review.focus())] : []),
    ]);
    this.element.classList.toggle("wrap", wrap || isSplit);
    this.note.textContent = !shown ? "Reading …" : hasFiles
      ? `${shown.length} file${shown.length === 1 ? "" : "s"}, ${count("added")} lines added, ${count("removed")} removed`
      : EMPTY[this.side];
    this.more.hidden = (shown?.length ?? 0) <= this.#most;
  }

  #showMore() {
    this.#most += LISTED;
    return this.reload();
  }

  #drawComments() {
    for (const file of this.files) file.drawComments();
    this.review.draw();
    this.#drawBar();
  }

  #redraw = () => {
    this.#drawBar();
    for (const file of this.files) if (file.rows.length) file.draw();
  };

  /** How the lines stand: chosen here, or by the room that there is. */
  get look() {
    const chosen = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return { isSplit: Boolean(chosen.split ?? matchMedia(WIDE).matches), wrap: Boolean(chosen.wrap) };
  }

  /** @param {{ split?: boolean, wrap?: boolean }} chosen */
  setLook(chosen) {
    localStorage.setItem(KEY, JSON.stringify({ ...JSON.parse(localStorage.getItem(KEY) ?? "{}"), ...chosen }));
    this.#redraw();
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
    this.#drawBar();
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

  // Doing ------------------------------------------------------------------------------------------

  #hasDiscarded = false;

  /** What can be done with a file or hunk on this side: words, command, look. @param {ChangedFile} file @returns {[string, string, string][]} */
  actionsOf(file) {
    if (this.side === "branch") return [];
    if (this.side === "staged") return [["Unstage", "unstage_changes", ""]];
    const canDiscard = file.status !== "conflicted" && !file.submodule;
    return [["Stage", "stage_changes", ""], ...(canDiscard ? [/** @type {[string, string, string]} */ (["Discard", "discard_changes", ".danger"])] : [])];
  }

  /** Do it as it was seen, to a file or one of its hunks; the list is read anew whatever comes of it. @param {string} command @param {DiffFile} file @param {number | null} [hunk] */
  async act(command, file, hunk = null) {
    const name = hunk === null ? undefined : file.hunks[hunk];
    if (name === "") {
      this.app.say("This hunk is shown in part only; stage or discard the whole file.");
      return;
    }
    const at = this.files.indexOf(file);
    const seen = file.isOpen && file.digest ? { seen: file.digest } : {};
    const done = await this.app.run(command, { worktreeId: this.id, path: file.path, ...(name ? { hunk: name } : {}), ...seen });
    if (done && command === "discard_changes") {
      this.#hasDiscarded = true;
      const what = name ? "A hunk of" : "What was changed in";
      this.app.say(`${what} “${file.path}” is discarded.`, { action: ["Undo", () => this.undo(done.id)] });
    }
    await this.reload();
    if (document.activeElement && document.activeElement !== document.body) return;
    const next = this.files.includes(file) ? file : this.files[Math.min(at, this.files.length - 1)];
    if (next) next.head.fold.focus();
    else this.focus();
  }

  /** By a key: only what this side offers. @param {string} command @param {import("./diff_keys.js").Here} here */
  actHere(command, { file, hunk }) {
    if (file && this.actionsOf(file.file).some(([, known]) => known === command)) return this.act(command, file, hunk);
    if (!file) this.app.say("Go to a file or a line first (tab, arrow keys).");
    else if (this.side === "branch") this.app.say("This is committed already.");
    else this.app.say(command === "unstage_changes" ? "Only what is staged can be taken out." : this.side === "staged" ? "Unstage it first." : "A conflict or a submodule cannot be discarded here.");
    return undefined;
  }

  async actOnAll() {
    if (this.side === "branch") return;
    await this.app.run(this.side === "unstaged" ? "stage_changes" : "unstage_changes", { worktreeId: this.id });
    await this.reload();
    this.focus();
  }

  /** Bring back what was discarded: last, or at that time. @param {string} [discardId] */
  async undo(discardId) {
    const done = await this.app.run("undo_discard", { worktreeId: this.id, ...(discardId ? { discardId } : {}) });
    if (done) this.app.say(`“${done.path}” is as it was before the discard.`);
    if (!done) this.#hasDiscarded = false;
    await this.reload();
  }
}

/** @typedef {[key: string, words: string, action: () => unknown, isPressed?: boolean]} Entry */

/** @param {string} key @param {string} words @param {() => unknown} action @param {boolean} [isPressed] @returns {Entry} */
const entry = (key, words, action, isPressed) => [key, words, action, isPressed];

/** Buttons that stay the same elements while their words change, so that the keys stay on them. @param {HTMLElement} box @param {Entry[]} entries */
function sync(box, entries) {
  const old = new Map([...box.children].map((child) => [/** @type {HTMLElement} */ (child).dataset.key, child]));
  place(box, entries.map(([key, words, action, isPressed]) => {
    const known = /** @type {HTMLButtonElement} */ (old.get(key) ?? make("button", { type: "button", "data-key": key }));
    if (known.textContent !== words) known.textContent = words;
    if (isPressed !== undefined) known.ariaPressed = String(isPressed);
    known.onclick = action;
    return known;
  }));
}

/** A row gets its name when somebody comes to it; ten thousand names would cost more than they are worth. @param {DiffView} view @param {HTMLElement} target */
function nameRow(view, target) {
  if (!target.classList.contains("row")) return;
  const file = view.fileOf(/** @type {HTMLElement} */ (target.closest(".file"))?.dataset.path ?? "");
  const row = file?.rows[Number(target.dataset.to)];
  if (row) target.ariaLabel = spoken(row);
}
