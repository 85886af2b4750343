// @ts-check
// The rows of a difference become elements: one below the other, or old and new beside each other.

import { make } from "../dom.js";

/**
 * @typedef {[text: string, kind: string | null, isChanged: boolean]} Piece
 *
 * @typedef {object} Row as `get_diff_rows` gives it
 * @property {" " | "+" | "-" | "@" | "\\"} sign
 * @property {Piece[]} pieces
 * @property {number | null} old
 * @property {number | null} new
 * @property {number | null} hunk
 * @property {boolean} unended
 *
 * @typedef {[number, number]} Pair places of the rows that stand left and right; -1 for none
 */

const PART = 50; // rows whose layout is left out together while they are out of sight
const CLASS = /^[a-z_]{1,40}$/;
const SIDES = { "+": "added", "-": "removed", " ": "equal" };
const SPOKEN = { "+": "added", "-": "removed", " ": "unchanged" };

/** @param {Row | undefined} row */
export const isLine = (row) => row !== undefined && row.sign in SIDES;

/** @param {Row} row */
export const textOf = (row) => row.pieces.map(([text]) => text).join("");

/** What a screen reader says of a line. @param {Row} row */
export function spoken(row) {
  if (!isLine(row)) return textOf(row);
  return `${SPOKEN[/** @type {" "} */ (row.sign)]}, line ${row.new ?? row.old}: ${textOf(row) || "empty"}`;
}

/**
 * @param {Row[]} rows
 * @param {{ split: boolean, from?: number, hunk: (row: Row) => HTMLElement[] }} how `from`: the first row that is
 *   drawn; `hunk` makes the buttons of a heading
 * @returns {{ parts: HTMLElement[], drawn: HTMLElement[], cells: HTMLElement[] }} `drawn`: the rows that stand below
 *   one another; `data-at` and `data-to` of each are the places of the rows in it. `cells`: by place, what shows it
 */
export function drawRows(rows, { split, from = 0, hunk }) {
  const pairs = split ? pairsOf(rows, from) : rows.slice(from).map((_, n) => /** @type {Pair} */ ([from + n, from + n]));
  /** @type {HTMLElement[]} */
  const cells = [];
  const drawn = pairs.map((pair) => {
    const at = Math.max(...pair);
    const element = isLine(rows[at]) ? (split ? halves(rows, pair) : line(rows[at])) : sentence(rows[at], hunk);
    const places = pair.filter((place) => place >= 0);
    element.dataset.at = String(Math.min(...places));
    element.dataset.to = String(Math.max(...places));
    if (!element.classList.contains("pair")) cells[at] = element;
    else pair.forEach((place, n) => place >= 0 && (cells[place] = /** @type {HTMLElement} */ (element.children[n])));
    return element;
  });
  /** @type {HTMLElement[]} */
  const parts = [];
  for (let at = 0; at < drawn.length; at += PART) {
    const part = make("div.part", drawn.slice(at, at + PART), { role: "rowgroup" });
    part.style.setProperty("--rows", String(Math.min(PART, drawn.length - at)));
    parts.push(part);
  }
  cells.forEach((cell, at) => isLine(rows[at]) && (cell.dataset.row = String(at)));
  return { parts, drawn, cells };
}

/** @param {Row[]} rows @param {number} from @returns {Pair[]} */
function pairsOf(rows, from) {
  /** @type {Pair[]} */ const pairs = [];
  /** @type {number[]} */ let removed = [];
  /** @type {number[]} */ let added = [];
  const flush = () => {
    for (let n = 0; n < Math.max(removed.length, added.length); n++) pairs.push([removed[n] ?? -1, added[n] ?? -1]);
    removed = [];
    added = [];
  };
  rows.slice(from).forEach((row, n) => {
    const at = from + n;
    if (row.sign === "+") added.push(at);
    else if (row.sign === "-") {
      if (added.length) flush();
      removed.push(at);
    } else {
      flush();
      pairs.push([at, at]);
    }
  });
  flush();
  return pairs;
}

/** @param {Row} row */
function line(row) {
  const look = SIDES[/** @type {" "} */ (row.sign)];
  return make(`div.diff-row.${look}`, number(row.old), number(row.new), code(row), { role: "row" });
}

/** @param {Row[]} rows @param {Pair} pair */
function halves(rows, [one, other]) {
  /** @param {number} at @param {"old" | "new"} side */
  const half = (at, side) => {
    const row = rows[at];
    if (!row) return make("span.half.none", make("span.no"), make("span.code"), { role: "gridcell" });
    const look = SIDES[/** @type {" "} */ (row.sign)];
    return make(`span.half.${look}`, number(row[side], "span"), code(row, "span"), { role: "gridcell" });
  };
  return make("div.diff-row.pair", half(one, "old"), half(other, "new"), { role: "row" });
}

/** @param {number | null} count @param {"gridcell" | "span"} [role] inside another cell it is none itself */
function number(count, role = "gridcell") {
  return make("span.no", count ?? "", role === "gridcell" ? { role } : null);
}

/** @param {Row} row @param {"gridcell" | "span"} [role] */
function code(row, role = "gridcell") {
  const made = make("span.code", role === "gridcell" ? { role } : null, make("span.sign", row.sign));
  for (const [text, kind, isChanged] of row.pieces) {
    const isClass = kind !== null && CLASS.test(kind);
    if (!isClass && !isChanged) made.append(text);
    else made.append(make("span", text, { className: [isClass && `tok-${kind}`, isChanged && "word"].filter(Boolean).join(" ") }));
  }
  if (row.unended) made.append(make("span.unended", " (no line break at the end)"));
  return made;
}

/** @param {Row} row @param {(row: Row) => HTMLElement[]} hunk */
function sentence(row, hunk) {
  if (row.sign === "\\") return make("div.diff-row.note", make("span", textOf(row), { role: "gridcell" }), { role: "row" });
  return make(
    "div.diff-row.hunk",
    make("span.where", textOf(row), { role: "gridcell" }),
    make("span.choices", hunk(row), { role: "gridcell" }),
    { role: "row" },
  );
}

/**
 * Where a row is among others that came for it: the same words next to where it was, else the nearest number.
 * @param {Row[]} rows
 * @param {Row} row
 */
export function placeNear(rows, row) {
  if (row.sign === "@") return rows.findLastIndex((other) => other.sign === "@" && (other.hunk ?? 0) <= (row.hunk ?? 0));
  const number = row.new ?? row.old ?? 0;
  const text = textOf(row);
  let best = -1;
  let least = Infinity;
  rows.forEach((other, at) => {
    if (!isLine(other)) return;
    const away = Math.abs((other.new ?? other.old ?? 0) - number);
    const isSame = other.sign === row.sign && away <= 200 && textOf(other) === text;
    const cost = isSame ? away : away + 1000;
    if (cost < least) [best, least] = [at, cost];
  });
  return best;
}
