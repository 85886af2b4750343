// @ts-check
// Keeps the scroll position, the focus and the cursor of a text box while a file is rendered again.

import { findSimilarRow } from "./diff_rows.js";

/**
 * @param {import("./diff_file.js").DiffFile} file
 * @param {() => void} draw
 */
export function keepFocus(file, draw) {
  const content = file.view.scroller;
  const anchor = firstVisibleLine(file, content);
  const restoreFocus = captureFocus(file);
  draw();
  if (anchor) {
    const index = findSimilarRow(file.rows, anchor.row);
    const element = index >= 0 ? file.cells[index] : null;
    if (element) content.scrollTop += element.getBoundingClientRect().top - anchor.top;
  }
  restoreFocus?.();
}

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
  const comment = /** @type {HTMLElement | null} */ (active.closest("[data-comment]"))?.dataset.comment;
  if (comment && active instanceof HTMLTextAreaElement) {
    const { selectionStart, selectionEnd } = active;
    return () => {
      const textBox = file.grid.querySelector(`[data-comment="${CSS.escape(comment)}"] textarea`);
      if (!(textBox instanceof HTMLTextAreaElement)) return;
      textBox.focus({ preventScroll: true });
      textBox.setSelectionRange(selectionStart, selectionEnd);
    };
  }
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
