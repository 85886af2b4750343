// @ts-check
// An edit as a diff, drawn as in the diff view: numbers, colors of code, changed words.

import { make } from "../dom.js";

/** @param {import("../app.js").App} app @param {{ file_path?: string, old_content?: string, new_content: string }} edit */
export function editDiff(app, { file_path: path = "", old_content: old = "", new_content: now }) {
  const element = make("div.edit-diff");
  const draw = async () => {
    const [{ drawRows }, compared] = await Promise.all([
      import("../views/diff_rows.js"),
      app.read("get_edit_rows", { path, old, new: now }),
      import("../views/stylesheet.js").then(({ loadStylesheet }) => loadStylesheet("diff")),
    ]);
    if (!compared) return void element.replaceChildren(make("p.hint", "The changes could not be loaded."));
    const { groups } = drawRows(compared.rows, { split: false, hunk: () => [] });
    const digits = Math.max(3, ...compared.rows.map((/** @type {any} */ row) => String(row.new ?? row.old ?? 0).length));
    const rows = make("div.diff-rows", groups);
    rows.style.setProperty("--digits", String(digits));
    for (const part of rows.querySelectorAll("[role]")) part.removeAttribute("role"); // a group, not a grid
    rows.tabIndex = 0; // it scrolls
    rows.role = "group";
    rows.ariaLabel = "Changes of the edit";
    element.replaceChildren(rows);
  };
  draw();
  return element;
}
