// @ts-check
// An edit as a diff, drawn as in the diff view: numbers, colors of code, changed words.

import { make } from "../dom.js";

/** @param {import("../app.js").App} app @param {{ file_path?: string, old_content?: string, new_content: string }} edit */
export function editDiff(app, { file_path: path = "", old_content: old = "", new_content: now }) {
  const element = make("div.edit-diff");
  const draw = async () => {
    const [{ readingRows }, compared] = await Promise.all([import("../views/diff_reading.js"), app.read("get_edit_rows", { path, old, new: now })]);
    element.replaceChildren(compared ? readingRows(compared.rows, "Changes of the edit") : make("p.hint", "The changes could not be loaded."));
  };
  draw();
  return element;
}
