// @ts-check
// The list of changed files, with ticks for those that were viewed: beside the changes on a desk, a sheet on a phone.

import { showDialog } from "../dialogs.js";
import { button, make, syncKeyed } from "../dom.js";
import { statusMark } from "./diff_head.js";

/** @typedef {import("./diff_file.js").DiffFile} DiffFile */

export class FileList {
  /** @param {import("./diff.js").DiffView} view */
  constructor(view) {
    this.view = view;
    this.list = make("ul");
    this.element = make("nav.file-list", this.list, { "aria-label": "Files" });
  }

  draw() {
    const signatureOf = (/** @type {DiffFile} */ { file, isViewed }) => `${file.path} ${file.status} ${file.added} ${file.removed} ${isViewed}`;
    this.element.hidden = this.view.files.length < 2;
    syncKeyed(this.list, this.view.files, signatureOf, (file, old) => old ?? this.#row(file));
  }

  /** @param {DiffFile} file */
  #row(file) {
    const { path, added, removed } = file.file;
    const name = path.split("/").at(-1) ?? path;
    const folder = path.slice(0, path.length - name.length);
    const go = button([statusMark(file.file), make("span.name", make("span.folder", folder), make("bdi", name)), added !== null && counts(added, removed ?? 0)], () => this.#go(file), ".quiet", { title: path });
    return make("li", { "data-path": path }, viewedBox(file), go);
  }

  /** @param {DiffFile} file */
  #go(file) {
    this.#sheet?.close();
    this.view.goToFile(file);
  }

  /** @type {HTMLDialogElement | undefined} */ #sheet;

  /** Show the list in a sheet. */
  openSheet() {
    const { parentElement: home, nextSibling: next } = this.element;
    /** @type {HTMLDialogElement} */
    const sheet = make("dialog.file-sheet", make("h2", "Files"), this.element, make("div.choices", button("Close", () => sheet.close())), { "aria-label": "Files" });
    this.#sheet = sheet;
    showDialog(sheet, () => {
      this.#sheet = undefined;
      home?.insertBefore(this.element, next);
    });
  }
}

/** The tick of a file. @param {DiffFile} file */
export function viewedBox(file) {
  const box = make("input", { type: "checkbox", checked: file.isViewed, "aria-label": `Viewed ${file.path}`, title: "Viewed" });
  box.addEventListener("change", () => file.setViewed(box.checked));
  return make("label.viewed", box, { title: "Viewed" });
}

/** @param {number} added @param {number} removed */
const counts = (added, removed) => make("span.counts", added > 0 && make("ins", `+${added}`), removed > 0 && make("del", `−${removed}`));
