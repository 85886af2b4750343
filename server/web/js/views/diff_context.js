// @ts-check
// The unchanged lines around the hunks of a file, loaded on request, and put among its rows.

import { button } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";

/** @typedef {import("./diff_rows.js").Row} Row */

const STEP = 20; // lines that are loaded at once
const MAX_LINES = 500; // that Spinney returns at once
const AROUND = 3; // unchanged lines around a change, unless the file ends before

export class DiffContext {
  /** How many rows of the file are unchanged lines that were loaded here. */
  count = 0;
  #isAtEnd = false;

  /** @param {import("./diff_file.js").DiffFile} file */
  constructor(file) {
    this.file = file;
  }

  /** Forget all lines, because the file has changed. */
  clear() {
    this.count = 0;
    this.#isAtEnd = false;
  }

  /** Whether the file has lines other than those of its hunks. */
  get #hasMore() {
    return ["modified", "renamed", "copied"].includes(this.file.file.status) && !this.file.file.submodule;
  }

  /** Whether the diff has rows that are not loaded. */
  get #hasMoreRows() {
    return this.file.rows.length - this.count < this.file.total;
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
    return { first: before + 1, last: next - 1 };
  }

  /** Show the unchanged lines that a comment is on. @param {import("./diff_comments.js").Comment} comment */
  async reveal({ line, quoted }) {
    const heading = this.file.rows.find((row) => row.sign === "@" && this.#gapAbove(row).last >= line);
    const gap = heading && this.#gapAbove(heading);
    const end = this.file.rows.at(-1)?.new ?? Infinity;
    const below = line + quoted.length - end;
    if (!this.#hasMore || !quoted.some((text) => text.startsWith(" "))) return;
    if (gap && gap.first <= line && gap.last - line < MAX_LINES) await this.#showAbove(heading, { limit: gap.last - line + 1 });
    else if (line > end && below <= MAX_LINES && !this.#hasMoreRows) await this.#showBelow({ limit: below });
  }

  /** @param {Row} heading @param {{ limit?: number }} [unasked] how many lines, for a comment */
  async #showAbove(heading, unasked) {
    const { first, last } = this.#gapAbove(heading);
    const limit = unasked?.limit ?? this.#step(last - first + 1);
    const found = await this.#load(last - limit + 1, limit, Boolean(unasked));
    const index = this.file.rows.indexOf(heading);
    if (found && index >= 0 && this.#gapAbove(heading).last === last) this.#insert(index + 1, found.rows, this.file.rows[index + 1]);
  }

  /** Put unchanged lines among the rows. @param {number} index @param {Row[]} lines @param {Row} neighbor whose numbers show how the old ones differ */
  #insert(index, lines, neighbor) {
    const shift = (neighbor.old ?? 0) - (neighbor.new ?? 0);
    this.file.insertRows(index, lines.map((row) => ({ ...row, old: (row.new ?? 0) + shift })));
  }

  /** The button that shows lines below the last hunk, unless the file ends there. @returns {HTMLElement[]} */
  buttonsBelow() {
    const { rows } = this.file;
    const end = rows.slice(-AROUND);
    const endsBefore = end.some((row) => row.sign !== " " || row.unended) || end.length < AROUND;
    if (!this.#hasMore || this.#hasMoreRows || endsBefore || this.#isAtEnd) return [];
    return [button([icon("expand"), "Show what follows"], () => this.#showBelow(), ".quiet")];
  }

  /** @param {{ limit?: number }} [unasked] how many lines, for a comment */
  async #showBelow(unasked) {
    const last = this.file.rows.at(-1);
    if (!last) return;
    const found = await this.#load((last.new ?? 0) + 1, unasked?.limit ?? STEP, Boolean(unasked));
    if (!found || this.file.rows.at(-1) !== last) return;
    if (!found.rows.length && !unasked) this.file.view.app.toast("The file ends here.");
    this.#isAtEnd = (last.new ?? 0) + found.rows.length >= found.total;
    this.#insert(this.file.rows.length, found.rows, last);
  }

  /** @param {number} first @param {number} limit @param {boolean} isQuiet errors are not shown @returns {Promise<{ rows: Row[], total: number } | undefined>} nothing if the file has changed meanwhile */
  async #load(first, limit, isQuiet) {
    const { view, path, digest } = this.file;
    const { app, id: worktreeId, side } = view;
    const args = { worktreeId, path, side, first, limit };
    const found = isQuiet ? await app.connection.call("get_file_lines", args).catch(() => undefined) : await app.run("get_file_lines", args);
    return side === view.side && digest === this.file.digest ? found : undefined;
  }
}
