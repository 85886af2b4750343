// @ts-check
// Review comments: saved over a reload, and attached to the text of their lines.

import { isLine, textOf } from "./diff_rows.js";

/**
 * @typedef {import("./diff_rows.js").Row} Row
 *
 * @typedef {object} Comment the fields of `write_review`, and two of the page
 * @property {string} id
 * @property {string} path
 * @property {"unstaged" | "staged" | "branch"} side where it was made
 * @property {number} line the number of the first line in the new text, or in the old one for removed lines
 * @property {boolean} is_removed
 * @property {string[]} quoted the lines with their prefixes
 * @property {string} text "" until it is first saved
 * @property {string} [begun] the text in its box while it is being edited
 */

const NEAR = 200; // lines by which the commented lines may have moved

/** The comments of one worktree, in this browser. */
export class Comments {
  #key;
  /** @type {Comment[]} */ list = [];
  /** Ids of comments whose lines do not exist any more. @type {Set<string>} */ outdated = new Set();

  /** @param {string} worktreeId @param {() => void} onChange */
  constructor(worktreeId, onChange) {
    this.#key = `spinney-comments-${worktreeId}`;
    this.onChange = onChange;
    this.#load();
    addEventListener("storage", this.#handleStorage);
  }

  close() {
    removeEventListener("storage", this.#handleStorage);
  }

  /** The comments that can be sent. */
  get ready() {
    return this.list.filter((comment) => comment.text);
  }

  /** @param {Omit<Comment, "id">} fields */
  add(fields) {
    const comment = { ...fields, id: `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}` };
    this.list.push(comment);
    this.save();
    return comment;
  }

  /** @param {Comment[]} removed */
  remove(...removed) {
    const ids = new Set(removed.map((comment) => comment.id));
    this.list = this.list.filter((comment) => !ids.has(comment.id));
    this.save();
  }

  /** Save all comments. @param {{ quietly?: boolean }} [options] without redrawing */
  save({ quietly = false } = {}) {
    if (this.list.length) localStorage.setItem(this.#key, JSON.stringify(this.list));
    else localStorage.removeItem(this.#key);
    if (!quietly) this.onChange();
  }

  #load() {
    try {
      const found = JSON.parse(localStorage.getItem(this.#key) ?? "[]");
      this.list = found.filter((/** @type {any} */ comment) => comment.id && comment.quoted?.length);
    } catch {
      this.list = [];
    }
  }

  /** @param {StorageEvent} event */
  #handleStorage = (event) => {
    if (event.key !== this.#key) return;
    this.#load();
    this.onChange();
  };
}

/** @param {Comment} comment `file:line` or `file:first-last`, as in the message to the agent */
export function commentLocation({ path, line, is_removed, quoted }) {
  const more = quoted.filter((text) => is_removed || !text.startsWith("-")).length - 1;
  return `${path}:${line}${more > 0 ? `-${line + more}` : ""}${is_removed ? " (removed)" : ""}`;
}

/** A new comment on some rows. @param {string} path @param {Comment["side"]} side @param {Row[]} rows */
export function commentOn(path, side, rows) {
  const quoted = rows.map((row) => row.sign + textOf(row));
  return { path, side, line: lineNumber(rows), is_removed: rows.every((row) => row.sign === "-"), quoted, text: "", begun: "" };
}

/** The rows of a hunk without context at the start and end. @param {Row[]} rows */
export function trimContext(rows) {
  const first = rows.findIndex((row) => row.sign !== " ");
  const last = rows.findLastIndex((row) => row.sign !== " ");
  return first < 0 ? rows : rows.slice(first, last + 1);
}

/** The number of the first line that exists in the new text. @param {Row[]} rows */
function lineNumber(rows) {
  const first = rows.find((row) => row.sign !== "-") ?? rows[0];
  return (first?.sign === "-" ? first.old : first?.new) ?? 0;
}

/**
 * The index at which the comment's lines start, or -1; the nearest of several. Distant lines only match if they are
 * the only ones.
 * @param {Row[]} rows
 * @param {string[]} texts of the rows, with their prefixes
 * @param {Comment} comment
 */
export function findComment(rows, texts, { quoted, line }) {
  let nearest = -1;
  let distance = Infinity;
  let count = 0;
  for (let index = texts.indexOf(quoted[0]); index >= 0; index = texts.indexOf(quoted[0], index + 1)) {
    if (!quoted.every((text, n) => texts[index + n] === text && isLine(rows[index + n]))) continue;
    count++;
    const offset = Math.abs(lineNumber(rows.slice(index, index + quoted.length)) - line);
    if (offset < distance) [nearest, distance] = [index, offset];
  }
  return distance <= NEAR || count === 1 ? nearest : -1;
}

/** Update the line number of a comment. @param {Comment} comment @param {Row[]} rows from its first line on */
export function updateLine(comment, rows) {
  comment.line = lineNumber(rows.slice(0, comment.quoted.length));
}
