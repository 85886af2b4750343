// @ts-check
// Renders the rows of a diff, in one or two columns.

import { make } from "../dom.js";

/**
 * @typedef {[text: string, kind: string | null, isChanged: boolean]} Piece
 *
 * @typedef {object} Row an item of `get_diff_rows`
 * @property {" " | "+" | "-" | "@" | "\\"} sign
 * @property {Piece[]} pieces
 * @property {number | null} old
 * @property {number | null} new
 * @property {number | null} hunk
 * @property {boolean} unended
 *
 * @typedef {[number, number]} Pair indexes of the left and right row, or -1
 */

const GROUP_SIZE = 50; // rows per group, whose layout is skipped while it is not visible
const CLASS = /^[a-z_]{1,40}$/;
const SIDES = { "+": "added", "-": "removed", " ": "equal" };
const SPOKEN_SIDES = { "+": "added", "-": "removed", " ": "unchanged" };

/** @param {Row | undefined} row */
export const isLine = (row) => row !== undefined && row.sign in SIDES;

/** @param {Row} row */
export const textOf = (row) => row.pieces.map(([text]) => text).join("");

/** The accessible name of a row. @param {Row} row */
export function rowLabel(row) {
  if (!isLine(row)) return textOf(row);
  return `${SPOKEN_SIDES[/** @type {" "} */ (row.sign)]}, line ${row.new ?? row.old}: ${textOf(row) || "empty"}`;
}

/**
 * @param {Row[]} rows
 * @param {{ split: boolean, from?: number, hunk: (row: Row) => HTMLElement[] }} options `from`: the first row to
 *   render; `hunk` creates the buttons of a heading
 * @returns {{ groups: HTMLElement[], drawn: HTMLElement[], cells: HTMLElement[] }} `drawn`: the visual rows;
 *   `data-at` and `data-to` of each are the indexes of its first and last row. `cells`: the element of each row by index
 */
export function drawRows(rows, { split, from = 0, hunk }) {
  const pairs = split ? pairsOf(rows, from) : rows.slice(from).map((_, offset) => /** @type {Pair} */ ([from + offset, from + offset]));
  /** @type {HTMLElement[]} */
  const cells = [];
  const drawn = pairs.map((pair) => {
    const index = Math.max(...pair);
    const element = isLine(rows[index]) ? (split ? splitRow(rows, pair) : line(rows[index])) : headingRow(rows[index], hunk);
    const indexes = pair.filter((index) => index >= 0);
    element.dataset.at = String(Math.min(...indexes));
    element.dataset.to = String(Math.max(...indexes));
    if (!element.classList.contains("pair")) cells[index] = element;
    else pair.forEach((index, offset) => index >= 0 && (cells[index] = /** @type {HTMLElement} */ (element.children[offset])));
    return element;
  });
  /** @type {HTMLElement[]} */
  const groups = [];
  for (let index = 0; index < drawn.length; index += GROUP_SIZE) {
    const group = make("div.part", drawn.slice(index, index + GROUP_SIZE), { role: "rowgroup" });
    group.style.setProperty("--rows", String(Math.min(GROUP_SIZE, drawn.length - index)));
    groups.push(group);
  }
  cells.forEach((cell, index) => isLine(rows[index]) && (cell.dataset.row = String(index)));
  return { groups, drawn, cells };
}

/** @param {Row[]} rows @param {number} from @returns {Pair[]} */
function pairsOf(rows, from) {
  /** @type {Pair[]} */ const pairs = [];
  /** @type {number[]} */ let removed = [];
  /** @type {number[]} */ let added = [];
  const flush = () => {
    for (let offset = 0; offset < Math.max(removed.length, added.length); offset++) pairs.push([removed[offset] ?? -1, added[offset] ?? -1]);
    removed = [];
    added = [];
  };
  rows.slice(from).forEach((row, offset) => {
    const index = from + offset;
    if (row.sign === "+") added.push(index);
    else if (row.sign === "-") {
      if (added.length) flush();
      removed.push(index);
    } else {
      flush();
      pairs.push([index, index]);
    }
  });
  flush();
  return pairs;
}

/** @param {Row} row */
function line(row) {
  const sideClass = SIDES[/** @type {" "} */ (row.sign)];
  return make(`div.diff-row.${sideClass}`, lineNumberCell(row.old), lineNumberCell(row.new), codeCell(row), { role: "row" });
}

/** @param {Row[]} rows @param {Pair} pair */
function splitRow(rows, [left, right]) {
  /** @param {number} index @param {"old" | "new"} side */
  const makeHalf = (index, side) => {
    const row = rows[index];
    if (!row) return make("span.half.none", make("span.no"), make("span.code"), { role: "gridcell" });
    const sideClass = SIDES[/** @type {" "} */ (row.sign)];
    return make(`span.half.${sideClass}`, lineNumberCell(row[side], "span"), codeCell(row, "span"), { role: "gridcell" });
  };
  return make("div.diff-row.pair", makeHalf(left, "old"), makeHalf(right, "new"), { role: "row" });
}

/** @param {number | null} count @param {"gridcell" | "span"} [role] "span" inside another cell */
function lineNumberCell(count, role = "gridcell") {
  return make("span.no", count ?? "", role === "gridcell" ? { role } : null);
}

/** @param {Row} row @param {"gridcell" | "span"} [role] */
function codeCell(row, role = "gridcell") {
  const cell = make("span.code", role === "gridcell" ? { role } : null, make("span.sign", row.sign));
  for (const [text, kind, isChanged] of row.pieces) {
    const isClass = kind !== null && CLASS.test(kind);
    if (!isClass && !isChanged) cell.append(text);
    else cell.append(make("span", text, { className: [isClass && `tok-${kind}`, isChanged && "word"].filter(Boolean).join(" ") }));
  }
  if (row.unended) cell.append(make("span.no-newline", " (no newline at end of file)"));
  return cell;
}

/** @param {Row} row @param {(row: Row) => HTMLElement[]} hunk */
function headingRow(row, hunk) {
  if (row.sign === "\\") return make("div.diff-row.note", make("span", textOf(row), { role: "gridcell" }), { role: "row" });
  return make(
    "div.diff-row.hunk",
    make("span.where", textOf(row), { role: "gridcell" }),
    make("span.choices", hunk(row), { role: "gridcell" }),
    { role: "row" },
  );
}

/**
 * The index of a row after a reload: the nearest one with the same text, else the one with the nearest line number.
 * @param {Row[]} rows
 * @param {Row} row
 */
export function findSimilarRow(rows, row) {
  if (row.sign === "@") return rows.findLastIndex((other) => other.sign === "@" && (other.hunk ?? 0) <= (row.hunk ?? 0));
  const lineNumber = row.new ?? row.old ?? 0;
  const text = textOf(row);
  let nearest = -1;
  let minCost = Infinity;
  rows.forEach((other, index) => {
    if (!isLine(other)) return;
    const distance = Math.abs((other.new ?? other.old ?? 0) - lineNumber);
    const isSame = other.sign === row.sign && distance <= 200 && textOf(other) === text;
    const cost = isSame ? distance : distance + 1000;
    if (cost < minCost) [nearest, minCost] = [index, cost];
  });
  return nearest;
}
