// @ts-check
// The head of a changed file: its name, what happened to it, how much, and what can be done with it.

import { button, make } from "../dom.js";
import { counted } from "../words.js";

/**
 * @typedef {object} ChangedFile as `list_changed_files` gives it
 * @property {string} path
 * @property {string | null} old_path
 * @property {keyof typeof SIGNS} status
 * @property {number | null} added
 * @property {number | null} removed
 * @property {string} old_mode
 * @property {string} mode
 * @property {boolean} submodule
 */

const SIGNS = {
  added: ["A", "new"],
  untracked: ["?", "new, not in git yet"],
  modified: ["M", ""],
  retyped: ["T", "another kind of file"],
  deleted: ["D", "deleted"],
  renamed: ["R", "renamed"],
  copied: ["C", "copied"],
  conflicted: ["!", "conflict"],
};

/** @param {import("./diff_file.js").DiffFile} owner */
export function fileHead(owner) {
  const sign = make("span.fold-sign", { "aria-hidden": "true" });
  const name = make("span.path");
  const fold = make("button.fold.quiet", sign, name, { type: "button" });
  fold.onclick = () => owner.choose(!owner.isOpen);
  const marks = make("span.file-marks");
  const actions = make("span.choices");
  const element = make("header.file-head", make("h2", fold), marks, actions);
  let shown = "";
  return {
    element,
    fold,
    draw() {
      const { file, isOpen, view } = owner;
      sign.textContent = isOpen ? "▾" : "▸";
      fold.ariaExpanded = String(isOpen);
      const wanted = JSON.stringify([file, view.side]);
      if (shown === wanted) return;
      shown = wanted;
      name.textContent = file.path;
      element.dataset.status = file.status;
      marks.replaceChildren(...marksOf(file));
      actions.replaceChildren(
        ...view.actions.of(file).map(([what, command, look]) =>
          button(what, () => view.actions.act(command, owner), look, { "aria-label": `${what} ${file.path}` }),
        ),
      );
    },
  };
}

/** @param {ChangedFile} file */
function marksOf(file) {
  const { added, removed, old_path: before, old_mode: oldMode, mode } = file;
  const [sign, words] = SIGNS[file.status] ?? ["M", file.status];
  const isMode = oldMode !== mode && Number(oldMode) && Number(mode);
  return [
    make("span.status", sign, { role: "img", title: words || "modified", "aria-label": words || "modified" }),
    words && make("span", before ? `${words} from ${before}` : words),
    file.submodule && make("span", "submodule"),
    added === null && !file.submodule && make("span", "binary"),
    isMode && make("span", `mode ${oldMode} → ${mode}`),
    added !== null && added > 0 && make("ins", `+${added}`, { title: `${counted(added, "line")} added` }),
    removed !== null && removed > 0 && make("del", `−${removed}`, { title: `${counted(removed, "line")} removed` }),
  ].filter((part) => part instanceof Node);
}
