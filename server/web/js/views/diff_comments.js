// @ts-check
// What a person says of a difference: collected, kept over a reload, bound to the text of its lines.

import { isLine, textOf } from "./diff_rows.js";

/**
 * @typedef {import("./diff_rows.js").Row} Row
 *
 * @typedef {object} Comment its fields are those of `write_review`, and two of our own
 * @property {string} id
 * @property {string} path
 * @property {"unstaged" | "staged" | "branch"} side which difference it was made in
 * @property {number} line the first line's number in the new text, or of a removed line in the old one
 * @property {boolean} is_removed
 * @property {string[]} quoted the lines with their signs
 * @property {string} text "" until it is kept for the first time
 * @property {string} [begun] what is written in its box while that is open
 */

const NEAR = 200; // lines by which lines may have moved and still be the same

/** The comments of one worktree, in this browser. */
export class Comments {
  #key;
  /** @type {Comment[]} */ list = [];
  /** Ids of those whose lines are gone. @type {Set<string>} */ lost = new Set();

  /** @param {string} worktreeId @param {() => void} changed */
  constructor(worktreeId, changed) {
    this.#key = `spinney-comments-${worktreeId}`;
    this.changed = changed;
    this.#read();
    addEventListener("storage", this.#elsewhere);
  }

  close() {
    removeEventListener("storage", this.#elsewhere);
  }

  /** Those that can be sent. */
  get ready() {
    return this.list.filter((comment) => comment.text);
  }

  /** @param {Omit<Comment, "id">} given */
  add(given) {
    const made = { ...given, id: `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}` };
    this.list.push(made);
    this.keep();
    return made;
  }

  /** @param {Comment[]} gone */
  remove(...gone) {
    const ids = new Set(gone.map((comment) => comment.id));
    this.list = this.list.filter((comment) => !ids.has(comment.id));
    this.keep();
  }

  /** Keep them as they are now. @param {{ quietly?: boolean }} [how] nothing has to be drawn */
  keep({ quietly = false } = {}) {
    if (this.list.length) localStorage.setItem(this.#key, JSON.stringify(this.list));
    else localStorage.removeItem(this.#key);
    if (!quietly) this.changed();
  }

  #read() {
    try {
      const found = JSON.parse(localStorage.getItem(this.#key) ?? "[]");
      this.list = found.filter((/** @type {any} */ each) => each.id && each.quoted?.length);
    } catch {
      this.list = [];
    }
  }

  /** @param {StorageEvent} event */
  #elsewhere = (event) => {
    if (event.key !== this.#key) return;
    this.#read();
    this.changed();
  };
}

/** @param {Comment} comment `file:line` or `file:first-last`, as the message to the agent has it */
export function placeOf({ path, line, is_removed, quoted }) {
  const more = quoted.filter((each) => is_removed || !each.startsWith("-")).length - 1;
  return `${path}:${line}${more > 0 ? `-${line + more}` : ""}${is_removed ? " (removed)" : ""}`;
}

/** A remark on these rows. @param {string} path @param {Comment["side"]} side @param {Row[]} rows */
export function commentOn(path, side, rows) {
  const quoted = rows.map((row) => row.sign + textOf(row));
  return { path, side, line: numberOf(rows), is_removed: rows.every((row) => row.sign === "-"), quoted, text: "", begun: "" };
}

/** A hunk without the equal lines around what it changes. @param {Row[]} rows */
export function changedPart(rows) {
  const first = rows.findIndex((row) => row.sign !== " ");
  const last = rows.findLastIndex((row) => row.sign !== " ");
  return first < 0 ? rows : rows.slice(first, last + 1);
}

/** Of the first line that stands in the file now. @param {Row[]} rows */
function numberOf(rows) {
  const first = rows.find((row) => row.sign !== "-") ?? rows[0];
  return (first?.sign === "-" ? first.old : first?.new) ?? 0;
}

/**
 * Where the comment's lines begin among these rows, or -1; of several places the nearest. Lines that are far
 * away are the same ones only if there are no others like them.
 * @param {Row[]} rows
 * @param {string[]} texts of the rows, with their signs
 * @param {Comment} comment
 */
export function foundIn(rows, texts, { quoted, line }) {
  let best = -1;
  let least = Infinity;
  let count = 0;
  for (let at = texts.indexOf(quoted[0]); at >= 0; at = texts.indexOf(quoted[0], at + 1)) {
    if (!quoted.every((each, n) => texts[at + n] === each && isLine(rows[at + n]))) continue;
    count++;
    const away = Math.abs(numberOf(rows.slice(at, at + quoted.length)) - line);
    if (away < least) [best, least] = [at, away];
  }
  return least <= NEAR || count === 1 ? best : -1;
}

/** The comment stands where its lines are now. @param {Comment} comment @param {Row[]} rows from its first line on */
export function moveTo(comment, rows) {
  comment.line = numberOf(rows.slice(0, comment.quoted.length));
}
