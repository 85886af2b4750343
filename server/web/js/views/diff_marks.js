// @ts-check
// The selection of lines to comment on: tap the first, then the last, or use keys.

import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { isLine, findSimilarRow, textOf } from "./diff_rows.js";
import { pluralize } from "../format.js";

/**
 * @typedef {import("./diff_file.js").DiffFile} DiffFile
 * @typedef {import("./diff_rows.js").Row} Row
 */

/** Selected lines of one hunk. */
export class LineSelection {
  /** @type {DiffFile | null} */ file = null;
  #from = 0;
  #to = 0;
  #isFirst = false;

  /** @param {(text: string) => void} announce for screen readers */
  constructor(announce) {
    this.announce = announce;
    this.label = make("span");
    this.bar = make(
      "div.selection-bar",
      this.label,
      make(
        "span.choices",
        button([icon("comment"), "Comment"], () => this.comment(), ".primary"),
        button("Why", () => this.explain(), "", { title: "Why is this line here?" }),
        button(icon("chevron-up"), () => this.#extendBy(-1, 0), ".quiet.icon-only", { "aria-label": "Extend the selection up" }),
        button(icon("chevron-down"), () => this.#extendBy(0, +1), ".quiet.icon-only", { "aria-label": "Extend the selection down" }),
        button(icon("close"), () => this.clear(), ".quiet.icon-only", { "aria-label": "Clear selection" }),
      ),
      { hidden: true, role: "group", "aria-label": "Selected lines" },
    );
  }

  /** The selected rows. */
  get rows() {
    return this.file?.rows.slice(this.#from, this.#to + 1) ?? [];
  }

  /** The first tap selects a line, the next one extends the selection. @param {DiffFile} file @param {number} index @param {boolean} isExtending */
  tap(file, index, isExtending) {
    if (file === this.file && (isExtending || this.#isFirst) && !(index === this.#from && index === this.#to)) {
      this.#select(file, Math.min(this.#from, index), Math.max(this.#to, index), false);
    } else if (file === this.file && index === this.#from && index === this.#to) this.clear();
    else this.#select(file, index, index, true);
  }

  /** Extend the selection from a line to the next, by Shift and arrow keys. @param {DiffFile} file @param {number} index @param {number} next */
  extend(file, index, next) {
    if (file !== this.file || (index !== this.#from && index !== this.#to)) this.#select(file, index, index, false);
    const other = index === this.#from ? this.#to : this.#from;
    this.#select(file, Math.min(other, next), Math.max(other, next), false);
  }

  clear() {
    const before = this.file;
    this.file = null;
    this.bar.hidden = true;
    if (before) this.draw(before);
  }

  /** Comment on the selection. */
  comment() {
    this.file?.comment(this.rows);
  }

  /** Say why the first selected line is there. */
  async explain() {
    const { file, rows } = this;
    if (file) (await import("./diff_why.js")).explainLine(file, rows.find((row) => row.sign !== "-"));
  }

  /** Move the selection with its lines after the rows of a file were reloaded. @param {DiffFile} file @param {Row[]} before */
  followLines(file, before) {
    if (file !== this.file) return;
    const selected = before.slice(this.#from, this.#to + 1);
    const index = findSimilarRow(file.rows, selected[0]);
    const isUnchanged = selected.every((row, offset) => {
      const current = file.rows[index + offset];
      return current?.sign === row.sign && textOf(current) === textOf(row);
    });
    if (isUnchanged) [this.#from, this.#to] = [index, index + selected.length - 1];
    else this.clear();
  }

  /** Update the file's elements. @param {DiffFile} file */
  draw(file) {
    if (file === this.file && !this.rows.every(isLine)) this.file = null;
    file.cells.forEach((cell, index) => {
      const isSelected = file === this.file && this.#from <= index && index <= this.#to;
      if (cell.classList.contains("marked") !== isSelected) cell.classList.toggle("marked", isSelected);
    });
    if (!this.file) this.bar.hidden = true;
  }

  /** @param {number} above @param {number} below */
  #extendBy(above, below) {
    if (this.file) this.#select(this.file, this.#from + above, this.#to + below, false);
  }

  /** @param {DiffFile} file @param {number} from @param {number} to @param {boolean} isFirst */
  #select(file, from, to, isFirst) {
    const before = this.file;
    // A comment applies to consecutive lines, so it cannot extend beyond its hunk.
    const start = before === file && this.#from >= from && this.#from <= to ? this.#from : from;
    let [first, last] = [start, start];
    while (first > from && isLine(file.rows[first - 1])) first--;
    while (last < to && isLine(file.rows[last + 1])) last++;
    this.file = file;
    [this.#from, this.#to, this.#isFirst] = [first, last, isFirst];
    if (before && before !== file) this.draw(before);
    this.draw(file);
    const count = last - first + 1;
    const hint = isFirst ? ". Tap the last line, or comment" : "";
    this.label.textContent = `${pluralize(count, "line")} selected${hint}`;
    this.bar.hidden = false;
    this.announce(this.label.textContent);
  }
}
