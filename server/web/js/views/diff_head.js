// @ts-check
// The heading of a changed file: path, status, line counts, viewed or not, and actions.

import { choose } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { copyText } from "../session/blocks.js";
import { viewedBox } from "./diff_list.js";

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

/** @param {ChangedFile} file */
export function statusMark({ status }) {
  const [symbol, text] = STATUS_MARKS[status] ?? ["M", status];
  return make("span.status", symbol, { role: "img", title: text || "modified", "aria-label": text || "modified", "data-status": status });
}

/** @param {import("./diff_file.js").DiffFile} owner */
export function fileHead(owner) {
  const symbol = make("span.fold-sign", { "aria-hidden": "true" }, icon("chevron-right"));
  const name = make("span.path");
  const fold = make("button.fold.quiet", symbol, name, { type: "button" });
  fold.addEventListener("click", () => owner.setExpanded(!owner.isOpen));
  const marks = make("span.file-marks");
  const actions = make("span.actions");
  const viewed = make("span");
  const element = make("header.file-head", make("h2", fold), marks, actions, viewed);
  let drawn = "";
  return {
    element,
    fold,
    draw() {
      const { file, isOpen, view } = owner;
      fold.ariaExpanded = String(isOpen);
      const others = view.overlaps.find(file.path);
      const signature = JSON.stringify([file, view.side, owner.isViewed, others]);
      if (drawn === signature) return;
      drawn = signature;
      name.textContent = file.path;
      element.dataset.status = file.status;
      marks.replaceChildren(...marksOf(file), ...(others.length ? [make("span.bad", `also changed in ${others.join(", ")}`)] : []));
      const entries = view.actions.actionsFor(file).map(([label, command, classes]) => /** @type {Entry} */ ([label, () => view.actions.run(command, owner), classes]));
      actions.replaceChildren(...actionButtons(entries, file.path, [["Copy the path", () => copyText(file.path), ""]]));
      viewed.replaceChildren(viewedBox(owner));
    },
  };
}

/** @typedef {[label: string, action: () => unknown, classes: string]} Entry */
/** @type {Record<string, string>} */
const ICONS = { Accept: "check", Reject: "close", Stage: "plus", Unstage: "undo", Discard: "trash", Comment: "comment", "Copy the path": "copy" };

/**
 * Actions on a file or a hunk: buttons that appear while a mouse is over them or one has the focus; a menu on touch.
 * @param {Entry[]} entries @param {string} subject what they apply to @param {Entry[]} [more] only in the menu
 */
export function actionButtons(entries, subject, more = []) {
  const all = [...entries, ...more];
  const open = async () => {
    const menu = all.map(([label, action, classes]) => /** @type {import("../dialogs.js").MenuEntry<() => unknown>} */ ([label, action, { icon: ICONS[label], danger: Boolean(classes) }]));
    await (await choose(subject, menu))?.();
  };
  return [
    ...entries.map(([label, action, classes]) => button(label, action, `.quiet.on-hover${classes}`, { "aria-label": `${label} ${subject}`, "data-action": label })),
    ...(all.length ? [button(icon("more"), open, ".quiet.icon-only.on-touch", { "aria-label": `Actions for ${subject}` })] : []),
  ];
}

/** @param {ChangedFile} file */
function marksOf(file) {
  const { added, removed, old_path: oldPath, old_mode: oldMode, mode } = file;
  const [, text] = STATUS_MARKS[file.status] ?? ["M", file.status];
  const isModeChanged = oldMode !== mode && Number(oldMode) && Number(mode);
  return [
    statusMark(file),
    text && make("span", oldPath ? `${text} from ${oldPath}` : text),
    file.submodule && make("span", "submodule"),
    added === null && !file.submodule && make("span", "binary"),
    isModeChanged && make("span", `mode ${oldMode} → ${mode}`),
    added !== null && added > 0 && make("ins", `+${added}`, { title: `${pluralize(added, "line")} added` }),
    removed !== null && removed > 0 && make("del", `−${removed}`, { title: `${pluralize(removed, "line")} removed` }),
  ].filter((part) => part instanceof Node);
}
