// @ts-check
// The lines that are marked, to say something of them: the first by a tap, then the last; or by keys.

import { button, make } from "../dom.js";
import { isLine, placeNear, textOf } from "./diff_rows.js";
import { counted } from "../words.js";

/**
 * @typedef {import("./diff_file.js").DiffFile} DiffFile
 * @typedef {import("./diff_rows.js").Row} Row
 */

/** Marked lines, of one file and one hunk at a time. */
export class Marks {
  /** @type {DiffFile | null} */ file = null;
  #from = 0;
  #to = 0;
  #isFirst = false;

  /** @param {(path: string) => void} said for screen readers */
  constructor(said) {
    this.said = said;
    this.words = make("span");
    this.bar = make(
      "div.marked-bar",
      this.words,
      make(
        "span.choices",
        button("Comment", () => this.comment(), ".primary"),
        button("▲", () => this.#grow(-1, 0), "", { "aria-label": "Mark the line above, too" }),
        button("▼", () => this.#grow(0, +1), "", { "aria-label": "Mark the line below, too" }),
        button("✕", () => this.clear(), "", { "aria-label": "Unmark" }),
      ),
      { hidden: true, role: "group", "aria-label": "Marked lines" },
    );
  }

  /** The rows that are marked. */
  get rows() {
    return this.file?.rows.slice(this.#from, this.#to + 1) ?? [];
  }

  /** The first tap marks a line, the next one up to another. @param {DiffFile} file @param {number} at @param {boolean} isMore */
  tap(file, at, isMore) {
    if (file === this.file && (isMore || this.#isFirst) && !(at === this.#from && at === this.#to)) {
      this.#mark(file, Math.min(this.#from, at), Math.max(this.#to, at), false);
    } else if (file === this.file && at === this.#from && at === this.#to) this.clear();
    else this.#mark(file, at, at, true);
  }

  /** From one line on to another: by shift and arrows. @param {DiffFile} file @param {number} at @param {number} next */
  extend(file, at, next) {
    if (file !== this.file || (at !== this.#from && at !== this.#to)) this.#mark(file, at, at, false);
    const other = at === this.#from ? this.#to : this.#from;
    this.#mark(file, Math.min(other, next), Math.max(other, next), false);
  }

  clear() {
    const before = this.file;
    this.file = null;
    this.bar.hidden = true;
    if (before) this.draw(before);
  }

  /** Say something of what is marked. */
  comment() {
    this.file?.comment(this.rows);
  }

  /** Other rows came for those of the file; what is marked moves with its lines. @param {DiffFile} file @param {Row[]} before */
  moved(file, before) {
    if (file !== this.file) return;
    const marked = before.slice(this.#from, this.#to + 1);
    const at = placeNear(file.rows, marked[0]);
    const isThere = marked.every((row, n) => {
      const now = file.rows[at + n];
      return now?.sign === row.sign && textOf(now) === textOf(row);
    });
    if (isThere) [this.#from, this.#to] = [at, at + marked.length - 1];
    else this.clear();
  }

  /** The file is drawn anew, or something else is marked. @param {DiffFile} file */
  draw(file) {
    if (file === this.file && !this.rows.every(isLine)) this.file = null;
    file.cells.forEach((cell, at) => {
      const isMarked = file === this.file && this.#from <= at && at <= this.#to;
      if (cell.classList.contains("marked") !== isMarked) cell.classList.toggle("marked", isMarked);
    });
    if (!this.file) this.bar.hidden = true;
  }

  /** @param {number} above @param {number} below */
  #grow(above, below) {
    if (this.file) this.#mark(this.file, this.#from + above, this.#to + below, false);
  }

  /** @param {DiffFile} file @param {number} from @param {number} to @param {boolean} isFirst */
  #mark(file, from, to, isFirst) {
    const before = this.file;
    // A comment is about lines that follow one another: it ends where its hunk does.
    const start = before === file && this.#from >= from && this.#from <= to ? this.#from : from;
    let [first, last] = [start, start];
    while (first > from && isLine(file.rows[first - 1])) first--;
    while (last < to && isLine(file.rows[last + 1])) last++;
    this.file = file;
    [this.#from, this.#to, this.#isFirst] = [first, last, isFirst];
    if (before && before !== file) this.draw(before);
    this.draw(file);
    const count = last - first + 1;
    const hint = isFirst ? "; now tap the last one, or comment" : "";
    this.words.textContent = `${counted(count, "line")} marked${hint}`;
    this.bar.hidden = false;
    this.said(this.words.textContent);
  }
}
