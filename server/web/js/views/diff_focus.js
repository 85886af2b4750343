// @ts-check
// A file that is drawn anew under somebody's eyes: the line that they look at stays where it stands,
// and the keys and the cursor of a text box stay where they are.

import { placeNear } from "./diff_rows.js";

/**
 * @param {import("./diff_file.js").DiffFile} file
 * @param {() => void} draw
 */
export function keptFocus(file, draw) {
  const room = /** @type {HTMLElement} */ (document.getElementById("room"));
  const seen = lineInSight(file, room);
  const focused = focusIn(file);
  draw();
  if (seen) {
    const at = placeNear(file.rows, seen.row);
    const element = at >= 0 ? file.cells[at] : null;
    if (element) room.scrollTop += element.getBoundingClientRect().top - seen.top;
  }
  focused?.();
}

/**
 * The first line of the file in sight, if the file reaches over the upper edge; else the browser keeps the place.
 * @param {import("./diff_file.js").DiffFile} file
 * @param {HTMLElement} room
 */
function lineInSight(file, room) {
  const edge = room.getBoundingClientRect().top;
  const box = file.body.getBoundingClientRect();
  if (!file.drawn.length || box.top >= edge || box.bottom <= edge) return null;
  let [low, high] = [0, file.drawn.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (file.drawn[middle].getBoundingClientRect().bottom > edge) high = middle;
    else low = middle + 1;
  }
  const element = file.drawn[low];
  const row = file.drawnRows[Number(element.dataset.to)];
  return row ? { row, top: element.getBoundingClientRect().top } : null;
}

/**
 * How to put the keys back where they are in the file; null: they are elsewhere.
 * @param {import("./diff_file.js").DiffFile} file
 */
function focusIn(file) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  if (!active || !file.grid.contains(active)) return null;
  const comment = /** @type {HTMLElement | null} */ (active.closest("[data-comment]"))?.dataset.comment;
  if (comment && active instanceof HTMLTextAreaElement) {
    const { selectionStart, selectionEnd } = active;
    return () => {
      const box = file.grid.querySelector(`[data-comment="${CSS.escape(comment)}"] textarea`);
      if (!(box instanceof HTMLTextAreaElement)) return;
      box.focus({ preventScroll: true });
      box.setSelectionRange(selectionStart, selectionEnd);
    };
  }
  const element = /** @type {HTMLElement | null} */ (active.closest(".diff-row[data-at]"));
  const row = element && file.drawnRows[Number(element.dataset.to)];
  const does = active.dataset.does;
  if (!row) return null;
  return () => {
    const found = file.elementOf(placeNear(file.rows, row));
    const inside = does ? found?.querySelector(`[data-does="${does}"]`) : found;
    /** @type {HTMLElement} */ (inside ?? found ?? file.head.fold).focus({ preventScroll: true });
  };
}
