// @ts-check
// The heading of a changed file: path, status, line counts and actions.

import { button, make } from "../dom.js";
import { pluralize } from "../format.js";

/**
 * @typedef {object} ChangedFile an item of `list_changed_files`
 * @property {string} path
 * @property {string | null} old_path
 * @property {keyof typeof STATUS_MARKS} status
 * @property {number | null} added
 * @property {number | null} removed
 * @property {string} old_mode
 * @property {string} mode
 * @property {boolean} submodule
 */

const STATUS_MARKS = {
  added: ["A", "new"],
  untracked: ["?", "untracked"],
  modified: ["M", ""],
  retyped: ["T", "type changed"],
  deleted: ["D", "deleted"],
  renamed: ["R", "renamed"],
  copied: ["C", "copied"],
  conflicted: ["!", "conflict"],
};

/** @param {import("./diff_file.js").DiffFile} owner */
export function fileHead(owner) {
  const symbol = make("span.fold-sign", { "aria-hidden": "true" });
  const name = make("span.path");
  const fold = make("button.fold.quiet", symbol, name, { type: "button" });
  fold.onclick = () => owner.setExpanded(!owner.isOpen);
  const marks = make("span.file-marks");
  const actions = make("span.choices");
  const element = make("header.file-head", make("h2", fold), marks, actions);
  let drawn = "";
  return {
    element,
    fold,
    draw() {
      const { file, isOpen, view } = owner;
      symbol.textContent = isOpen ? "▾" : "▸";
      fold.ariaExpanded = String(isOpen);
      const signature = JSON.stringify([file, view.side]);
      if (drawn === signature) return;
      drawn = signature;
      name.textContent = file.path;
      element.dataset.status = file.status;
      marks.replaceChildren(...marksOf(file));
      actions.replaceChildren(
        ...view.actions.actionsFor(file).map(([label, command, classes]) =>
          button(label, () => view.actions.run(command, owner), classes, { "aria-label": `${label} ${file.path}` }),
        ),
      );
    },
  };
}

/** @param {ChangedFile} file */
function marksOf(file) {
  const { added, removed, old_path: oldPath, old_mode: oldMode, mode } = file;
  const [symbol, text] = STATUS_MARKS[file.status] ?? ["M", file.status];
  const isModeChanged = oldMode !== mode && Number(oldMode) && Number(mode);
  return [
    make("span.status", symbol, { role: "img", title: text || "modified", "aria-label": text || "modified" }),
    text && make("span", oldPath ? `${text} from ${oldPath}` : text),
    file.submodule && make("span", "submodule"),
    added === null && !file.submodule && make("span", "binary"),
    isModeChanged && make("span", `mode ${oldMode} → ${mode}`),
    added !== null && added > 0 && make("ins", `+${added}`, { title: `${pluralize(added, "line")} added` }),
    removed !== null && removed > 0 && make("del", `−${removed}`, { title: `${pluralize(removed, "line")} removed` }),
  ].filter((part) => part instanceof Node);
}
