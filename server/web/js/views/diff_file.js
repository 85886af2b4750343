// @ts-check
// A changed file of the diff view; its rows are loaded and rendered when it is expanded.

import { button, make } from "../dom.js";
import { commentCard } from "./diff_card.js";
import { DiffContext } from "./diff_context.js";
import { trimContext, commentOn, findComment, updateLine } from "./diff_comments.js";
import { keepFocus } from "./diff_focus.js";
import { actionButtons, fileHead } from "./diff_head.js";
import { drawRows, isLine, textOf } from "./diff_rows.js";
import { pluralize } from "../format.js";

/**
 * @typedef {import("./diff_rows.js").Row} Row
 * @typedef {import("./diff_comments.js").Comment} Comment
 * @typedef {import("./diff_head.js").ChangedFile} ChangedFile
 */

const COLLAPSE_ABOVE = 400; // changed lines, from which a file is initially collapsed
const PAGE = 1000;
const MAX_PAGE = 5000;

/** A file of the list. */
export class DiffFile {
  /** @type {Row[]} */ rows = [];
  /** @type {string[]} ids of hunks for staging */ hunks = [];
  digest = "";
  total = 0;
  isStale = true;
  isNear = false;
  /** @type {HTMLElement[]} elements for keyboard navigation */ drawn = [];
  /** @type {Row[]} the rendered rows */ drawnRows = [];
  /** @type {HTMLElement[]} selectable elements by index of the row */ cells = [];
  /** @type {Map<string, { card: HTMLElement, signature: string }>} */ #cards = new Map();
  /** @type {boolean | null} */ #isExpanded = null;

  /** @param {import("./diff.js").DiffView} view @param {ChangedFile} file */
  constructor(view, file) {
    this.view = view;
    this.file = file;
    this.context = new DiffContext(this);
    this.grid = make("div.diff-rows", { role: "grid", "aria-label": `Lines of ${file.path}` });
    this.foot = make("div.file-foot");
    this.body = make("div.file-body", this.grid, this.foot);
    this.head = fileHead(this);
    this.element = make("section.file", this.head.element, this.body, { "aria-label": file.path, "data-path": file.path });
    this.grid.addEventListener("click", (event) => this.#handleClick(event));
    this.#updateExpanded();
  }

  get path() {
    return this.file.path;
  }

  get isOpen() {
    return this.#isExpanded ?? (!this.isViewed && (this.file.added ?? 0) + (this.file.removed ?? 0) <= COLLAPSE_ABOVE);
  }

  /** Expand or collapse it permanently. @param {boolean} isOpen */
  setExpanded(isOpen) {
    this.#isExpanded = isOpen;
    this.#updateExpanded();
    if (isOpen && this.isNear) this.load();
  }

  /** Whether its changes were viewed; then it is collapsed. */
  get isViewed() {
    return this.view.reviewed.isViewed(this.view.side, this.path);
  }

  /** @param {boolean} isViewed */
  setViewed(isViewed) {
    this.#isExpanded = null;
    const saving = this.view.reviewed.setViewed(this.view.side, this.path, isViewed);
    this.view.reviewed.onChange();
    return saving;
  }

  /** Draw verdicts, findings and the mark. */
  drawReviewed() {
    this.#updateExpanded();
    if (this.isNear) this.load();
    if (!this.rows.length) return;
    this.#drawVerdicts();
    this.view.findings.draw(this);
  }

  /** Show what was decided about hunks that are still there. */
  #drawVerdicts() {
    for (const [index, row] of this.rows.entries()) {
      if (row.sign !== "@" || row.hunk === null) continue;
      const where = this.elementOf(index)?.querySelector(".where");
      if (!where) continue;
      const lines = this.#linesOf(index).map((line) => line.sign + textOf(line));
      const found = this.view.reviewed.verdictOf(this.path, this.view.side, lines);
      const text = found ? `${found.verdict}${found.reason ? `: ${found.reason}` : ""}` : "";
      const shown = where.querySelector(".verdict");
      if ((shown?.textContent ?? "") === text) continue;
      shown?.remove();
      if (found) where.prepend(make("span.verdict", text, { "data-verdict": found.verdict }));
    }
  }

  #updateExpanded() {
    this.body.hidden = !this.isOpen;
    const expected = Math.min(PAGE, (this.file.added ?? 0) + (this.file.removed ?? 0) + 4);
    this.body.style.setProperty("--rows", String(this.rows.length ? 0 : expected));
    this.head.draw();
  }

  /** Update for a changed file. @param {ChangedFile} file */
  update(file) {
    this.file = file;
    this.isStale = true;
    this.#updateExpanded();
  }

  // Loading ----------------------------------------------------------------------------------------

  /** Load the rows if they may be outdated; unchanged ones are not rendered again. */
  async load() {
    if (!this.isStale || !this.isOpen) return;
    this.isStale = false;
    if (!this.rows.length) this.foot.replaceChildren(make("p.hint", "loading…"));
    const page = await this.#fetchPage(0, Math.min(MAX_PAGE, Math.max(PAGE, this.#loaded)));
    if (!page || (page.digest === this.digest && this.rows.length)) return;
    const { rows, hunks, digest, total } = page;
    const before = this.rows;
    this.context.clear();
    Object.assign(this, { rows, hunks, digest, total });
    this.view.selection.followLines(this, before);
    this.draw();
    await this.#revealCommented();
  }

  /** Load the unchanged lines around the hunks that comments are on. */
  async #revealCommented() {
    const isHidden = (/** @type {Comment} */ { id, path, side }) => path === this.path && side === this.view.side && !this.#cards.has(id);
    for (const comment of this.view.comments.list) if (isHidden(comment)) await this.context.reveal(comment);
  }

  /** Show unchanged lines among the rows, before the one at an index. @param {number} index @param {Row[]} lines */
  insertRows(index, lines) {
    const before = this.rows;
    this.rows = [...before.slice(0, index), ...lines, ...before.slice(index)];
    this.context.count += lines.length;
    this.view.selection.followLines(this, before);
    this.draw();
  }

  /** How many rows of the diff are loaded. */
  get #loaded() {
    return this.rows.length - this.context.count;
  }

  async #loadMore() {
    const page = await this.#fetchPage(this.#loaded, PAGE);
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
  async #fetchPage(offset, limit) {
    const { app, id: worktreeId, side } = this.view;
    try {
      const page = await app.connection.call("get_diff_rows", { worktreeId, path: this.path, side, offset, limit });
      return side === this.view.side ? page : undefined;
    } catch (error) {
      const retry = () => {
        this.isStale = true;
        return this.load();
      };
      this.foot.replaceChildren(make("p.bad", `${/** @type {Error} */ (error).message} `, button("Try again", retry)));
      return undefined;
    }
  }

  // Drawing ----------------------------------------------------------------------------------------

  /** Render all rows, keeping focus and scroll position. */
  draw() {
    const { isSplit } = this.view.layout;
    keepFocus(this, () => {
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

  /** Render the rows from an index, after the existing ones. @param {number} from */
  #append(from) {
    const { isSplit: split } = this.view.layout;
    const { groups, drawn, cells } = drawRows(this.rows, { split, from, hunk: (row) => this.#hunkButtons(row) });
    this.drawnRows = [...this.rows];
    for (const element of drawn) {
      element.tabIndex = -1;
      this.drawn.push(element);
    }
    cells.forEach((cell, index) => (this.cells[index] = cell));
    const numbers = this.rows.slice(-200).map((row) => String(row.new ?? row.old ?? 0).length);
    this.grid.style.setProperty("--digits", String(Math.max(3, ...numbers)));
    this.grid.style.setProperty("--longest", String(maxColumns(this.rows)));
    this.grid.append(...groups);
    this.#updateExpanded();
    this.#drawFoot();
    this.drawComments();
    this.#drawVerdicts();
    this.view.findings.draw(this);
    this.view.selection.draw(this);
  }

  #drawFoot() {
    const remaining = this.total - this.#loaded;
    const label = `Show ${Math.min(remaining, PAGE).toLocaleString("en")} more of ${pluralize(remaining, "row")}`;
    this.foot.replaceChildren(
      ...(remaining > 0 ? [button(label, () => this.#loadMore())] : this.context.buttonsBelow()),
      ...(this.total ? [] : [make("p.hint", "The file is empty.")]),
    );
  }

  /** Show comments below their lines; a box that is being edited is kept. */
  drawComments() {
    const comments = this.view.comments.list.filter((comment) => comment.path === this.path);
    for (const cell of this.grid.querySelectorAll(".commented")) cell.classList.remove("commented");
    const texts = comments.length ? this.rows.map((row) => row.sign + textOf(row)) : [];
    const shownIds = new Set();
    for (const comment of comments) {
      const index = findComment(this.rows, texts, comment);
      const lastRow = index < 0 ? undefined : this.elementOf(index + comment.quoted.length - 1);
      if (!lastRow) continue;
      shownIds.add(comment.id);
      updateLine(comment, this.rows.slice(index));
      for (let n = 0; n < comment.quoted.length; n++) this.cells[index + n]?.classList.add("commented");
      this.#placeComment(comment, lastRow);
    }
    for (const [id, { card }] of this.#cards) {
      if (shownIds.has(id)) continue;
      card.remove();
      this.#cards.delete(id);
    }
  }

  /** @param {Comment} comment @param {HTMLElement} lastRow */
  #placeComment(comment, lastRow) {
    const signature = JSON.stringify([comment.begun === undefined, comment.text, this.view.comments.outdated.has(comment.id)]);
    const existing = this.#cards.get(comment.id);
    if (existing?.signature === signature && existing.card.previousElementSibling === lastRow) return;
    existing?.card.remove();
    const onClose = () => this.elementOf(Number(lastRow.dataset.to))?.focus();
    const created = commentCard(this.view.comments, comment, { onClose });
    const card = make("div.diff-row.comment-row", make("div", created, { role: "gridcell" }), { role: "row" });
    this.#cards.set(comment.id, { card, signature });
    lastRow.after(card);
  }

  /** Whether a comment is shown below its lines here. @param {string} id */
  showsComment(id) {
    return this.isOpen && this.#cards.has(id);
  }

  /** The element of the row at an index. @param {number} index @returns {HTMLElement | undefined} */
  elementOf(index) {
    return this.cells[index]?.closest(".diff-row") ?? undefined;
  }

  /** @param {Row} row */
  #hunkButtons(row) {
    const { view } = this;
    const index = /** @type {number} */ (row.hunk);
    const entries = view.actions.actionsFor(this.file).map(([label, command, classes]) =>
      /** @type {import("./diff_head.js").Entry} */ ([label, () => view.actions.run(command, this, index), classes]),
    );
    /** @type {import("./diff_head.js").Entry[]} */
    const verdicts = view.verdicts.canDecide(this.file)
      ? [["Accept", () => view.verdicts.decide("accepted", this, [index]), ""], ["Reject", () => view.verdicts.decide("rejected", this, [index]), ""]]
      : [];
    const actions = actionButtons([...verdicts, ...entries, ["Comment", () => this.comment(this.hunkRows(index)), ""]], `the hunk at ${textOf(row)}`);
    return [...actions, ...this.context.buttonsAbove(row)];
  }

  /** The changed lines of a hunk. @param {number} hunk */
  hunkRows(hunk) {
    return trimContext(this.#linesOf(this.rows.findIndex((row) => row.sign === "@" && row.hunk === hunk)));
  }

  /** The lines below a heading. @param {number} heading its index */
  #linesOf(heading) {
    const start = heading + 1;
    const length = this.rows.slice(start).findIndex((row) => !isLine(row));
    return this.rows.slice(start, length < 0 ? undefined : start + length);
  }

  // Comments ---------------------------------------------------------------------------------------

  /** Start a comment on some lines. @param {Row[]} rows */
  comment(rows) {
    if (!rows.length) return;
    this.view.selection.clear();
    const created = this.view.comments.add(commentOn(this.path, this.view.side, rows));
    this.view.goTo(created);
  }

  /** Select a line by a tap anywhere, or by a click on its number, so that text stays selectable. @param {MouseEvent} event */
  #handleClick(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest("button, .comment-row") || !getSelection()?.isCollapsed) return;
    const isTouch = /** @type {PointerEvent} */ (event).pointerType === "touch";
    const cell = /** @type {HTMLElement | null} */ (target.closest("[data-row]"));
    if (cell && (isTouch || target.closest(".no"))) this.view.selection.tap(this, Number(cell.dataset.row), event.shiftKey);
  }
}

/** The approximate columns of the longest line, for the width of backgrounds. @param {Row[]} rows */
function maxColumns(rows) {
  return rows.reduce((max, row) => Math.max(max, textOf(row).replaceAll("\t", "    ").length), 0);
}
