// @ts-check
// One changed file: what happened to it, and its difference, which is fetched and built when it is opened.

import { button, make } from "../dom.js";
import { commentCard } from "./diff_card.js";
import { changedPart, commentOn, foundIn, moveTo } from "./diff_comments.js";
import { keptFocus } from "./diff_focus.js";
import { fileHead } from "./diff_head.js";
import { drawRows, isLine, textOf } from "./diff_rows.js";
import { counted } from "../words.js";

/**
 * @typedef {import("./diff_rows.js").Row} Row
 * @typedef {import("./diff_comments.js").Comment} Comment
 * @typedef {import("./diff_head.js").ChangedFile} ChangedFile
 */

const FOLDED_ABOVE = 400; // changed lines, beyond which a file is opened only by hand
const PAGE = 1000;
const MOST_AT_ONCE = 5000;

/** A file of the list. */
export class DiffFile {
  /** @type {Row[]} */ rows = [];
  /** @type {string[]} names by which hunks are staged */ hunks = [];
  digest = "";
  total = 0;
  isStale = true;
  isNear = false;
  /** @type {HTMLElement[]} what the keys go through */ drawn = [];
  /** @type {Row[]} those that are drawn */ drawnRows = [];
  /** @type {HTMLElement[]} what is marked, by the places of rows */ cells = [];
  /** @type {Map<string, { card: HTMLElement, shown: string }>} */ #cards = new Map();
  /** @type {boolean | null} */ #chosen = null;

  /** @param {import("./diff.js").DiffView} view @param {ChangedFile} file */
  constructor(view, file) {
    this.view = view;
    this.file = file;
    this.grid = make("div.diff-rows", { role: "grid", "aria-label": `Lines of ${file.path}` });
    this.foot = make("div.file-foot");
    this.body = make("div.file-body", this.grid, this.foot);
    this.head = fileHead(this);
    this.element = make("section.file", this.head.element, this.body, { "aria-label": file.path, "data-path": file.path });
    this.grid.onclick = (event) => this.#clicked(event);
    this.#fold();
  }

  get path() {
    return this.file.path;
  }

  get isOpen() {
    return this.#chosen ?? (this.file.added ?? 0) + (this.file.removed ?? 0) <= FOLDED_ABOVE;
  }

  /** Open or fold it; it stays so. @param {boolean} isOpen */
  choose(isOpen) {
    this.#chosen = isOpen;
    this.#fold();
    if (isOpen && this.isNear) this.load();
  }

  #fold() {
    this.body.hidden = !this.isOpen;
    const expected = Math.min(PAGE, (this.file.added ?? 0) + (this.file.removed ?? 0) + 4);
    this.body.style.setProperty("--rows", String(this.rows.length ? 0 : expected));
    this.head.draw();
  }

  /** It may differ in another way now. @param {ChangedFile} file */
  update(file) {
    this.file = file;
    this.isStale = true;
    this.#fold();
  }

  // Reading ----------------------------------------------------------------------------------------

  /** Read what is not known to be true; what did not change stays as it is. */
  async load() {
    if (!this.isStale || !this.isOpen) return;
    this.isStale = false;
    if (!this.rows.length) this.foot.replaceChildren(make("p.hint", "loading…"));
    const page = await this.#page(0, Math.min(MOST_AT_ONCE, Math.max(PAGE, this.rows.length)));
    if (!page || (page.digest === this.digest && this.rows.length)) return;
    const { rows, hunks, digest, total } = page;
    const before = this.rows;
    Object.assign(this, { rows, hunks, digest, total });
    this.view.marks.moved(this, before);
    this.draw();
  }

  async #more() {
    const page = await this.#page(this.rows.length, PAGE);
    if (!page) return;
    if (page.digest !== this.digest) {
      this.isStale = true;
      await this.load();
      return;
    }
    const from = this.rows.length;
    const next = this.drawn.length;
    this.rows.push(...page.rows);
    this.#append(from);
    this.drawn[next]?.focus({ preventScroll: true });
  }

  /** @param {number} offset @param {number} limit @returns {Promise<any>} */
  async #page(offset, limit) {
    const { app, id: worktreeId, side } = this.view;
    try {
      const page = await app.connection.call("get_diff_rows", { worktreeId, path: this.path, side, offset, limit });
      return side === this.view.side ? page : undefined;
    } catch (error) {
      const again = () => {
        this.isStale = true;
        return this.load();
      };
      this.foot.replaceChildren(make("p.bad", `${/** @type {Error} */ (error).message} `, button("Try again", again)));
      return undefined;
    }
  }

  // Drawing ----------------------------------------------------------------------------------------

  /** Build the rows anew; who reads them stays where they are. */
  draw() {
    const { isSplit } = this.view.look;
    keptFocus(this, () => {
      this.drawn = [];
      this.cells = [];
      this.#cards.clear();
      this.grid.classList.toggle("split", isSplit);
      this.grid.replaceChildren();
      this.#append(0);
      if (this.drawn[0]) this.drawn[0].tabIndex = 0;
      this.grid.hidden = !this.drawn.length;
    });
  }

  /** Draw the rows from this one on below those that are there. @param {number} from */
  #append(from) {
    const { isSplit: split } = this.view.look;
    const { parts, drawn, cells } = drawRows(this.rows, { split, from, hunk: (row) => this.#hunkButtons(row) });
    this.drawnRows = [...this.rows];
    for (const element of drawn) {
      element.tabIndex = -1;
      this.drawn.push(element);
    }
    cells.forEach((cell, at) => (this.cells[at] = cell));
    const numbers = this.rows.slice(-200).map((row) => String(row.new ?? row.old ?? 0).length);
    this.grid.style.setProperty("--digits", String(Math.max(3, ...numbers)));
    this.grid.style.setProperty("--longest", String(longest(this.rows)));
    this.grid.append(...parts);
    this.#fold();
    this.#drawFoot();
    this.drawComments();
    this.view.marks.draw(this);
  }

  #drawFoot() {
    const left = this.total - this.rows.length;
    const words = `Show ${Math.min(left, PAGE).toLocaleString("en")} more of ${counted(left, "row")}`;
    this.foot.replaceChildren(
      ...(left > 0 ? [button(words, () => this.#more())] : []),
      ...(this.total ? [] : [make("p.hint", "The file is empty.")]),
    );
  }

  /** Put what was said under its lines; a box that is written in keeps its place in the text. */
  drawComments() {
    const mine = this.view.comments.list.filter((comment) => comment.path === this.path);
    for (const cell of this.grid.querySelectorAll(".commented")) cell.classList.remove("commented");
    const texts = mine.length ? this.rows.map((row) => row.sign + textOf(row)) : [];
    const here = new Set();
    for (const comment of mine) {
      const at = foundIn(this.rows, texts, comment);
      const below = at < 0 ? undefined : this.elementOf(at + comment.quoted.length - 1);
      if (!below) continue;
      here.add(comment.id);
      moveTo(comment, this.rows.slice(at));
      for (let n = 0; n < comment.quoted.length; n++) this.cells[at + n]?.classList.add("commented");
      this.#put(comment, below);
    }
    for (const [id, { card }] of this.#cards) {
      if (here.has(id)) continue;
      card.remove();
      this.#cards.delete(id);
    }
  }

  /** @param {Comment} comment @param {HTMLElement} below */
  #put(comment, below) {
    const shown = JSON.stringify([comment.begun === undefined, comment.text, this.view.comments.lost.has(comment.id)]);
    const known = this.#cards.get(comment.id);
    if (known?.shown === shown && known.card.previousElementSibling === below) return;
    known?.card.remove();
    const left = () => this.elementOf(Number(below.dataset.to))?.focus();
    const made = commentCard(this.view.comments, comment, { left });
    const card = make("div.diff-row.said", make("div", made, { role: "gridcell" }), { role: "row" });
    this.#cards.set(comment.id, { card, shown });
    below.after(card);
  }

  /** Whether the comment stands under its lines here. @param {string} id */
  shows(id) {
    return this.isOpen && this.#cards.has(id);
  }

  /** What the row of this place stands in. @param {number} at @returns {HTMLElement | undefined} */
  elementOf(at) {
    return this.cells[at]?.closest(".diff-row") ?? undefined;
  }

  /** @param {Row} row */
  #hunkButtons(row) {
    const { view } = this;
    const at = /** @type {number} */ (row.hunk);
    const words = `the hunk at ${textOf(row)}`;
    const named = (/** @type {string} */ what) => ({ "aria-label": `${what} ${words}`, "data-does": what });
    return [
      ...view.actions.of(this.file).map(([what, command, look]) =>
        button(what, () => view.actions.act(command, this, at), look, named(what)),
      ),
      button("Comment", () => this.comment(this.hunkRows(at)), "", named("Comment")),
    ];
  }

  /** The lines of a hunk that it changes. @param {number} hunk */
  hunkRows(hunk) {
    const start = this.rows.findIndex((row) => row.sign === "@" && row.hunk === hunk) + 1;
    const length = this.rows.slice(start).findIndex((row) => !isLine(row));
    return changedPart(this.rows.slice(start, length < 0 ? undefined : start + length));
  }

  // Doing ------------------------------------------------------------------------------------------

  /** Write a comment on these lines. @param {Row[]} rows */
  comment(rows) {
    if (!rows.length) return;
    this.view.marks.clear();
    const made = this.view.comments.add(commentOn(this.path, this.view.side, rows));
    this.view.goTo(made);
  }

  /** A tap anywhere marks a line; a click does on its number, so that text can still be selected. @param {MouseEvent} event */
  #clicked(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest("button, .said") || !getSelection()?.isCollapsed) return;
    const isTouch = /** @type {PointerEvent} */ (event).pointerType === "touch";
    const cell = /** @type {HTMLElement | null} */ (target.closest("[data-row]"));
    if (cell && (isTouch || target.closest(".no"))) this.view.marks.tap(this, Number(cell.dataset.row), event.shiftKey);
  }
}

/** Columns of the longest line, about: every line has a ground as wide. @param {Row[]} rows */
function longest(rows) {
  return rows.reduce((most, row) => Math.max(most, textOf(row).replaceAll("\t", "    ").length), 0);
}
