// @ts-check
// The unchanged lines around the hunks of a file, loaded on request. They can be read, but not selected.

import { button } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { drawRows, isLine } from "./diff_rows.js";

/** @typedef {import("./diff_rows.js").Row} Row */

const STEP = 20; // lines that are loaded at once
const AROUND = 3; // unchanged lines around a change, unless the file ends before

export class DiffContext {
  /** Loaded lines above each hunk, by its number. @type {Map<number, Row[]>} */ #above = new Map();
  /** Loaded lines below the last hunk. @type {Row[]} */ #below = [];
  #isAtEnd = false;

  /** @param {import("./diff_file.js").DiffFile} file */
  constructor(file) {
    this.file = file;
  }

  /** Forget all lines, because the file has changed. */
  clear() {
    this.#above.clear();
    this.#below = [];
    this.#isAtEnd = false;
  }

  /** Whether the file has lines other than those of its hunks. */
  get #hasMore() {
    return ["modified", "renamed", "copied"].includes(this.file.file.status) && !this.file.file.submodule;
  }

  /** The button in the heading of a hunk that shows lines above it, if there are any. @param {Row} heading @returns {HTMLElement[]} */
  buttonsAbove(heading) {
    const { first, last } = this.#gapAbove(heading);
    const count = Math.min(last - first + 1, this.#step(last - first + 1));
    if (!this.#hasMore || count < 1) return [];
    const label = `Show ${pluralize(count, "line")} above line ${last + 1}`;
    return [button(icon("expand"), () => this.#showAbove(heading), ".quiet.icon-only.expand", { "aria-label": label, title: label, "data-action": "expand" })];
  }

  /** All of a small gap, instead of leaving a few lines. @param {number} size */
  #step(size) {
    return size <= 2 * STEP ? size : STEP;
  }

  /** The lines above a hunk that are not shown. @param {Row} heading */
  #gapAbove(heading) {
    const { rows } = this.file;
    const index = rows.indexOf(heading);
    const next = rows.slice(index + 1).find((row) => row.new !== null)?.new ?? 1;
    const before = rows.slice(0, index).findLast((row) => row.new !== null)?.new ?? 0;
    return { first: before + 1, last: next - 1 - (this.#above.get(heading.hunk ?? 0)?.length ?? 0) };
  }

  /** @param {Row} heading */
  async #showAbove(heading) {
    const hunk = heading.hunk ?? 0;
    const { first, last } = this.#gapAbove(heading);
    const limit = this.#step(last - first + 1);
    const found = await this.#load(last - limit + 1, limit);
    const index = this.file.rows.indexOf(heading);
    if (!found || index < 0) return;
    const [line] = this.file.rows.slice(index + 1);
    const shift = (line.old ?? 0) - (line.new ?? 0);
    this.#above.set(hunk, [...found.rows.map((row) => ({ ...row, old: (row.new ?? 0) + shift })), ...(this.#above.get(hunk) ?? [])]);
    this.file.draw();
  }

  /** The button that shows lines below the last hunk, unless the file ends there. @returns {HTMLElement[]} */
  buttonsBelow() {
    const { rows, total } = this.file;
    const end = rows.slice(-AROUND);
    const endsBefore = end.some((row) => row.sign !== " " || row.unended) || end.length < AROUND;
    if (!this.#hasMore || rows.length < total || endsBefore || this.#isAtEnd) return [];
    return [button([icon("expand"), "Show what follows"], () => this.#showBelow(), ".quiet")];
  }

  async #showBelow() {
    const last = this.#below.at(-1) ?? this.file.rows.at(-1);
    if (!last) return;
    const shift = (last.old ?? 0) - (last.new ?? 0);
    const found = await this.#load((last.new ?? 0) + 1, STEP);
    if (!found) return;
    if (!found.rows.length) this.file.view.app.toast("The file ends here.");
    this.#isAtEnd = (last.new ?? 0) + found.rows.length >= found.total;
    this.#below.push(...found.rows.map((row) => ({ ...row, old: (row.new ?? 0) + shift })));
    this.file.draw();
  }

  /** @param {number} first @param {number} limit @returns {Promise<{ rows: Row[], total: number } | undefined>} nothing if the file has changed meanwhile */
  async #load(first, limit) {
    const { view, path, digest } = this.file;
    const { app, id: worktreeId, side } = view;
    const found = await app.run("get_file_lines", { worktreeId, path, side, first, limit });
    return side === view.side && digest === this.file.digest ? found : undefined;
  }

  /** Insert the loaded lines between those of the diff. @param {number} from the first row that was rendered */
  draw(from) {
    const { rows, cells, grid, view } = this.file;
    const insert = (/** @type {Row[]} */ lines, /** @type {Element | null | undefined} */ after) => {
      const { drawn } = drawRows(lines, { split: view.layout.isSplit, hunk: () => [] });
      for (const element of drawn) {
        for (const part of [element, ...element.children]) for (const name of ["row", "at", "to"]) delete /** @type {HTMLElement} */ (part).dataset[name];
      }
      after?.after(...drawn);
    };
    rows.forEach((row, index) => {
      const lines = index >= from && row.sign === "@" && this.#above.get(row.hunk ?? 0);
      if (lines) insert(lines, cells[index]?.closest(".diff-row"));
    });
    if (this.#below.length && isLine(rows.at(-1)) && rows.length >= this.file.total) insert(this.#below, grid.lastElementChild?.lastElementChild);
  }
}
