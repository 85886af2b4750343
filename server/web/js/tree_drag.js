// @ts-check
// Moving projects and folders in the tree by drag and drop; menus of their views do the same.

/**
 * @typedef {import("./app.js").App} App
 * @typedef {"before" | "after" | "into"} Place
 */

const MOVABLE = '.row:is([data-kind="project"], [data-kind="folder"])';

/** @param {App} app @param {HTMLElement} list of rows, whose keys are ids */
export function enableDrag(app, list) {
  let dragged = "";
  /** @type {HTMLElement | null} */ let target = null;
  /** @param {HTMLElement | null} row @param {Place} [place] */
  const mark = (row, place) => {
    if (target && target !== row) delete target.dataset.drop;
    target = row;
    if (row) row.dataset.drop = place;
  };
  list.addEventListener("dragstart", (event) => {
    dragged = rowAt(event)?.dataset.key ?? "";
    if (!dragged) event.preventDefault(); // only projects and folders can be moved
    else event.dataTransfer?.setData("text/plain", app.state.projects.get(dragged)?.name ?? "");
  });
  list.addEventListener("dragover", (event) => {
    const row = rowAt(event);
    const id = row?.dataset.key ?? "";
    if (!dragged || !row || isWithin(app, id, dragged)) return mark(null);
    event.preventDefault();
    return mark(row, placeAt(event, row));
  });
  list.addEventListener("dragleave", (event) => !list.contains(/** @type {Node | null} */ (event.relatedTarget)) && mark(null));
  list.addEventListener("dragend", () => {
    dragged = "";
    mark(null);
  });
  list.addEventListener("drop", (event) => {
    if (!dragged || !target) return;
    event.preventDefault();
    move(app, dragged, target.dataset.key ?? "", /** @type {Place} */ (target.dataset.drop));
    mark(null);
  });
}

/** @param {Event} event @returns {HTMLElement | null} */
const rowAt = (event) => (event.target instanceof Element ? event.target.closest(MOVABLE) : null);

/** Whether an item is another one, or is in it. @param {App} app @param {string} id @param {string} other */
function isWithin(app, id, other) {
  for (let each = app.state.projects.get(id); each; each = app.state.projects.get(each.parent_id ?? "")) if (each.id === other) return true;
  return false;
}

/** @param {DragEvent} event @param {HTMLElement} row @returns {Place} */
function placeAt(event, row) {
  const { top, height } = row.getBoundingClientRect();
  const share = (event.clientY - top) / height;
  if (row.dataset.kind === "folder" && share > 0.3 && share < 0.7) return "into";
  return share < 0.5 ? "before" : "after";
}

/** @param {App} app @param {string} itemId @param {string} targetId @param {Place} place */
function move(app, itemId, targetId, place) {
  if (place === "into") return app.run("move_item", { itemId, newParentId: targetId });
  const parentId = app.state.projects.get(targetId)?.parent_id ?? null;
  const others = app.state.itemsIn(parentId).filter(({ id }) => id !== itemId);
  const targetIndex = others.findIndex(({ id }) => id === targetId) + (place === "after" ? 1 : 0);
  return app.run("move_item", { itemId, newParentId: parentId, targetIndex });
}
