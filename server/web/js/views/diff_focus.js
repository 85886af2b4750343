// @ts-check
// Keeps the scroll position, the focus and the cursor of a text box while changes are rendered again.

import { findSimilarRow } from "./diff_rows.js";

/**
 * @param {import("./diff_file.js").DiffFile} file
 * @param {() => void} draw
 */
export function keepFocus(file, draw) {
  const content = file.view.scroller;
  const anchor = firstVisibleLine(file, content);
  const restoreFocus = captureFocus(file);
  keepWriting(file.view, () => {
    draw();
    if (!anchor) return;
    const index = findSimilarRow(file.rows, anchor.row);
    const element = index >= 0 ? file.cells[index] : null;
    if (element) content.scrollTop += element.getBoundingClientRect().top - anchor.top;
  });
  restoreFocus?.();
}

/**
 * Keep the cursor in the comment that is being written, whose box may be drawn again, or elsewhere once its lines are
 * gone: what is typed next would be taken for keys.
 * @param {import("./diff.js").DiffView} view
 * @param {() => void} draw
 */
export function keepWriting(view, draw) {
  const box = document.activeElement;
  const id = box instanceof HTMLTextAreaElement && view.element.contains(box) && commentOf(box);
  if (!id) return draw();
  const { selectionStart, selectionEnd, selectionDirection, scrollTop } = box;
  draw();
  const isKept = commentOf(document.activeElement) === id && document.activeElement?.checkVisibility();
  const next = isKept ? null : view.boxOf(id);
  if (!next) return undefined;
  next.focus({ preventScroll: true });
  next.setSelectionRange(selectionStart, selectionEnd, selectionDirection);
  next.scrollTop = scrollTop;
  next.scrollIntoView({ block: "nearest" });
  return undefined;
}

/** The id of the comment that an element is part of. @param {Element | null} element */
export const commentOf = (element) => /** @type {HTMLElement | null | undefined} */ (element?.closest("[data-comment]"))?.dataset.comment;

/**
 * The first visible line of the file if it extends beyond the upper edge; else the browser keeps the scroll position.
 * @param {import("./diff_file.js").DiffFile} file
 * @param {HTMLElement} content
 */
function firstVisibleLine(file, content) {
  const edge = content.getBoundingClientRect().top + file.view.toolbar.element.offsetHeight;
  const textBox = file.body.getBoundingClientRect();
  if (!file.drawn.length || textBox.top >= edge || textBox.bottom <= edge) return null;
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
 * A function to restore the focus in the file, or `null` if it is elsewhere.
 * @param {import("./diff_file.js").DiffFile} file
 */
function captureFocus(file) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  if (!active || !file.grid.contains(active)) return null;
  const element = /** @type {HTMLElement | null} */ (active.closest(".diff-row[data-at]"));
  const row = element && file.drawnRows[Number(element.dataset.to)];
  const action = active.dataset.action;
  if (!row) return null;
  return () => {
    const rowElement = file.elementOf(findSimilarRow(file.rows, row));
    const control = action ? rowElement?.querySelector(`[data-action="${action}"]`) : rowElement;
    /** @type {HTMLElement} */ (control ?? rowElement ?? file.head.fold).focus({ preventScroll: true });
  };
}
